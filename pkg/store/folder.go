package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Status is the state of a skill folder beside its record.
type Status string

// The states of a folder.
const (
	Clean        Status = "clean"        // its files are those of its active record
	Dirty        Status = "dirty"        // edited by hand since
	Missing      Status = "missing"      // there is no skill file there
	Unregistered Status = "unregistered" // the store has no active record for it
)

// Canonical is the name of a folder in the store: absolute, links resolved. Of
// a folder that does not exist the part that does is resolved.
func Canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", dir, err)
	}
	if !utf8.ValidString(abs) || strings.Contains(abs, nul) {
		return "", fmt.Errorf("resolve %q: %w: not UTF-8", dir, ErrInvalid)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) && abs != filepath.Dir(abs) {
		parent, err := Canonical(filepath.Dir(abs))
		return filepath.Join(parent, filepath.Base(abs)), err
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", dir, err)
	}
	return real, nil
}

// Status compares a folder with its active record, by content. It takes no lock.
func (s *Store) Status(dir string) (Status, error) {
	dir, err := Canonical(dir)
	if err != nil {
		return "", err
	}
	if file, _ := skill.Find(dir); file == "" {
		return Missing, nil
	}
	head, ok, err := s.HeadAt(dir)
	if err != nil {
		return "", err
	}
	if !ok {
		return Unregistered, nil
	}
	tree, err := Snapshot(dir)
	if err != nil {
		return "", err
	}
	if tree.Hash != head.Lineage.Tree {
		return Dirty, nil
	}
	return Clean, nil
}

// Identity is how the store knows a skill folder.
type Identity struct {
	Dir string // canonical
	ID  string // never empty
	// Record is the record of that id; Known is false when there is none yet.
	Record Record
	Known  bool
	// Copy: the folder's .skill_id is that of another folder that still exists,
	// so it will be recorded under ID, which is another.
	Copy bool
	// Moved: the record's own folder is gone and this one has its .skill_id.
	Moved bool
}

// Identify tells which id a skill folder has, without writing anything: that of
// its active record, else of its .skill_id, else one made from name and path.
func (s *Store) Identify(dir, name string) (out Identity, err error) {
	if dir, err = Canonical(dir); err != nil {
		return out, err
	}
	sidecar, _ := skill.ReadID(dir)
	err = s.read(func(v *view) error {
		out, err = s.identify(v, dir, name, sidecar)
		return err
	})
	return out, err
}

func (s *Store) identify(v *view, dir, name, sidecar string) (Identity, error) {
	id := Identity{Dir: dir, ID: v.folder(dir).head}
	if id.ID == "" {
		id.ID = sidecar
	}
	if id.ID == "" {
		return s.derived(v, id, name)
	}
	rec, ok, err := s.headOf(v, id.ID)
	if err != nil || !ok {
		return id, err
	}
	switch {
	case rec.Dir() == dir:
		id.ID, id.Record, id.Known = rec.SkillID, rec, true
		return id, nil
	case skillFolder(rec.Dir()):
		id.Copy = true
		return s.derived(v, id, name)
	}
	id.ID, id.Record, id.Known, id.Moved = rec.SkillID, rec, true, true
	return id, nil
}

// derived gives a folder the id that is made from its path, or a random one
// when that belongs to another folder already.
func (s *Store) derived(v *view, id Identity, name string) (Identity, error) {
	id.ID = skill.DerivedID(name, id.Dir)
	if r, taken := v.row(id.ID); taken && r.dir != id.Dir {
		id.ID = skill.NewID(name, "imp")
	}
	return id, nil
}

// headOf returns the active record of the line that id belongs to, else the
// record itself.
func (s *Store) headOf(v *view, id string) (Record, bool, error) {
	rec, ok, err := s.load(v, id)
	if err != nil || !ok || rec.IsActive {
		return rec, ok, err
	}
	line, err := s.line(v, id)
	for _, r := range line {
		if r.IsActive {
			return r, true, err
		}
	}
	return rec, true, err
}

func skillFolder(dir string) bool {
	file, _ := skill.Find(dir)
	return file != ""
}

// lockDir takes the lock of a skill folder, brings what a dead process left
// there to an end and removes its unfinished files.
func (s *Store) lockDir(ctx context.Context, dir string) (*atomicfile.Lock, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	l, err := s.lock(ctx, dirLock(dir))
	if err != nil {
		return nil, err
	}
	s.fault("dir:locked")
	if err := s.recoverDir(ctx, dir); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	// What cannot be removed does no harm: it is no part of the skill.
	_, _ = atomicfile.Sweep(dir, gcAge)
	return l, nil
}

func dirLock(dir string) string { return "dir-" + sumOf([]byte(dir))[:16] + ".lock" }

// writeID writes the id file of a folder. A folder that cannot be written does
// without one.
func (s *Store) writeID(dir, id string) error {
	if have, _ := skill.ReadID(dir); have == id {
		return nil
	}
	err := atomicfile.Write(filepath.Join(dir, skill.IDFile), []byte(id+"\n"), 0o644, s.hook("id"))
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return nil
	}
	return err
}

// modeLike gives a file of a tree the permissions that the live folder uses.
func modeLike(live string) func(f TreeFile) fs.FileMode {
	base := fs.FileMode(0o644)
	if info, err := os.Stat(filepath.Join(live, skill.FileName)); err == nil {
		base = info.Mode().Perm()
	}
	return func(f TreeFile) fs.FileMode {
		mode := base
		if info, err := os.Stat(filepath.Join(live, filepath.FromSlash(f.Path))); err == nil {
			mode = info.Mode().Perm()
		}
		mode &^= 0o111
		if f.Mode == modeExec {
			mode |= mode & 0o444 >> 2
		}
		return mode | 0o600
	}
}
