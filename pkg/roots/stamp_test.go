package roots_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/roots"
)

// unchanged is what a reader does with the stamps of an earlier walk.
func unchanged(tree *roots.Tree) bool {
	for _, f := range tree.Folders {
		if s, _ := roots.StampOf(filepath.Join(f.Dir, f.File)); s != f.Stamp {
			return false
		}
	}
	for _, d := range tree.Dirs {
		if s, _ := roots.StampOf(filepath.Join(tree.Root.Dir, d.Rel)); s != d.Stamp {
			return false
		}
	}
	return true
}

func TestStampsNoticeChange(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tree   []string
		change func(t *testing.T, dir string)
	}{
		{"skill comes", []string{"root/a/SKILL.md"}, func(t *testing.T, dir string) { plant(t, dir, "root/b/SKILL.md") }},
		{"skill comes in a group", []string{"root/g/a/SKILL.md"}, func(t *testing.T, dir string) { plant(t, dir, "root/g/b/SKILL.md") }},
		{"skill goes", []string{"root/a/SKILL.md"}, func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "root/a"))) }},
		{"folder becomes a skill", []string{"root/a/note"}, func(t *testing.T, dir string) { plant(t, dir, "root/a/SKILL.md") }},
		{"text changes", []string{"root/a/SKILL.md"}, func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "root/a/SKILL.md"), []byte("longer"), 0o644))
		}},
		{"file is replaced with old times", []string{"root/a/SKILL.md"}, func(t *testing.T, dir string) {
			path := filepath.Join(dir, "root/a/SKILL.md")
			info, err := os.Stat(path)
			must(t, err)
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path+".new", data, 0o644))
			must(t, os.Chtimes(path+".new", time.Now(), info.ModTime()))
			must(t, os.Rename(path+".new", path))
		}},
		{"SKILL.md joins skill.md", []string{"root/a/skill.md"}, func(t *testing.T, dir string) { plant(t, dir, "root/a/SKILL.md") }},
		{"dangling link finds its target", []string{"root/a -> ../later"}, func(t *testing.T, dir string) { plant(t, dir, "later/SKILL.md") }},
		{"dangling skill file finds its target", []string{"root/a/SKILL.md -> ../../later"}, func(t *testing.T, dir string) { plant(t, dir, "later") }},
		{"target outside becomes a skill", []string{"other/note", "root/a -> ../other"}, func(t *testing.T, dir string) { plant(t, dir, "other/SKILL.md") }},
		{"link gets another target", []string{"x/SKILL.md", "y/SKILL.md", "root/a -> ../x"}, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "root/a")))
			plant(t, dir, "root/a -> ../y")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, tc.tree...)
			tree := walk(t, filepath.Join(dir, "root"))
			if !unchanged(tree) {
				t.Fatal("got a change before anything was done")
			}
			tick(t, dir)
			tc.change(t, dir)
			if unchanged(tree) {
				t.Error("got no change, want one")
			}
		})
	}
}

// tick waits until the file system's clock has moved on.
func tick(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "tick")
	must(t, os.WriteFile(path, nil, 0o644))
	first, err := roots.StampOf(path)
	must(t, err)
	for next := first; next == first; {
		time.Sleep(time.Millisecond)
		must(t, os.WriteFile(path, nil, 0o644))
		must(t, os.Chmod(path, 0o600))
		next, err = roots.StampOf(path)
		must(t, err)
	}
}

func TestStampOfMissing(t *testing.T) {
	s, err := roots.StampOf(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, fs.ErrNotExist) || s != (roots.Stamp{}) {
		t.Errorf("got %v, %v, want the zero stamp and %v", s, err, fs.ErrNotExist)
	}
}
