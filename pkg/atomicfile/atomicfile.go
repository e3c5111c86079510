// Package atomicfile replaces files so that a crash leaves the old file or the
// new one, never a mixture, and takes advisory locks with a bounded wait.
//
// Guarantees: a file is written beside its target under a name that matches
// TempGlob, synced, renamed over the target, and its folder is synced. When
// anything fails, a full disk among it, the target keeps its old content and
// the temporary file is removed. A process that is killed leaves at most one
// temporary file, which Sweep removes later.
//
// A target that is a symbolic link is replaced by a plain file; the file that
// it pointed to is never written. The package holds no state and is safe for
// concurrent use.
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
	"syscall"
	"time"
)

const (
	// TempPrefix starts the name of every temporary file; walkers of skill
	// folders skip names that begin with ".os-".
	TempPrefix = ".os-tmp-"
	// TempGlob matches every temporary file of this package.
	TempGlob = TempPrefix + "*"
)

type options struct {
	noSync   bool
	keepMode bool
	tidy     bool
	hook     func(step string)
}

// chosen applies options to the defaults.
func chosen(opts []Option) options {
	o := options{hook: func(string) {}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Option changes how a file is written.
type Option func(*options)

// NoSync leaves out both syncs: for derived files that can be rebuilt and that
// carry a checksum of their own.
func NoSync() Option { return func(o *options) { o.noSync = true } }

// KeepMode gives the new file the permission bits of the regular file that it
// replaces, if there is one.
func KeepMode() Option { return func(o *options) { o.keepMode = true } }

// Tidy lets Write and WriteWith first remove what other writers left in the folder that were killed, more than an
// hour ago. It is for small folders that nobody sweeps.
func Tidy() Option { return func(o *options) { o.tidy = true } }

// tidyAge is how old a temporary file is that no writer works on.
const tidyAge = time.Hour

// Hook calls f after each step that a crash could follow: "create", "write",
// "sync", "rename", "syncdir". Tests use it to die between two steps.
func Hook(f func(step string)) Option { return func(o *options) { o.hook = f } }

// Write replaces the file at path by data. perm applies to the new file, minus
// the umask; see KeepMode. The folder must exist.
func Write(path string, data []byte, perm fs.FileMode, opts ...Option) error {
	return WriteWith(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, opts...)
}

// WriteWith is Write for content that fill produces. An error of fill leaves
// the old file and is returned wrapped.
func WriteWith(path string, perm fs.FileMode, fill func(w io.Writer) error, opts ...Option) error {
	o := chosen(opts)
	if o.tidy {
		Sweep(filepath.Dir(path), tidyAge) // what cannot be removed does no harm
	}
	f, err := createTemp(path, perm, o)
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	o.hook("create")
	err = fillAndClose(f, fill, o)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	o.hook("rename")
	if o.noSync {
		return nil
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	o.hook("syncdir")
	return nil
}

// createTemp opens a new file beside path.
func createTemp(path string, perm fs.FileMode, o options) (*os.File, error) {
	mode, chmod := perm.Perm(), false
	if info, err := os.Lstat(path); o.keepMode && err == nil && info.Mode().IsRegular() {
		mode, chmod = info.Mode().Perm(), true
	}
	f, err := openTemp(filepath.Dir(path), mode)
	if err != nil || !chmod {
		return f, err
	}
	// The umask may have taken bits that the old file has.
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

func openTemp(dir string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(dir, TempPrefix+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

func fillAndClose(f *os.File, fill func(w io.Writer) error, o options) error {
	err := fill(f)
	o.hook("write")
	if err == nil && !o.noSync {
		err = ignoreUnsupported(f.Sync())
		o.hook("sync")
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes the names in a folder durable. File systems that cannot sync a
// folder are taken as they are.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}

// ignoreUnsupported drops the errors by which a file system says that it has
// no sync; there is nothing better to do on such a one.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// Sweep removes temporary files of this package directly in dir that were last
// written more than olderThan ago, and tells how many. A missing dir is empty.
func Sweep(dir string, olderThan time.Duration) (int, error) {
	stale, err := Stale(dir, olderThan)
	if err != nil {
		return 0, fmt.Errorf("sweep %q: %w", dir, err)
	}
	removed := 0
	var problems error
	for _, name := range stale {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = errors.Join(problems, err)
			continue
		}
		removed++
	}
	if problems != nil {
		return removed, fmt.Errorf("sweep %q: %w", dir, problems)
	}
	return removed, nil
}

// Stale lists the files that Sweep would remove.
func Stale(dir string, olderThan time.Duration) (stale []string, err error) {
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), TempGlob))
	limit := time.Now().Add(-olderThan)
	for _, name := range names {
		info, err := os.Lstat(name)
		if err == nil && info.Mode().IsRegular() && !info.ModTime().After(limit) {
			stale = append(stale, name)
		}
	}
	return stale, err
}

// escapeGlob quotes what filepath.Glob takes as a pattern.
func escapeGlob(dir string) string {
	var b []byte
	for i := range len(dir) {
		switch dir[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, dir[i])
	}
	return string(b)
}
