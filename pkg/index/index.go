package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/vec"
)

// State says how far the answer of an index can be trusted to be today's.
type State string

// The states, from best to worst.
const (
	Checked   State = "checked"   // compared with the disk when it was opened
	Unchecked State = "unchecked" // the caller asked for no comparison
	Stale     State = "stale"     // changes were noticed but could not be taken in
)

// Options say how an index is opened.
type Options struct {
	Dir       string        // directory of all indexes
	NoRefresh bool          // take the index as it stands when there is one
	Wait      time.Duration // how long to wait for another process that is writing; 0 is 10 s
	Embedder  Embedder      // makes the vectors; nil: search by words alone
}

// Index is the opened index of one root. It is safe for concurrent use after Open.
type Index struct {
	root     roots.Root
	dir      string // of this index
	options  Options
	manifest *manifest
	segments []*segment
	deleted  [][]uint64 // by segment
	dirs     []roots.Dir
	problems []skill.Diagnostic
	state    State
	warnings []string
	unsaved  error // why the index is in memory only
	took     time.Duration
	before   int            // the generation before the last change of this process
	added    []roots.Folder // by that change
	dropped  []uint64       // keys of the documents that it dropped
	matrix   *vec.Matrix    // nil without vectors
}

// DirName returns the name of the directory that holds the index of a root whose real path is given.
func DirName(realRoot string) string {
	sum := sha256.Sum256([]byte(realRoot))
	return fmt.Sprintf("v%d-%s", formatVersion, hex.EncodeToString(sum[:8]))
}

// Open opens the index of root, builds it when there is none or it is of no use, and brings it up to date
// unless o.NoRefresh.
func Open(ctx context.Context, root roots.Root, o Options) (*Index, error) {
	x := newIndex(root, o)
	err := x.load()
	if errors.Is(err, ErrVersion) {
		return nil, err
	}
	if x.manifest != nil && o.NoRefresh {
		x.state, err = Unchecked, nil
	} else if err = x.refresh(ctx); errors.Is(err, ErrDamaged) {
		err = x.rebuild(ctx)
	}
	return x.finish(ctx, err)
}

// Rebuild builds the index of root from nothing, whatever there is.
func Rebuild(ctx context.Context, root roots.Root, o Options) (*Index, error) {
	x := newIndex(root, o)
	return x.finish(ctx, x.rebuild(ctx))
}

func newIndex(root roots.Root, o Options) *Index {
	if o.Wait == 0 {
		o.Wait = 10 * time.Second
	}
	return &Index{root: root, dir: filepath.Join(o.Dir, DirName(realPath(root.Dir))), options: o, state: Checked}
}

// finish opens the vectors of an index that was opened without an error.
func (x *Index) finish(ctx context.Context, err error) (*Index, error) {
	if err == nil {
		err = x.openVectors(ctx)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// realPath resolves the links of dir; a directory that is not there keeps its name.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// load opens the files that MANIFEST names. Afterwards manifest is nil when there is no index that can be
// used; the error says why, nil for none.
func (x *Index) load() error {
	for try := 0; ; try++ {
		err := x.loadOnce()
		if err == nil {
			return nil
		}
		x.Close()
		if !errors.Is(err, fs.ErrNotExist) || try == 5 { // else: merged away since the manifest was read
			return err
		}
	}
}

func (x *Index) loadOnce() error {
	m, err := readManifest(x.dir)
	if err != nil || m == nil {
		return err
	}
	for i, st := range m.Segments {
		c, err := openContainer(filepath.Join(x.dir, filepath.Base(st.File)))
		if err != nil {
			return err
		}
		s, err := newSegment(c)
		if err != nil {
			c.close()
			return err
		}
		x.segments = append(x.segments, s)
		if s.n != m.Segments[i].Docs {
			return fmt.Errorf("open index segment %q: %w: %d documents instead of %d", st.File, ErrDamaged, s.n, st.Docs)
		}
	}
	data, err := os.ReadFile(filepath.Join(x.dir, filepath.Base(m.Dirs)))
	if err != nil {
		return err
	}
	if x.dirs, x.problems, err = decodeDirs(data); err != nil {
		return err
	}
	x.manifest, x.deleted = m, m.deleted
	return nil
}

// Close releases the files. The index must not be used afterwards.
func (x *Index) Close() error {
	var err error
	for _, s := range x.segments {
		err = errors.Join(err, s.close())
	}
	if x.matrix != nil {
		err = errors.Join(err, x.matrix.Close())
		x.matrix = nil
	}
	x.manifest, x.segments, x.deleted, x.dirs, x.problems = nil, nil, nil, nil, nil
	return err
}

// Root returns the root that the index covers.
func (x *Index) Root() roots.Root { return x.root }

// State says whether the index was compared with the disk.
func (x *Index) State() State { return x.state }

// Took returns how long it took to take changes in, beyond noticing them; 0 when there were none.
func (x *Index) Took() time.Duration { return x.took }

// Warnings are sentences for the user about how the index was opened.
func (x *Index) Warnings() []string { return x.warnings }

// Unsaved returns why the index, or its last change, is in memory only: its directory could not be written. It is
// nil when the directory holds it.
func (x *Index) Unsaved() error { return x.unsaved }

// Problems are the folders that the walk met and passed over, with the reason.
func (x *Index) Problems() []skill.Diagnostic { return x.problems }

// Generation grows with every change of the index.
func (x *Index) Generation() int { return x.manifest.Generation }

// Len returns the number of skills in the index.
func (x *Index) Len() int {
	n := 0
	for _, s := range x.manifest.Segments {
		n += s.Live
	}
	return n
}

// Doc returns the document at r.
func (s Set) Doc(r Ref) (d Doc, err error) {
	defer guard(&err)()
	return s[r.Index].segments[r.Segment].doc(r.Doc)
}

// Dir returns the folder of a document of s.
func (s Set) Dir(r Ref, d Doc) string {
	return filepath.Join(s[r.Index].root.Dir, filepath.FromSlash(d.Rel))
}

// Named returns the documents whose name key is key, in the order of indexes, segments and documents.
func (s Set) Named(key string) ([]Ref, error) {
	return s.names(key, 1<<30, func(k []byte) bool { return string(k) == key })
}

// Prefixed returns at most limit documents of each segment whose name key begins with prefix, in the order of keys.
func (s Set) Prefixed(prefix string, limit int) ([]Ref, error) {
	return s.names(prefix, limit, func(k []byte) bool { return bytes.HasPrefix(k, []byte(prefix)) })
}

// names walks the name keys of each segment from key on while the filter holds.
func (s Set) names(key string, limit int, filter func([]byte) bool) (out []Ref, err error) {
	defer guard(&err)()
	for i, x := range s {
		for j, seg := range x.segments {
			n := 0
			for p := seg.namesFrom(key); p < seg.n && n < limit; p++ {
				doc, k := seg.nameAt(p)
				if doc < 0 || !filter(k) {
					break
				}
				if !bit(x.deleted[j], doc) {
					out = append(out, Ref{i, j, doc})
					n++
				}
			}
		}
	}
	return out, nil
}
