package registry

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// artifact is what a server knows of an archive.
type artifact struct {
	hash        string // of the archive
	size        int64  // of the archive
	files       int
	fingerprint string
	skill       *skill.Skill // nil for a SKILL.md that cannot be read; without a folder's name
	report      safety.Report
}

// pack makes the archive of files and learns all about it.
func pack(files []api.File, p safety.Policy) (*artifact, []byte, error) {
	var archive bytes.Buffer
	if err := api.WriteArchive(&archive, files); err != nil {
		return nil, nil, err
	}
	a := inspect(files, p)
	a.size = int64(archive.Len())
	return a, archive.Bytes(), nil
}

// inspect learns what the files of an archive tell.
func inspect(files []api.File, p safety.Policy) *artifact {
	a := &artifact{files: len(files), fingerprint: api.Fingerprint(files)}
	var texts []safety.Text
	for _, f := range files {
		if f.Path == skill.FileName {
			a.skill, _ = skill.Parse(f.Data, "")
		}
		if api.IsText(f.Data) {
			texts = append(texts, safety.Text{Path: f.Path, Data: f.Data})
		}
	}
	a.report = safety.Scan(texts, p)
	return a
}

// unpack reads the files of an archive that the server made itself.
func unpack(data []byte) ([]api.File, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("read archive: %w: %w", ErrDamaged, err)
	}
	var files []api.File
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("read archive: %w: %w", ErrDamaged, err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("read archive entry %q: %w: %w", f.Name, ErrDamaged, err)
		}
		files = append(files, api.File{Path: f.Name, Exec: f.Mode()&0o111 != 0, Data: content})
	}
	return files, nil
}

// readBlob reads a whole blob.
func readBlob(ctx context.Context, s Storage, hash string) ([]byte, error) {
	b, err := s.OpenBlob(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	data := make([]byte, b.Size())
	if _, err := io.ReadFull(b, data); err != nil {
		return nil, fmt.Errorf("read blob %s: %w: %w", hash, ErrDamaged, err)
	}
	return data, nil
}

// artifact returns what is known of an archive, from memory or by reading it.
func (s *Server) artifact(ctx context.Context, hash string) (*artifact, error) {
	if a := s.artifacts.get(hash); a != nil {
		return a, nil
	}
	data, err := readBlob(ctx, s.storage, hash)
	if err != nil {
		return nil, err
	}
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	a := inspect(files, s.o.Policy)
	a.hash, a.size = hash, int64(len(data))
	s.artifacts.put(a)
	return a, nil
}

// artifacts remembers the latest artifacts: most are published a moment after they were staged.
type artifacts struct {
	mu     sync.Mutex
	byHash map[string]*artifact
	queue  []string // the oldest first
	bytes  int
}

const artifactMemory = 8 << 20

// weight is about how much memory an artifact takes.
func (a *artifact) weight() int {
	if a.skill == nil {
		return 4 << 10
	}
	return 4<<10 + 2*len(a.skill.Body)
}

func (m *artifacts) get(hash string) *artifact {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byHash[hash]
}

func (m *artifacts) put(a *artifact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byHash == nil {
		m.byHash = map[string]*artifact{}
	}
	if m.byHash[a.hash] != nil || a.weight() > artifactMemory/4 {
		return
	}
	m.byHash[a.hash], m.queue = a, append(m.queue, a.hash)
	m.bytes += a.weight()
	for m.bytes > artifactMemory {
		m.bytes -= m.byHash[m.queue[0]].weight()
		delete(m.byHash, m.queue[0])
		m.queue = m.queue[1:]
	}
}

// document returns what is indexed of a record.
func (r *record) document(id string, a *artifact) index.Document {
	d := index.Document{Doc: index.Doc{Rel: id, File: skill.FileName, Name: r.Name, Description: r.Description, Tags: r.Tags, Sum: sumOf(r)}}
	if sk := a.skill; sk != nil {
		d.Body = sk.Body
		d.Tags = append(sk.Tags[:len(sk.Tags):len(sk.Tags)], r.Tags...)
	}
	return d
}

// sumOf tells records apart that are indexed differently.
func sumOf(r *record) (out [8]byte) {
	h := sha256.New()
	for _, text := range append([]string{r.Fingerprint, r.Name, r.Description}, r.Tags...) {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	copy(out[:], h.Sum(nil))
	return out
}
