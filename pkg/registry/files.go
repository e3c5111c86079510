package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/journal"
)

const (
	formatName    = "openspace-registry"
	formatVersion = 1 // what this build writes
	minReader     = 1 // the lowest version that can read it
	lineVersion   = 1
	lockWait      = 10 * time.Second
	recentSize    = 1024
)

// VersionError reports data that only a newer program can read or write.
type VersionError struct {
	Dir         string
	Needs, Have int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("registry %q needs format version %d, this program knows version %d", e.Dir, e.Needs, e.Have)
}

// Files is a Storage in one directory, as docs/format-registry.md describes it.
type Files struct {
	dir      string
	j        *journal.Journal
	readOnly *VersionError // why nothing may be written

	making sync.Mutex
	made   bool      // the directories are there
	shards [256]bool // those below blobs/ are there, and on the disk

	mu     sync.Mutex
	pos    journal.Position
	seq    uint64
	docs   map[string]slot // by docKey
	recent []change        // the latest states, oldest first
	bad    int             // damaged lines

	puts    chan *put
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

// slot is where the current state of a document stands.
type slot struct {
	seq uint64
	at  journal.Place
}

type change struct {
	seq uint64
	at  journal.Place
}

func docKey(kind Kind, id string) string { return string(kind) + "\x00" + id }

// OpenFiles opens the registry in a directory. A missing one reads as empty; it is made by the first write.
func OpenFiles(dir string) (*Files, error) {
	s := &Files{dir: filepath.Clean(dir), j: journal.New(filepath.Join(dir, "journal")), docs: map[string]slot{},
		puts: make(chan *put, 256), stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := s.checkFormat(); err != nil {
		return nil, err
	}
	if err := s.refresh(); err != nil {
		return nil, errors.Join(err, s.j.Close())
	}
	go s.commit()
	return s, nil
}

// checkFormat reads FORMAT.
func (s *Files) checkFormat() error {
	data, err := os.ReadFile(filepath.Join(s.dir, "FORMAT"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open registry: %w", err)
	}
	var name string
	var version, reader int
	if _, err := fmt.Sscanf(string(data), "%s %d %d", &name, &version, &reader); err != nil || name != formatName {
		return fmt.Errorf("open registry %q: %w: FORMAT is not of a registry", s.dir, ErrDamaged)
	}
	if reader > formatVersion {
		return &VersionError{s.dir, reader, formatVersion}
	}
	if version > formatVersion {
		s.readOnly = &VersionError{s.dir, version, formatVersion}
	}
	return nil
}

// prepare makes the directories before the first write of this program.
func (s *Files) prepare() error {
	s.making.Lock()
	defer s.making.Unlock()
	switch {
	case s.readOnly != nil:
		return s.readOnly
	case s.made:
		return nil
	}
	if err := s.make(); err != nil {
		return fmt.Errorf("make registry: %w", err)
	}
	s.made = true
	return nil
}

// make makes what is missing. A directory that holds something else is left alone.
func (s *Files) make() error {
	format := filepath.Join(s.dir, "FORMAT")
	_, err := os.Stat(format)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		if err := s.checkForeign(); err != nil {
			return err
		}
	}
	for _, d := range []string{"journal", "blobs", "locks"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o700); err != nil {
			return err
		}
	}
	if !missing {
		return nil
	}
	if err := atomicfile.Write(format, fmt.Appendf(nil, "%s %d %d\n", formatName, formatVersion, minReader), 0o600); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(s.dir))
}

// checkForeign refuses a directory without FORMAT that has something else in it than what can be lost without it.
func (s *Files) checkForeign() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if n := e.Name(); n != "journal" && n != "blobs" && n != "locks" && n != "index" && !strings.HasPrefix(n, atomicfile.TempPrefix) {
			return fmt.Errorf("%q: %w: %q", s.dir, ErrForeign, n)
		}
	}
	return nil
}

// ErrForeign reports a directory that holds something else than a registry.
var ErrForeign = errors.New("the directory holds something else than a registry")

// Dir returns the directory.
func (s *Files) Dir() string { return s.dir }

// Lock takes the lock of the one server of this directory. Another holder is an error that matches
// atomicfile.ErrLocked.
func (s *Files) Lock() (*atomicfile.Lock, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return atomicfile.TryLock(filepath.Join(s.dir, "locks", "serve.lock"))
}

// line is one line of the journal.
type line struct {
	V     int             `json:"v"`
	T     time.Time       `json:"t"`
	Seq   uint64          `json:"seq"`
	Kind  Kind            `json:"kind"`
	ID    string          `json:"id"`
	Blobs []string        `json:"blobs,omitempty"`
	Data  json.RawMessage `json:"data"`
}

func (l *line) doc() Doc { return Doc{l.Kind, l.ID, l.Seq, l.Blobs, l.Data} }

// decodeLine reads a checked line; ok is false for one that this build does not understand.
func decodeLine(text []byte) (l line, ok bool) {
	if err := json.Unmarshal(text, &l); err != nil || l.V > lineVersion || l.Kind == "" || !bytes.HasPrefix(l.Data, []byte("{")) {
		return line{}, false
	}
	return l, true
}

// refresh reads what others appended. s.mu is held, or s is not shared yet.
func (s *Files) refresh() error {
	if s.j.Unchanged(s.pos) {
		return nil
	}
	return s.again(s.j.Replay(&s.pos, s.fold))
}

// again starts from nothing when the journal was cut.
func (s *Files) again(err error) error {
	if !errors.Is(err, journal.ErrShrunk) {
		return err
	}
	s.pos, s.seq, s.bad, s.recent = journal.Position{}, 0, 0, nil
	clear(s.docs)
	return s.j.Replay(&s.pos, s.fold)
}

// fold takes in one line.
func (s *Files) fold(at journal.Place, text []byte, good bool) error {
	if !good {
		s.bad++
		return nil
	}
	l, ok := decodeLine(text)
	if !ok {
		return nil
	}
	s.note(docKey(l.Kind, l.ID), l.Seq, at)
	return nil
}

// note remembers a state. Compaction keeps numbers, so they may be older than those of lines before.
func (s *Files) note(key string, seq uint64, at journal.Place) {
	if old, ok := s.docs[key]; !ok || old.seq < seq {
		s.docs[key] = slot{seq, at}
	}
	s.seq = max(s.seq, seq)
	if len(s.recent) >= 2*recentSize {
		s.recent = append(s.recent[:0], s.recent[recentSize:]...)
	}
	s.recent = append(s.recent, change{seq, at})
}

// Get returns the current state of a document.
func (s *Files) Get(_ context.Context, kind Kind, id string) (Doc, error) {
	s.mu.Lock()
	at, ok := s.docs[docKey(kind, id)]
	s.mu.Unlock()
	if !ok {
		return Doc{}, fmt.Errorf("%s %q: %w", kind, id, ErrNotFound)
	}
	d, err := s.read(at.at)
	if err != nil {
		return Doc{}, fmt.Errorf("%s %q: %w", kind, id, err)
	}
	return d, nil
}

func (s *Files) read(at journal.Place) (Doc, error) {
	text, err := s.j.Read(at)
	if errors.Is(err, journal.ErrDamaged) {
		return Doc{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return Doc{}, err
	}
	l, ok := decodeLine(text)
	if !ok {
		return Doc{}, fmt.Errorf("%w: line that means nothing", ErrDamaged)
	}
	return l.doc(), nil
}

// Changes calls f for the states after a number.
func (s *Files) Changes(ctx context.Context, after uint64, f func(Doc) error) error {
	places, ok, err := s.changesSince(after)
	if err != nil {
		return err
	}
	if !ok {
		return s.scan(ctx, after, f)
	}
	for _, at := range places {
		d, err := s.read(at)
		if err == nil {
			err = f(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changesSince returns where the states after a number stand, when the latest ones reach that far back.
func (s *Files) changesSince(after uint64) (places []journal.Place, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, false, err
	}
	if after >= s.seq {
		return nil, true, nil
	}
	if len(s.recent) == 0 || s.recent[0].seq > after+1 {
		return nil, false, nil
	}
	for _, c := range s.recent {
		if c.seq > after {
			places = append(places, c.at)
		}
	}
	return places, true, nil
}

// scan reads the whole journal, up to where this program knows it.
func (s *Files) scan(ctx context.Context, after uint64, f func(Doc) error) error {
	s.mu.Lock()
	end := s.pos
	s.mu.Unlock()
	errEnd := errors.New("end")
	err := s.j.Replay(new(journal.Position), func(at journal.Place, text []byte, good bool) error {
		if at.Seg > end.Seg || at.Seg == end.Seg && at.Off >= end.Off {
			return errEnd
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !good {
			return nil
		}
		if l, ok := decodeLine(text); ok && l.Seq > after {
			return f(l.doc())
		}
		return nil
	})
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

// Len returns the number of documents.
func (s *Files) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs)
}

// Damaged returns how many lines of the journal cannot be read.
func (s *Files) Damaged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

// Close waits for writes under way and ends.
func (s *Files) Close() error {
	s.once.Do(func() { close(s.stop) })
	<-s.stopped
	return s.j.Close()
}
