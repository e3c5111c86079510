package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// listing is everything below a folder, by path relative to it; "." is the
// folder itself.
type listing map[string]fs.FileInfo

// list walks a folder. It refuses one with another file system mounted below:
// removing the old folder after a swap would empty that.
func list(dir string) (listing, error) {
	out := listing{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = info
		if err == nil && !sameDevice(info, out["."]) {
			err = fmt.Errorf("%w: another file system is mounted at %q", ErrInvalid, path)
		}
		return err
	})
	return out, err
}

// same reports whether two listings show the same files in the same state.
// Linking a file changes neither its inode nor its mtime.
func (l listing) same(other listing) bool {
	if len(l) != len(other) {
		return false
	}
	for path, a := range l {
		b, ok := other[path]
		if !ok || a.Mode() != b.Mode() || !os.SameFile(a, b) {
			return false
		}
		if !a.IsDir() && (a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime())) {
			return false
		}
	}
	return true
}

// carry takes over into the stage what the live folder has beside its skill:
// everything that is in neither the old tree nor the sidecar. Plain files are
// linked, so that they keep bytes, times and owner without being copied.
func carry(live string, old listing, oldTree, newTree []TreeFile, stage string) error {
	// A link to a folder of the skill is in the trees as the folder it shows.
	versioned, taken := withFolders(oldTree), withFolders(newTree)
	versioned[skill.IDFile] = true
	full := map[string]bool{} // folders that something lies in
	for path := range old {
		full[filepath.Dir(path)] = true
	}
	for path, info := range old {
		if versioned[path] || info.IsDir() && (full[path] || path == ".") {
			continue
		}
		if taken[path] && info.IsDir() {
			continue
		}
		if taken[path] {
			return fmt.Errorf("%w: the edit wrote %q, which the folder has but which does not belong to the skill", ErrConflict, path)
		}
		if err := carryOne(live, stage, path, info); err != nil {
			return fmt.Errorf("carry %q over: %w", path, err)
		}
	}
	return adopt(live, old, stage)
}

// withFolders is the set of the files of a tree and of the folders they lie in.
func withFolders(files []TreeFile) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		for path := filepath.FromSlash(f.Path); path != "." && !out[path]; path = filepath.Dir(path) {
			out[path] = true
		}
	}
	return out
}

func carryOne(live, stage, path string, info fs.FileInfo) error {
	from, to := filepath.Join(live, path), filepath.Join(stage, path)
	if info.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	switch {
	case info.Mode().IsRegular():
		return copyFile(from, to, info)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	return errors.New("neither a file nor a link, and it cannot be linked")
}

// copyFile is for file systems without links.
func copyFile(from, to string, info fs.FileInfo) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// adopt gives the folders of the stage the permissions of the live ones, and,
// for the superuser, everything in it the owner it has there.
func adopt(live string, old listing, stage string) error {
	return filepath.WalkDir(stage, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(stage, path)
		if err != nil {
			return err
		}
		info, ok := old[rel]
		if ok && d.IsDir() && info.IsDir() {
			if err := os.Chmod(path, info.Mode().Perm()|0o700); err != nil {
				return err
			}
		}
		if !ok {
			info = old["."]
		}
		return giveTo(path, info)
	})
}

// syncTree makes a folder and all in it durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		// What cannot be opened is not from us but linked over, and on disk.
		if err := atomicfile.SyncDir(path); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	})
}
