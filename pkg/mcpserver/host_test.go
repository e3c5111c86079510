package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/pipe"
)

// serverFor returns a server that runs the stand-ins.
func serverFor(t *testing.T, change ...func(*mcpserver.Options)) *mcpserver.Server {
	t.Helper()
	o := mcpserver.Options{
		Version: "v1.2.3", Dir: t.TempDir(), Environ: append(os.Environ(), "HOME=/home/ada"),
		Find: func(name string) (string, error) { return pipe.Find(name, commandDir) },
	}
	for _, f := range change {
		f(&o)
	}
	s, err := mcpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// host is the other end of a pair of pipes.
type host struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string
	ended chan error
	stop  context.CancelFunc
}

// connect starts a session over pipes.
func connect(t *testing.T, s *mcpserver.Server) *host {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	h := &host{t: t, in: inW, lines: make(chan string, 1000), ended: make(chan error, 1), stop: cancel}
	go func() {
		err := s.ServeStdio(ctx, inR, outW)
		outW.Close()
		h.ended <- err
	}()
	go func() {
		defer close(h.lines)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			h.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() { inW.Close(); cancel() })
	return h
}

// send writes lines.
func (h *host) send(lines ...string) {
	h.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(h.in, line+"\n"); err != nil {
			h.t.Fatal(err)
		}
	}
}

// next returns the next line of the server, which must be one JSON value.
func (h *host) next() string {
	h.t.Helper()
	select {
	case line, ok := <-h.lines:
		if !ok {
			h.t.Fatal("the server has closed its output")
		}
		if !json.Valid([]byte(line)) {
			h.t.Fatalf("got %q, want JSON", line)
		}
		return line
	case <-time.After(patience):
		h.t.Fatalf("no answer in %s", patience)
	}
	return ""
}

// want demands the next line.
func (h *host) want(line string) {
	h.t.Helper()
	if got := h.next(); got != line {
		h.t.Errorf("got  %s\nwant %s", got, line)
	}
}

// quiet demands that nothing comes: an answer to the ping that it sends comes first.
func (h *host) quiet() {
	h.t.Helper()
	h.send(`{"jsonrpc":"2.0","id":"quiet","method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":"quiet","result":{}}`)
}

// result is the result of a call.
type result struct {
	ID     json.RawMessage
	Error  *struct{ Code int }
	Result struct {
		Content []struct{ Type, Text string }
		Object  map[string]any `json:"structuredContent"`
		IsError bool
	}
}

func decode(t *testing.T, line string) (r result) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return r
}

// call calls a tool and returns its result. Notifications that come before are passed over.
func (h *host) call(tool, args string) result {
	h.t.Helper()
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args))
	return h.answer()
}

// answer returns the next answer.
func (h *host) answer() result {
	h.t.Helper()
	for {
		if line := h.next(); !strings.Contains(line[:min(60, len(line))], `"method"`) {
			return decode(h.t, line)
		}
	}
}

// touch makes a file for which a command waits.
func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// patience is for what comes by itself: with it a busy machine fails no test.
const patience = time.Minute

// pids waits for the file that a hanging command writes.
func pids(t *testing.T, file string) (pids []int) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if data, err := os.ReadFile(file); err == nil {
			var a, b int
			fmt.Sscan(string(data), &a, &b)
			return []int{a, b}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command did not start")
	return nil
}

// gone demands that processes have ended.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		dead := false
		for end := time.Now().Add(patience); time.Now().Before(end); {
			state, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
			if dead = err != nil || strings.Contains(string(state), ") Z "); dead {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !dead {
			t.Errorf("process %d lives on", pid)
		}
	}
}
