package task

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// workspace is the folder of a task.
type workspace struct {
	dir  string
	made bool // for this task, so that it may go when it stays empty
	gone bool // it did
	was  map[string]stamp
	many bool // too many files to compare
}

// stamp tells two states of a file apart.
type stamp struct {
	size int64
	time time.Time
	mode fs.FileMode
}

// openWorkspace makes the workspace ready: the folder that was asked for, which must be there or can be made, else a new one below fresh.
func openWorkspace(dir, fresh, id string) (*workspace, error) {
	w := &workspace{dir: dir}
	if dir == "" {
		if err := os.MkdirAll(fresh, 0o700); err != nil {
			return nil, fmt.Errorf("make workspace: %w", err)
		}
		made, err := newFolder(fresh, id)
		if err != nil {
			return nil, fmt.Errorf("make workspace: %w", err)
		}
		w.dir, w.made = made, true
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, wire.Errorf(wire.Usage, "workspace %q: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", w.dir, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, wire.Errorf(wire.Usage, "workspace %q is not a folder", w.dir)
	}
	w.dir = real
	return w, nil
}

// tooWide tells of a workspace that leaves nothing closed: the user's home, and the error when it is more than that.
func (w *workspace) tooWide(home string) (warning string, err error) {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	inside, err := filepath.Rel(w.dir, home)
	switch {
	case w.dir == string(filepath.Separator), home != "" && err == nil && inside != "." && filepath.IsLocal(inside):
		return "", wire.Errorf(wire.Usage, "workspace %q has your home and more in it, nothing would be closed to commands: name a folder for this task", w.dir)
	case home != "" && inside == ".":
		return fmt.Sprintf("the workspace is your home %s: commands can read and change all of it, keys and settings too; a folder in it is safer", w.dir), nil
	}
	return "", nil
}

// newFolder makes a folder that did not exist: two tasks of one id do not share it.
func newFolder(below, name string) (string, error) {
	for n := 1; ; n++ {
		dir := filepath.Join(below, name)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) || n == 1000 {
			return dir, err
		}
	}
}

// close removes a folder that was made for the task and is still empty.
func (w *workspace) close() {
	if w.made {
		w.gone = os.Remove(w.dir) == nil // fails when there is something in it
	}
}

// maxCompared is how many files are looked at to tell what changed.
const maxCompared = 5000

// notCompared are folders whose content is not a task's result.
var notCompared = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}

// remember notes the files that are there before the work.
func (w *workspace) remember() { w.was, w.many = w.look() }

// look returns the files of the workspace; more says that there are too many.
func (w *workspace) look() (files map[string]stamp, more bool) {
	files = map[string]stamp{}
	filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && path != w.dir && slices.Contains(notCompared, d.Name()):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case len(files) >= maxCompared:
			more = true
			return filepath.SkipAll
		}
		if info, err := d.Info(); err == nil {
			files[path] = stamp{info.Size(), info.ModTime(), info.Mode()}
		}
		return nil
	})
	return files, more
}

// maxChanges bounds the files that a result names.
const maxChanges = 200

// changes returns the files that are not as they were, by path; nothing when there are too many files to tell.
func (w *workspace) changes() (out []wire.FileChange) {
	if w.many || w.was == nil {
		return nil
	}
	now, more := w.look()
	if more {
		return nil
	}
	for path, s := range now {
		before, known := w.was[path]
		switch {
		case !known:
			out = append(out, wire.FileChange{Path: path, Change: "created", SizeBytes: s.size})
		case before != s:
			out = append(out, wire.FileChange{Path: path, Change: "changed", SizeBytes: s.size})
		}
	}
	for path := range w.was {
		if _, still := now[path]; !still {
			out = append(out, wire.FileChange{Path: path, Change: "removed"})
		}
	}
	slices.SortFunc(out, func(a, b wire.FileChange) int { return cmp.Compare(a.Path, b.Path) })
	return out[:min(len(out), maxChanges)]
}

// names returns what stands at the top of the workspace, what the task names first. Folders end with a slash.
func (w *workspace) names(task string) (out []string) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(unnamed(task, a), unnamed(task, b)) })
	for _, e := range entries {
		name := oneLine(e.Name(), 200)
		if e.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}

func unnamed(task string, e os.DirEntry) int {
	if strings.Contains(task, e.Name()) {
		return 0
	}
	return 1
}
