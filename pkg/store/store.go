// Package store remembers what happened to skills: the versions of each skill
// folder, where they come from, how they did in tasks, and what was tried. It
// owns $OPENSPACE_HOME/store and $OPENSPACE_HOME/index/store; the format is
// docs/format-store.md. It does not own the skill folders: it changes one only
// in Replace, Rollback, Create and, for the id file, Register.
//
// The truth is an append-only journal of one-line events and content-addressed
// objects. What Record, HeadAt and the other questions answer is the fold of
// that journal. Readers take no lock and write nothing. Writers take a kernel
// lock for milliseconds; when a method that writes returns nil, the event is
// on disk. A process that is killed at any point leaves a store and skill
// folders that the next writer brings back to the old or the new state.
//
// A Store may be used by many goroutines, and many processes may use one home.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// The store's format. A change of what older programs would misread raises
// both numbers, any other change the first; docs/format-store.md has the table.
const (
	formatName    = "openspace-store"
	formatVersion = 1
	formatReader  = 1 // lowest program format that can read what this one writes
)

// Errors that callers tell apart.
var (
	// ErrConflict: the folder has another head, or other content, than expected.
	ErrConflict = errors.New("changed meanwhile")
	// ErrLocked: another process holds the lock; it names the holder's pid.
	ErrLocked = atomicfile.ErrLocked
	// ErrVersion: the store has a format that this program cannot use.
	ErrVersion = errors.New("store format not supported")
	// ErrNotFound: no such record, object or skill folder.
	ErrNotFound = errors.New("not found")
	// ErrExists: the folder or record is there already.
	ErrExists = errors.New("exists already")
	// ErrInvalid: the input breaks a rule of the store.
	ErrInvalid = errors.New("not valid")
	// ErrUnchanged: an edit left everything as it was.
	ErrUnchanged = errors.New("nothing changed")
	// ErrCorrupt: an object or journal line does not match its checksum.
	ErrCorrupt = errors.New("damaged")
	// ErrHome: the home, or a part of its path, is a file.
	ErrHome = errors.New("not a folder")
)

// ConflictError says which record a folder has instead of the expected one. It
// matches ErrConflict.
type ConflictError struct{ Dir, Want, Have string }

// Error names the folder and both records.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("folder %q: %v: its active record is %q, expected %q", e.Dir, ErrConflict, e.Have, e.Want)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Options change how a store is used; the zero value is the usual one.
type Options struct {
	// LockWait bounds the wait for a lock; 0 means ten seconds.
	LockWait time.Duration
	// Fast leaves out the sync after lines other than commits: a power cut may
	// then lose the last few.
	Fast bool
	// Now is the clock; nil means time.Now. It is written down, never relied on.
	Now func() time.Time
	// Fault, if set, is called with a name after each step of every write, so
	// that tests can end the process there.
	Fault func(point string)
}

// Store is an opened store.
type Store struct {
	home string
	opts Options
	j    journal

	plainRename bool // tests: as on a file system that cannot exchange folders

	mu       sync.Mutex
	v        *view
	cat      *mapping // what v.base lies in, if it is a file
	noCat    bool     // the catalogue was found damaged: do without
	files    map[uint64]*os.File
	prepared atomic.Bool // the folders were made, and dead processes cleaned up after
}

// Open opens the store below home ($OPENSPACE_HOME). Nothing is written: a
// missing store reads as an empty one. It fails with ErrVersion when the
// store's format cannot be read; a higher format that can be read opens, and
// writing fails.
func Open(home string, o Options) (*Store, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	s := &Store{home: home, opts: o, files: map[uint64]*os.File{}}
	s.j = journal{dir: s.path("journal")}
	if _, reader, err := s.format(); err != nil {
		return nil, err
	} else if reader > formatVersion {
		return nil, fmt.Errorf("open store %q: %w: it needs a program that reads format %d, this one reads up to %d", home, ErrVersion, reader, formatVersion)
	}
	return s, nil
}

// Close gives back the files that reading has opened.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forget()
}

// Home is the folder that Open was given, absolute.
func (s *Store) Home() string { return s.home }

// path is a place below store/.
func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.home, "store"}, parts...)...)
}

// format reads FORMAT: the version that wrote it and the lowest that can read
// it; zeros when there is none.
func (s *Store) format() (version, reader int, err error) {
	data, err := os.ReadFile(s.path("FORMAT"))
	if absent(err) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("open store: %w", err)
	}
	var name string
	n, _ := fmt.Sscanf(string(data), "%s %d %d", &name, &version, &reader)
	if n != 3 || name != formatName || version < 1 || reader < 1 {
		return 0, 0, fmt.Errorf("open store %q: %w: FORMAT holds %.40q", s.home, ErrVersion, strings.TrimSpace(string(data)))
	}
	return version, reader, nil
}

// forget drops all that was read, so that it is read again.
func (s *Store) forget() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	clear(s.files)
	s.v = nil
	errs = append(errs, s.cat.close())
	s.cat = nil
	return errors.Join(errs...)
}

// refresh brings the view up to the end of the journal.
func (s *Store) refresh() error {
	if s.v == nil {
		s.open()
	}
	if s.j.unchanged(s.v.mark.pos) {
		return nil
	}
	err := s.replay()
	for try := 0; errors.Is(err, errShrunk) && try < 3; try++ {
		if err = s.forget(); err != nil {
			return err
		}
		s.open()
		err = s.replay()
	}
	if err == nil && s.v.err == nil && len(s.v.over) > idleLimit {
		err = s.slim()
	}
	return errors.Join(err, s.v.err)
}

// slim ends a long list of changes beside the table: by going over to a newer
// catalogue if some writer has made one, else by a table in memory.
func (s *Store) slim() error {
	m, base, err := openCatalogue(s.cataloguePath(), s.j)
	if err != nil || s.noCat || s.cat != nil && m.upTo == s.cat.upTo {
		return errors.Join(m.close(), s.v.compact())
	}
	if err := s.forget(); err != nil {
		return errors.Join(err, m.close())
	}
	s.cat, s.v = m, newView(base)
	if err := s.replay(); err != nil || len(s.v.over) <= idleLimit {
		return err
	}
	return s.v.compact()
}

// replay folds what is new, after making sure that what was folded before is
// still there.
func (s *Store) replay() error {
	mark := &s.v.mark
	sum, err := s.j.tailSum(mark.pos)
	if err == nil && sum != mark.tail {
		return errShrunk
	}
	if err == nil {
		err = s.j.replay(&mark.pos, s.v.line)
	}
	if err == nil {
		mark.tail, err = s.j.tailSum(mark.pos)
	}
	return err
}

// open starts a view from the catalogue, or from nothing.
func (s *Store) open() {
	s.v = newView(nil)
	if s.noCat {
		return
	}
	if m, base, err := openCatalogue(s.cataloguePath(), s.j); err == nil {
		s.cat, s.v = m, newView(base)
	}
}

// read calls fn with the view of this moment. A catalogue that turns out to be
// damaged is dropped, and fn called again without it.
func (s *Store) read(fn func(v *view) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readLocked(fn)
}

func (s *Store) readLocked(fn func(v *view) error) error {
	err := s.refresh()
	if err == nil {
		err = fn(s.v)
	}
	if s.v.err == nil {
		return err
	}
	s.noCat = true
	if err := s.forget(); err != nil {
		return err
	}
	if err := s.refresh(); err != nil {
		return err
	}
	return fn(s.v)
}

// prepare makes the folders of the store and refuses a format that this
// program must not write. It is the first step of every write; the first time
// it also recovers.
func (s *Store) prepare(ctx context.Context) error {
	version, _, err := s.format()
	if err != nil {
		return err
	}
	if version > formatVersion {
		return fmt.Errorf("write store %q: %w: it has format %d, this program writes %d", s.home, ErrVersion, version, formatVersion)
	}
	if version != 0 && s.prepared.Load() {
		return nil
	}
	for _, dir := range []string{"journal", "objects", "locks", "intents"} {
		err := os.MkdirAll(s.path(dir), 0o700)
		if errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("write store: home %q: %w", s.home, ErrHome)
		}
		if err != nil {
			return fmt.Errorf("write store: %w", err)
		}
		s.fault("prepare:" + dir)
	}
	if version == 0 {
		line := fmt.Sprintf("%s %d %d\n", formatName, formatVersion, formatReader)
		if err := atomicfile.Write(s.path("FORMAT"), []byte(line), 0o600, s.hook("format")); err != nil {
			return fmt.Errorf("write store: %w", err)
		}
	}
	if !s.prepared.Swap(true) {
		// A folder that cannot be recovered now must not keep others from being
		// written; doctor tells about it.
		_, _ = s.Recover(ctx)
	}
	return nil
}

// absent reports whether there is nothing at a path. What lies below a file
// does not exist either.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s *Store) fault(point string) { s.opts.Fault(point) }

// hook names the steps of writing one file.
func (s *Store) hook(what string) atomicfile.Option {
	return atomicfile.Hook(func(step string) { s.fault(what + ":" + step) })
}

// lock takes a lock file, waiting as long as the options allow.
func (s *Store) lock(ctx context.Context, name string) (*atomicfile.Lock, error) {
	return atomicfile.LockWait(ctx, s.path("locks", name), s.opts.LockWait)
}
