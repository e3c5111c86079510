package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/vec"
)

// Embedder makes the vectors of documents.
type Embedder interface {
	Model() string // vectors of different models are never compared
	Dim() int      // 0 while it is not known
	// Embed returns a vector for each document, nil for one that has none.
	Embed(ctx context.Context, docs []Document) ([][]float32, error)
}

const (
	embedBatch  = 1024 // documents that are embedded and written at a time
	vectorsLock = "vectors.lock"

	// An endpoint that fails is asked again for the documents after a while, so that not every search waits for it.
	failedSuffix = ".failed"
	restAfter    = time.Minute
)

// key is the name of a document's vector: the content decides, so that a moved folder keeps its vector.
func (d Doc) key() uint64 { return binary.LittleEndian.Uint64(d.Sum[:]) }

// matrixPath returns where the vectors of a model lie, and the file that tells which generation of the index they
// cover.
func (x *Index) matrixPath(model string) (matrix, covers string) {
	name := "vectors-" + DirName(model)
	return filepath.Join(x.dir, name+".osv"), filepath.Join(x.dir, name+".covers")
}

// openVectors opens the matrix of the embedder's model after embedding what it lacks. Without vectors the index can
// still be searched by words, so everything that goes wrong here is a warning.
func (x *Index) openVectors(ctx context.Context) error {
	e := x.options.Embedder
	if e == nil || x.Len() == 0 {
		return nil
	}
	err := x.tryVectors(ctx, e)
	if errors.Is(err, vec.ErrDamaged) || errors.Is(err, vec.ErrWidth) {
		path, covers := x.matrixPath(e.Model())
		if err = errors.Join(os.Remove(path), os.RemoveAll(covers)); err == nil {
			err = x.tryVectors(ctx, e)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		x.warnings = append(x.warnings, fmt.Sprintf("searched %q without vectors: %v", x.root.Dir, err))
	}
	return nil
}

func (x *Index) tryVectors(ctx context.Context, e Embedder) (err error) {
	if err = x.cover(ctx, e); err == nil && x.matrix == nil {
		path, _ := x.matrixPath(e.Model())
		x.matrix, err = vec.Open(path, e.Model())
	}
	if err == nil && e.Dim() != 0 && x.matrix.Dim() != e.Dim() { // the model behind the name is another one by now
		err = errors.Join(fmt.Errorf("%w: %d numbers, not %d", vec.ErrWidth, x.matrix.Dim(), e.Dim()), x.matrix.Close())
		x.matrix = nil
	}
	return err
}

// cover embeds the documents that have no vector yet: only those of the last change when the matrix covers the
// generation before it.
func (x *Index) cover(ctx context.Context, e Embedder) error {
	path, covers := x.matrixPath(e.Model())
	if x.unsaved != nil {
		return x.coverInMemory(ctx, e)
	}
	done := readNumber(covers)
	if _, err := os.Stat(path); err == nil && (done == x.Generation() || x.options.NoRefresh) {
		return nil
	}
	lock, err := atomicfile.LockWait(ctx, filepath.Join(x.dir, vectorsLock), x.options.Wait)
	if errors.Is(err, atomicfile.ErrLocked) {
		return fmt.Errorf("another process is embedding: %w", err)
	}
	if err != nil {
		return x.coverInMemory(ctx, e)
	}
	defer lock.Unlock()
	if fi, err := os.Stat(path + failedSuffix); err == nil && time.Since(fi.ModTime()) < restAfter {
		reason, _ := os.ReadFile(path + failedSuffix)
		return fmt.Errorf("embedding failed less than a minute ago: %s", reason)
	}
	other := x.otherModel(path)
	changed, dead := x.added, x.dropped
	if done = readNumber(covers); done == 0 || done != x.before {
		if changed, dead, err = x.difference(path, e); err != nil {
			return err
		}
	}
	switch err := x.embed(ctx, path, e, changed); {
	case err != nil && (ctx.Err() != nil || errors.Is(err, vec.ErrWidth)): // the endpoint is not to blame, or is asked anew at once
		return err
	case err != nil:
		return errors.Join(err, atomicfile.Write(path+failedSuffix, []byte(err.Error()), 0o600, atomicfile.NoSync()))
	}
	if err := x.bury(path, e, dead); err != nil {
		return err
	}
	if other {
		x.warnings = append(x.warnings, fmt.Sprintf("another embedding model than before: the skills of %q now have vectors of %s too", x.root.Dir, e.Model()))
	}
	return atomicfile.Write(covers, []byte(strconv.Itoa(x.Generation())+"\n"), 0o600, atomicfile.NoSync())
}

// uncover forgets which generations the matrices cover, because generations are about to be counted anew.
func (x *Index) uncover() {
	for _, f := range x.vectorFiles(".covers") {
		os.Remove(f) // at worst the file stays where nothing can be written either
	}
}

// otherModel reports whether there is no matrix at path yet, but one of another model.
func (x *Index) otherModel(path string) bool {
	if _, err := os.Stat(path); err == nil {
		return false
	}
	return len(x.vectorFiles(".osv")) > 0
}

// vectorFiles returns the files of all models that end in suffix.
func (x *Index) vectorFiles(suffix string) (files []string) {
	entries, _ := os.ReadDir(x.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "vectors-") && strings.HasSuffix(e.Name(), suffix) {
			files = append(files, filepath.Join(x.dir, e.Name()))
		}
	}
	return files
}

func readNumber(path string) int {
	data, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// difference compares the matrix at path with the index: the folders that it has no vector of, and the keys that no
// document has any more. A matrix of another model or of no use is removed.
func (x *Index) difference(path string, e Embedder) (missing []roots.Folder, dead []uint64, err error) {
	docs, err := x.docs()
	if err != nil {
		return nil, nil, err
	}
	m, err := vec.Open(path, e.Model())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(path)
		} else {
			err = nil
		}
		return x.folders(docs, nil), nil, err
	}
	defer m.Close()
	keys := make([]uint64, len(docs))
	for i, d := range docs {
		keys[i] = d.key()
	}
	for i := range m.Len() {
		if !m.Deleted(i) {
			dead = append(dead, m.Key(i))
		}
	}
	return x.folders(docs, m.Find(keys)), dead, nil
}

// docs returns all living documents.
func (x *Index) docs() (docs []Doc, err error) {
	defer guard(&err)()
	for j, seg := range x.segments {
		for i := range seg.n {
			if bit(x.deleted[j], i) {
				continue
			}
			d, err := seg.doc(i)
			if err != nil {
				return nil, err
			}
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// folders returns the folders of the documents whose row is below zero; of all when there are no rows.
func (x *Index) folders(docs []Doc, rows []int32) (out []roots.Folder) {
	for i, d := range docs {
		if rows == nil || rows[i] < 0 {
			out = append(out, roots.Folder{Rel: d.Rel, Dir: x.path(d.Rel), File: d.File, Stamp: d.Stamp})
		}
	}
	return out
}

// bury deletes the vectors of keys that no document has, and writes the matrix anew when much of it is deleted.
func (x *Index) bury(path string, e Embedder, keys []uint64) error {
	m, err := vec.Open(path, e.Model())
	if err != nil {
		return err
	}
	b := vec.NewBatch(m.Dim()) // the embedder does not know its width before its first answer
	if err := m.Close(); err != nil {
		return err
	}
	n := 0
	for _, k := range keys {
		if len(x.withKey(k)) == 0 {
			b.Delete(k)
			n++
		}
	}
	if n > 0 {
		if err := vec.Append(path, e.Model(), b); err != nil {
			return err
		}
	}
	if m, err = vec.Open(path, e.Model()); err != nil {
		return err
	}
	defer m.Close()
	if !m.Wasteful() {
		return nil
	}
	return atomicfile.WriteWith(path, 0o600, m.Compact)
}

// embed reads, embeds and writes those of the given folders that have no vector yet, a batch at a time: what was
// done stays when a later batch fails.
func (x *Index) embed(ctx context.Context, path string, e Embedder, folders []roots.Folder) error {
	for first := true; first || len(folders) > 0; first = false {
		n := min(embedBatch, len(folders))
		docs, err := lacking(path, e.Model(), readAll(folders[:n]))
		if err != nil {
			return err
		}
		b, err := batch(ctx, nil, e, docs)
		if err != nil {
			return err
		}
		if err := appendMatrix(path, e.Model(), b); err != nil {
			return err
		}
		folders = folders[n:]
	}
	return nil
}

// lacking returns the documents that the matrix at path has no vector of, each content once.
func lacking(path, model string, docs []Document) (out []Document, err error) {
	m, err := vec.Open(path, model)
	if err == nil {
		defer m.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	keys := make([]uint64, len(docs))
	for i, d := range docs {
		keys[i] = d.key()
	}
	var rows []int32
	if m != nil {
		rows = m.Find(keys) // all at once: it reads the keys of the whole matrix
	}
	seen := map[uint64]bool{}
	for i, d := range docs {
		if !seen[keys[i]] && (m == nil || rows[i] < 0) {
			out = append(out, d)
		}
		seen[keys[i]] = true
	}
	return out, nil
}

// readAll reads the documents of folders; what cannot be used has none.
func readAll(folders []roots.Folder) (docs []Document) {
	for _, f := range folders {
		if d, _, _ := readDocument(f, nil); d != nil {
			docs = append(docs, *d)
		}
	}
	return docs
}

// batch embeds documents into b, or into a new batch. A document without a vector, and one of which the model makes
// nonsense, is left out.
func batch(ctx context.Context, b *vec.Batch, e Embedder, docs []Document) (*vec.Batch, error) {
	var vectors [][]float32
	if len(docs) > 0 {
		var err error
		if vectors, err = e.Embed(ctx, docs); err != nil {
			return nil, err
		}
	}
	if b == nil {
		b = vec.NewBatch(widthOf(vectors, max(e.Dim(), 1)))
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		if err := b.Add(docs[i].key(), v); err != nil && !errors.Is(err, vec.ErrValue) {
			return nil, err
		}
	}
	return b, nil
}

// widthOf returns the width of the first vector, which may come from a memory of the embedder that knows none itself.
func widthOf(vectors [][]float32, otherwise int) int {
	for _, v := range vectors {
		if v != nil {
			return len(v)
		}
	}
	return otherwise
}

// appendMatrix adds b to the matrix at path, or makes one of it.
func appendMatrix(path, model string, b *vec.Batch) error {
	if _, err := os.Stat(path); err == nil && b.Len() == 0 {
		return nil
	}
	err := vec.Append(path, model, b)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.WriteWith(path, 0o600, func(w io.Writer) error { return vec.Write(w, model, b) })
	}
	return err
}

// coverInMemory embeds all documents for this process alone.
func (x *Index) coverInMemory(ctx context.Context, e Embedder) error {
	docs, err := x.docs()
	if err != nil {
		return err
	}
	var b *vec.Batch
	for folders := x.folders(docs, nil); len(folders) > 0; {
		n := min(embedBatch, len(folders))
		if b, err = batch(ctx, b, e, readAll(folders[:n])); err != nil {
			return err
		}
		folders = folders[n:]
	}
	x.matrix, err = vec.New(e.Model(), b)
	return err
}

// Near returns the documents whose vectors are nearest to q, of the model that the set was opened with: at most k of
// each index, nearest first within it, with their cosines.
func (s Set) Near(q []float32, k int) (out []Match, err error) {
	defer guard(&err)()
	for i, x := range s {
		if x.matrix == nil {
			continue
		}
		hits, err := x.matrix.TopRough(q, k)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			for _, r := range x.withKey(x.matrix.Key(h.Row)) {
				r.Index = i
				out = append(out, Match{r, float64(h.Score)})
			}
		}
	}
	return out, nil
}

// Cosines returns the cosines of q with the vectors of documents, and for each whether it has one.
func (s Set) Cosines(q []float32, refs []Ref, docs []Doc) (cosines []float64, ok []bool, err error) {
	defer guard(&err)()
	cosines, ok = make([]float64, len(refs)), make([]bool, len(refs))
	for i, x := range s {
		if x.matrix == nil {
			continue
		}
		var at []int
		var keys []uint64
		for n, r := range refs {
			if r.Index == i {
				at, keys = append(at, n), append(keys, docs[n].key())
			}
		}
		rows := x.matrix.Find(keys)
		scores, err := x.matrix.Scores(q, rows)
		if err != nil {
			return nil, nil, err
		}
		for n, where := range at {
			cosines[where], ok[where] = float64(scores[n]), rows[n] >= 0
		}
	}
	return cosines, ok, nil
}

// Fits reports whether all vectors of the set have dim numbers.
func (s Set) Fits(dim int) bool {
	for _, x := range s {
		if x.matrix != nil && x.matrix.Dim() != dim {
			return false
		}
	}
	return true
}

// Embedded reports whether at least one index of the set has vectors.
func (s Set) Embedded() bool {
	for _, x := range s {
		if x.matrix != nil {
			return true
		}
	}
	return false
}

// withKey returns the living documents with the given content.
func (x *Index) withKey(key uint64) (out []Ref) {
	for j, seg := range x.segments {
		for _, doc := range seg.withKey(key) {
			if !bit(x.deleted[j], doc) {
				out = append(out, Ref{Segment: j, Doc: doc})
			}
		}
	}
	return out
}
