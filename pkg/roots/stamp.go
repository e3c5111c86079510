package roots

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Stamp is what one stat tells of a path: when it equals an earlier one, the thing has not changed. Times are
// nanoseconds since 1970. The zero Stamp means that nothing was there.
type Stamp struct {
	Mtime, Ctime, Size int64
	Ino                uint64
}

// StampOf returns the stamp of what path leads to: one stat, links followed.
func StampOf(path string) (Stamp, error) {
	var st unix.Stat_t
	if err := statAt(unix.AT_FDCWD, path, &st); err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return stampOf(&st), nil
}

func stampOf(st *unix.Stat_t) Stamp {
	return Stamp{Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Size: st.Size, Ino: st.Ino}
}

// fileID tells files apart that exist at the same time.
type fileID struct{ dev, ino uint64 }

func idOf(st *unix.Stat_t) fileID { return fileID{uint64(st.Dev), st.Ino} }

func isDir(st *unix.Stat_t) bool     { return st.Mode&unix.S_IFMT == unix.S_IFDIR }
func isRegular(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// statAt follows links. A network file system may answer EINTR, which says nothing about the path.
func statAt(fd int, path string, st *unix.Stat_t) error {
	for {
		if err := unix.Fstatat(fd, path, st, 0); err != unix.EINTR {
			return err
		}
	}
}
