package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// Content is the files of a skill in memory, by slash path.
type Content map[string]Blob

// Blob is one file of a Content.
type Blob struct {
	Data []byte
	Exec bool // its owner may execute it
}

// Content returns the files of a version, from the store and not from its folder.
func (s *Store) Content(rec Record) (Content, error) {
	side, err := s.VersionSide(rec.SkillID)
	if err != nil {
		return nil, err
	}
	return side.Content()
}

// Content reads all files of a side.
func (s Side) Content() (Content, error) {
	c := Content{}
	for name, f := range s.files {
		data, err := s.read(f)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		c[name] = Blob{Data: data, Exec: f.Mode == modeExec}
	}
	return c, nil
}

// Side is the content as one side of a comparison.
func (c Content) Side() Side {
	data, exec := map[string][]byte{}, map[string]bool{}
	for name, b := range c {
		data[name], exec[name] = b.Data, b.Exec
	}
	return MemorySide(data, exec)
}

// Write makes the files of a folder those of the content: what differs is written, a file of had that is not in the content is removed,
// everything else stays. Nothing outside of the folder is reached, through no link either.
func (c Content) Write(dir string, had Content) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name := range had {
		if _, stays := c[name]; stays {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for p := path.Dir(name); p != "." && root.Remove(p) == nil; p = path.Dir(p) { // folders that are empty now
		}
	}
	for name, b := range c {
		if err := b.write(root, name); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func (b Blob) write(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	there := err == nil && info.Mode().IsRegular()
	mode := fs.FileMode(0o644)
	if there {
		mode = info.Mode().Perm()
	} else if main, err := root.Lstat(skill.FileName); err == nil {
		mode = main.Mode().Perm()
	}
	if mode = mode&^0o111 | 0o600; b.Exec {
		mode |= mode & 0o444 >> 2
	}
	if there && info.Mode().Perm() == mode {
		if old, err := root.ReadFile(name); err == nil && bytes.Equal(old, b.Data) {
			return nil
		}
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.WriteFile(name, b.Data, mode); err != nil {
		return err
	}
	return root.Chmod(name, mode)
}
