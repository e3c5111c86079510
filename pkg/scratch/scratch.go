// Package scratch makes folders for temporary files, and finds those that a killed process left.
//
// A folder is locked as long as its process uses it. The kernel takes the lock back however the process ends, so that Left
// neither misses a folder nor takes one that is in use. Where folders cannot be locked, nothing counts as left.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// inUse is a folder in each of ours. Before it is there nobody asks whether ours is left, so that the lock is not taken away
// from a process that has just made the folder.
const inUse = "tmp"

// name is how the folders are named in the system's folder for temporary files.
var name = regexp.MustCompile(`^openspace-[0-9]+$`)

// ripe is how old an empty folder must be: its process was killed before it made more.
const ripe = time.Hour

// Folder is a folder for temporary files.
type Folder struct {
	Dir  string    // absolute, without links
	lock io.Closer // nil where there are no such locks
}

// short is a place for temporary files with a short name, where there is one.
const short = "/tmp"

// New makes a folder in the system's place for temporary files, with these folders in it and one that is called tmp.
func New(inside ...string) (*Folder, error) { return makeIn("", inside) }

// Short makes one whose name is at most most bytes long if that can be: for sockets, of which the kernel takes no long names.
func Short(most int) (*Folder, error) {
	place := os.TempDir()
	if info, err := os.Stat(short); len(place)+len("/openspace-4294967295") > most && err == nil && info.IsDir() {
		place = short
	}
	return makeIn(place, nil)
}

func makeIn(place string, inside []string) (*Folder, error) {
	dir, err := os.MkdirTemp(place, "openspace-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil { // the variable that names the place may say anything
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	f := &Folder{Dir: dir}
	if f.lock, err = lockFolder(dir); errors.As(err, new(*fs.PathError)) { // unlike one that has no locks
		os.Remove(dir)
		return nil, fmt.Errorf("lock a folder for temporary files: %w", err)
	}
	for _, name := range append(inside, inUse) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			f.Close()
			return nil, fmt.Errorf("make a folder for temporary files: %w", err)
		}
	}
	if f.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		f.Close()
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	return f, nil
}

// Close removes the folder with all that is in it. What cannot be removed is left.
func (f *Folder) Close() {
	remove(f.Dir)
	if f.lock != nil {
		f.lock.Close()
	}
}

// Left returns the folders whose process is gone without having removed them. With take they are removed.
func Left(take bool) []string {
	dirs := leftIn(os.TempDir(), take)
	if runtime.GOOS != "windows" && filepath.Clean(os.TempDir()) != short {
		dirs = append(dirs, leftIn(short, take)...)
	}
	return dirs
}

func leftIn(place string, take bool) (dirs []string) {
	entries, err := os.ReadDir(place)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() || !name.MatchString(e.Name()) {
			continue
		}
		dir := filepath.Join(place, e.Name())
		info, err := e.Info()
		if err != nil || !own(info) || info.Mode().Perm()&0o077 != 0 || !ours(dir, info) {
			continue
		}
		lock, err := lockFolder(dir)
		if err != nil {
			continue
		}
		if take {
			remove(dir)
		}
		lock.Close()
		dirs = append(dirs, dir)
	}
	return dirs
}

// ours tells whether a folder has what ours have, or would have got.
func ours(dir string, info fs.FileInfo) bool {
	if in, err := os.Lstat(filepath.Join(dir, inUse)); err == nil {
		return in.IsDir()
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0 && time.Since(info.ModTime()) > ripe
}

// remove removes a folder, also one with folders in it that may not be written.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir)
}
