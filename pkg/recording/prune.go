package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stillRunning is how long a recording without an end counts as one of a task that runs.
const stillRunning = time.Hour

// removing begins the names of folders that are about to go.
const removing = ".removing-"

// Old returns the recordings that are not among the newest keep ones and began before a time: what Remove may
// take. A negative keep and a zero time ask for nothing. A task that runs keeps its recording.
func Old(all []*Saved, keep int, before time.Time) (old []*Saved) {
	for i, s := range all { // newest first
		if keep >= 0 && i < keep || !before.IsZero() && !s.StartTime.Before(before) || s.running() {
			continue
		}
		old = append(old, s)
	}
	return old
}

// running tells whether the recording has no end and something was written to it not long ago.
func (s *Saved) running() bool {
	if !s.EndTime.IsZero() {
		return false
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < stillRunning {
			return true
		}
	}
	return false
}

// Size returns how many bytes the files of the recording have.
func (s *Saved) Size() (bytes int64, err error) {
	err = filepath.WalkDir(s.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// Remove removes the recording. It is renamed first, so that a removal that is interrupted leaves no half
// recording in a list; Sweep takes what is left.
func (s *Saved) Remove() error {
	gone := filepath.Join(filepath.Dir(s.Dir), removing+s.Name)
	err := os.Rename(s.Dir, gone)
	if errors.Is(err, fs.ErrExist) { // left by an interrupted removal of another one of this name
		err = errors.Join(os.RemoveAll(gone), os.Rename(s.Dir, gone))
	}
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err != nil {
		return fmt.Errorf("remove recording %q: %w", s.Name, err)
	}
	return nil
}

// Sweep finishes removals that were interrupted.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep recordings: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), removing) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("sweep recordings: %w", err)
			}
		}
	}
	return nil
}
