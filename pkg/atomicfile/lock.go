package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is matched by the error of a lock that somebody else holds.
var ErrLocked = errors.New("locked by another process")

// LockedError tells who holds a lock. It matches ErrLocked.
type LockedError struct {
	Path string // the lock file
	PID  int    // what the holder wrote into it; 0 when not known
}

// Error names the lock file and the holder.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("lock %q: %v", e.Path, ErrLocked)
	}
	return fmt.Sprintf("lock %q: %v (pid %d)", e.Path, ErrLocked, e.PID)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Lock is an exclusive advisory lock on a file, held until Unlock or the end of
// the process. Two locks of one process exclude each other as well.
type Lock struct{ f *flock.Flock }

const (
	firstPause = time.Millisecond
	longPause  = 50 * time.Millisecond
)

// TryLock takes the lock at path, creating the file when it is missing, or
// returns a *LockedError at once. The file is never renamed nor removed: a lock
// belongs to the open file.
func TryLock(path string) (*Lock, error) {
	f := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	if !ok {
		return nil, errors.Join(&LockedError{Path: path, PID: holder(path)}, f.Close())
	}
	// For the message of others only; the kernel's lock is what counts, so a
	// full disk here does not matter.
	_ = os.WriteFile(path, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600)
	return &Lock{f: f}, nil
}

// LockWait is TryLock, tried again with pauses of 1, 2, 4 … 50 ms until limit
// has passed (then the *LockedError) or ctx ends (then its error).
func LockWait(ctx context.Context, path string, limit time.Duration) (*Lock, error) {
	deadline := time.Now().Add(limit)
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		l, err := TryLock(path)
		if err == nil || !errors.Is(err, ErrLocked) || time.Now().Add(pause).After(deadline) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %q: %w", path, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Unlock releases the lock. A nil lock is unlocked already.
func (l *Lock) Unlock() error {
	if l == nil {
		return nil
	}
	return l.f.Unlock()
}

// holder reads the pid that the holder of a lock wrote into it.
func holder(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
