package gateway_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// A message can be stopped as soon as it is taken over, not only when its task runs.
func TestStopAtOnce(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(ctx context.Context, _ wire.Task) (wire.Result, error) {
		<-ctx.Done()
		return wire.Result{Status: "canceled"}, nil
	}
	f.start()
	for i := range 20 {
		f.say(message(fmt.Sprint("m", i), "long"))
		f.say(message(fmt.Sprint("s", i), "/stop"))
		if got := f.shows(i + 1)[i]; !strings.Contains(got, "Stopped") && !strings.Contains(got, "dropped: 1") {
			t.Fatalf("round %d: got %q", i, got)
		}
	}
}

// While it comes to its end it says so, and who does not finish a request does not hold it up.
func TestHealthWhileStopping(t *testing.T) {
	f := newFixture(t)
	f.options.Drain = time.Minute
	release := make(chan struct{})
	f.runner.do = func(context.Context, wire.Task) (wire.Result, error) {
		<-release
		return wire.Result{Status: "success", Response: "done"}, nil
	}
	f.start()
	r, err := gateway.Find(f.options.Config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := net.Dial("tcp", r.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "GET %s HTTP/1.1\r\nHost: x\r\n", r.HealthPath)
	f.say(message("m1", "long"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	var ended sync.WaitGroup
	ended.Go(f.stop)
	f.until("it says that it stops", func() bool { h, err := r.Health(t.Context()); return err == nil && h.Status == "stopping" })
	close(release)
	ended.Wait()
	if got := f.shows(1); got[0] != "done" {
		t.Errorf("got %q", got)
	}
}

// Who looks whether a gateway runs does not keep one from starting.
func TestStartWhileAsked(t *testing.T) {
	f := newFixture(t)
	if err := os.MkdirAll(f.options.Config.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var askers sync.WaitGroup
	for range 2 {
		askers.Go(func() {
			for ctx.Err() == nil {
				gateway.Find(f.options.Config.DataDir)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for range 20 {
		f.start()
		f.stop()
	}
	cancel()
	askers.Wait()
}

// An edit that comes while the message itself is still being put on disk is taken, or comes too late; it never
// mixes with it.
func TestEditAtOnce(t *testing.T) {
	f := newFixture(t)
	f.start()
	var both sync.WaitGroup
	for i := range 20 {
		m := message(fmt.Sprint("m", i), "first")
		e := message(m.ID, "second, which is longer")
		e.Edited = true
		both.Go(func() { f.say(m) })
		both.Go(func() { f.say(e) })
	}
	both.Wait()
	for _, got := range f.shows(20) {
		if got != "answer to first" && got != "answer to second, which is longer" {
			t.Errorf("got %q", got)
		}
	}
}
