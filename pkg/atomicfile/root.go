package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// WriteIn is Write for a file below a root: whatever becomes a symbolic link on the way, meanwhile too, nothing
// outside the root is written. The folder must exist.
func WriteIn(root *os.Root, name string, data []byte, perm fs.FileMode, opts ...Option) error {
	o := chosen(opts)
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	defer dir.Close()
	if err := writeIn(dir, filepath.Base(name), data, perm, o); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return nil
}

// writeIn replaces a file directly in dir.
func writeIn(dir *os.Root, base string, data []byte, perm fs.FileMode, o options) error {
	f, temp, err := createTempIn(dir, base, perm, o)
	if err != nil {
		return err
	}
	o.hook("create")
	err = fillAndClose(f, func(w io.Writer) error { _, err := w.Write(data); return err }, o)
	if err == nil {
		err = dir.Rename(temp, base)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	o.hook("rename")
	if o.noSync {
		return nil
	}
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer o.hook("syncdir")
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}

// createTempIn opens a new file in dir, with the mode that base is to have.
func createTempIn(dir *os.Root, base string, perm fs.FileMode, o options) (*os.File, string, error) {
	mode, chmod := perm.Perm(), false
	if info, err := dir.Lstat(base); o.keepMode && err == nil && info.Mode().IsRegular() {
		mode, chmod = info.Mode().Perm(), true
	}
	for try := 0; ; try++ {
		temp := TempPrefix + strconv.FormatUint(rand.Uint64(), 36)
		f, err := dir.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil && chmod { // the umask may have taken bits that the old file has
			if err := f.Chmod(mode); err != nil {
				return nil, "", errors.Join(err, f.Close(), dir.Remove(temp))
			}
		}
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, temp, err
		}
	}
}
