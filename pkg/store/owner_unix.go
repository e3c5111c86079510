//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file the owner that info has. Only the superuser can, and only
// then it matters: what others make is theirs.
func giveTo(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(st.Uid), int(st.Gid))
}

// sameDevice reports whether two files lie in one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return !okX || !okY || x.Dev == y.Dev
}
