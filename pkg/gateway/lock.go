package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// locks are held as long as a gateway runs.
type locks []*atomicfile.Lock

// lock makes sure that nobody else works on the data, and that no account is served twice.
func (g *Gateway) lock() (held locks, err error) {
	if err := errors.Join(os.MkdirAll(g.config.DataDir, 0o700), os.MkdirAll(g.options.LockDir, 0o700)); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	err = held.take(lockFile(g.config.DataDir), g.config.DataDir)
	for name := range g.joined {
		if err == nil {
			sum := sha256.Sum256([]byte(name))
			err = held.take(filepath.Join(g.options.LockDir, "gateway-"+hex.EncodeToString(sum[:8])+".lock"), name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, held.unlock())
	}
	return held, nil
}

func lockFile(dataDir string) string { return filepath.Join(dataDir, "gateway.lock") }

// take adds the lock of what is to be served.
func (held *locks) take(path, what string) error {
	l, err := lockSoon(path)
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return wire.Errorf(wire.Locked, "another gateway serves %s: %w", what, err)
	case err != nil:
		return fmt.Errorf("serve %s: %w", what, err)
	}
	*held = append(*held, l)
	return nil
}

func (held locks) unlock() (err error) {
	for _, l := range held {
		err = errors.Join(err, l.Unlock())
	}
	return err
}

const (
	lockTries = 100
	lockPause = 10 * time.Millisecond
)

// lockSoon locks a file that others hold for a moment only, such as who looks whether a gateway runs.
func lockSoon(path string) (*atomicfile.Lock, error) {
	l, err := atomicfile.TryLock(path)
	for try := 0; errors.Is(err, atomicfile.ErrLocked) && try < lockTries; try++ {
		time.Sleep(lockPause)
		l, err = atomicfile.TryLock(path)
	}
	return l, err
}
