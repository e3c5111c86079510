package atomicfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	l, err := atomicfile.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = atomicfile.TryLock(path)
	var locked *atomicfile.LockedError
	if !errors.Is(err, atomicfile.ErrLocked) || !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v, want a locked error that names pid %d", err, os.Getpid())
	}
	if _, err := atomicfile.LockWait(t.Context(), path, 5*time.Millisecond); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("got %v after a short wait, want locked", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := atomicfile.LockWait(ctx, path, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v with an ended context, want canceled", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	l, err = atomicfile.LockWait(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
	if err := (*atomicfile.Lock)(nil).Unlock(); err != nil {
		t.Errorf("got %v for a nil lock, want nil", err)
	}
}

func TestLockWaitHandsOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var inside, total atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := atomicfile.LockWait(context.Background(), path, time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("got %d holders, want 1", n)
			}
			total.Add(1)
			inside.Add(-1)
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := total.Load(); n != 8 {
		t.Errorf("got %d turns, want 8", n)
	}
}

func TestLockErrors(t *testing.T) {
	if _, err := atomicfile.TryLock(filepath.Join(t.TempDir(), "no", "l")); err == nil || errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("got %v for a missing folder, want an error that is not ErrLocked", err)
	}
}
