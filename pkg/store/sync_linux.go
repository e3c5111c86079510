package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncsAll tells that syncDisks makes everything durable that was written before.
const syncsAll = true

// syncDisks waits until the file systems that the folders lie on are on disk, each once.
func syncDisks(dirs []string) error {
	done := map[uint64]bool{}
	for _, dir := range dirs {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil || done[uint64(st.Dev)] {
			continue // a folder that is gone is reported by whoever needs it
		}
		done[uint64(st.Dev)] = true
		if err := syncDisk(dir); err != nil {
			return err
		}
	}
	return nil
}

func syncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
