package rest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// A connection is made again after an error, at once when the platform says so, until one is fatal.
func TestKeep(t *testing.T) {
	var notes []string
	host := gateway.Host{State: func(up bool, note string) {
		if up {
			t.Error("got up, want down")
		}
		notes = append(notes, note)
	}}
	errs := []error{errors.New("lost"), gateway.Later(time.Nanosecond, errors.New("limited")), gateway.Fatal("refused")}
	n := 0
	err := rest.Keep(t.Context(), host, func() error { n++; return errs[n-1] })
	if !errors.Is(err, gateway.ErrFatal) || n != 3 || len(notes) != 2 || notes[0] != "lost" {
		t.Errorf("got %v after %d connections, notes %q", err, n, notes)
	}
}

// It ends without an error when it is to end, in a connection as well as in a pause.
func TestKeepEnds(t *testing.T) {
	for _, err := range []error{context.Canceled, gateway.Fatal("refused"), gateway.Later(time.Hour, errors.New("limited"))} {
		ctx, cancel := context.WithCancel(t.Context())
		down := func(bool, string) { cancel() }
		got := rest.Keep(ctx, gateway.Host{State: down}, func() error {
			if later := new(gateway.LaterError); !errors.As(err, &later) {
				cancel()
			}
			return err
		})
		if got != nil {
			t.Errorf("%v: got %v, want none", err, got)
		}
	}
}
