package pipe_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// shell starts a shell script as a child.
func shell(t *testing.T, ctx context.Context, script string, o pipe.Options) *pipe.Child {
	t.Helper()
	o.Args, o.Environ = []string{"-c", script}, []string{"PATH=" + os.Getenv("PATH")}
	c, err := pipe.Start(ctx, "/bin/sh", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	var warned []string
	c := shell(t, t.Context(), `cat; echo no record; echo '{"type":"summary"}'; echo careful >&2; exit 3`, pipe.Options{Stderr: func(l string) { warned = append(warned, l) }})
	for _, id := range []string{"a", "b"} {
		if err := c.Send(wire.Query{Type: wire.TypeQuery, ID: id, Query: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.CloseInput(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for rec := range c.Records() {
		var q wire.Query
		if err := rec.Decode(&q); err != nil {
			t.Error(err)
		}
		got = append(got, rec.Type+" "+rec.ID+" "+q.Query)
	}
	if want := "query a x,query b x,summary  "; strings.Join(got, ",") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if status, err := c.Wait(); status != 3 || err != nil {
		t.Errorf("got %d, %v, want 3", status, err)
	}
	if len(warned) != 1 || warned[0] != "careful" {
		t.Errorf("got %q on stderr", warned)
	}
}

// A child that stays answers line by line.
func TestCoProcess(t *testing.T) {
	c := shell(t, t.Context(), `while read -r line; do echo "$line"; done`, pipe.Options{})
	answered := make(chan string)
	go func() {
		defer close(answered)
		for rec := range c.Records() {
			answered <- rec.ID
		}
	}()
	for i := range 10 {
		id := strconv.Itoa(i)
		if err := c.Send(wire.Query{Type: wire.TypeQuery, ID: id}); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; got != id {
			t.Errorf("got answer %q, want %q", got, id)
		}
	}
	c.CloseInput()
	<-answered
	if status, err := c.Wait(); status != 0 || err != nil {
		t.Errorf("got %d, %v", status, err)
	}
}

// More on stderr and stdout than a pipe holds, read by nobody, does not stop the child.
func TestDrained(t *testing.T) {
	c := shell(t, t.Context(), `i=0; while [ $i -lt 20000 ]; do echo "0123456789" >&2; echo "0123456789"; i=$((i+1)); done`, pipe.Options{})
	if status, err := c.Wait(); status != 0 || err != nil {
		t.Errorf("got %d, %v", status, err)
	}
}

// The end of the context is the end of the child and of what it has started, also when it does not listen.
func TestCancel(t *testing.T) {
	for _, script := range []string{
		`sleep 600 & echo "{\"type\":\"pid\",\"id\":\"$!\"}"; wait`,
		`trap "" TERM; sleep 600 & echo "{\"type\":\"pid\",\"id\":\"$!\"}"; while :; do sleep 1; done`,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := shell(t, ctx, script, pipe.Options{Grace: 50 * time.Millisecond})
		pid := 0
		for rec := range c.Records() {
			pid, _ = strconv.Atoi(rec.ID)
			break
		}
		cancel()
		if _, err := c.Wait(); wire.CodeOf(err) != wire.Canceled {
			t.Errorf("got %v, want canceled", err)
		}
		if !gone(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
}

// gone waits for the end of a process that was killed: somebody else reaps it.
func gone(pid int) bool {
	for range 500 {
		state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(state), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestTrouble(t *testing.T) {
	tests := []struct{ script, message string }{
		{`echo '{"type":"error","code":"auth","message":"no key","exit":4}' >&2; exit 4`, "no key"},
		{`echo first >&2; echo last >&2; exit 5`, "sh ended with status 5: last"},
		{`exit 7`, "sh ended with status 7: "},
	}
	for _, tt := range tests {
		c := shell(t, t.Context(), tt.script, pipe.Options{})
		status, err := c.Wait()
		if e := c.Trouble(status); err != nil || e.Message != tt.message || e.Exit != 0 {
			t.Errorf("got %+v, %v, want %q", e, err, tt.message)
		}
	}
	c := shell(t, t.Context(), `kill -9 $$`, pipe.Options{})
	if _, err := c.Wait(); wire.CodeOf(err) != wire.Internal {
		t.Errorf("killed: got %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	path := "relative:" + dir + "::"
	if got, err := pipe.Find("tool", path); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("got %q, %v", got, err)
	}
	for _, name := range []string{"text", "none", ".."} {
		if _, err := pipe.Find(name, path); wire.CodeOf(err) != wire.NotFound {
			t.Errorf("%s: got %v", name, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pipe.Find(filepath.Base(self), ""); err != nil || filepath.Base(got) != filepath.Base(self) {
		t.Errorf("beside this program: got %q, %v", got, err)
	}
	if _, err := pipe.Start(t.Context(), filepath.Join(dir, "none"), pipe.Options{}); err == nil {
		t.Error("started nothing")
	}
}
