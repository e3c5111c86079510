package rest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

const (
	firstPause   = 250 * time.Millisecond
	longestPause = time.Minute
	steady       = 5 * time.Minute // after which a lost connection is tried again at once
)

// Keep makes one connection after the other until ctx ends, or one ends with gateway.ErrFatal, which it returns. It tells
// h.State why a connection was lost, and waits as long as the platform says, else longer each time, up to a minute.
func Keep(ctx context.Context, h gateway.Host, connection func() error) error {
	for try := 0; ; try++ {
		begin := time.Now()
		err := connection()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, gateway.ErrFatal):
			return err
		}
		h.State(false, err.Error())
		if time.Since(begin) > steady {
			try = 0
		}
		pause := min(firstPause<<min(try, 16), longestPause)
		pause = pause/2 + rand.N(pause/2+1) // not all at once after an outage
		var later *gateway.LaterError
		if errors.As(err, &later) {
			pause = later.After
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}
