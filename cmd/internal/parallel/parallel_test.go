package parallel_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/parallel"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// run runs a command that works on its inputs with Each and returns its output.
func run(t *testing.T, p cli.Process, n int, work func(env *cli.Env, in cli.Input) parallel.Emit) (status int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p.Stdout, p.Stderr = &stdout, &stderr
	if p.Stdin == nil {
		p.Stdin = strings.NewReader("")
	}
	c := &cli.Command{Name: "probe", Short: "probe", Run: func(_ context.Context, env *cli.Env) error {
		return parallel.Each(env, n, env.Inputs(), func(in cli.Input) parallel.Emit { return work(env, in) })
	}}
	status = cli.Execute(t.Context(), c, p)
	if p.StderrTerminal {
		return status, stderr.String()
	}
	return status, stdout.String()
}

func result(env *cli.Env, in cli.Input) parallel.Emit {
	return func() error { return env.Out.Emit(wire.Result{ID: in.ID, Status: "success", Message: in.Value}) }
}

// Results come in the order of the inputs, however long each takes: here the first waits for the last.
func TestEachKeepsTheOrder(t *testing.T) {
	const n = 8
	last := make(chan struct{})
	status, out := run(t, cli.Process{Args: strings.Fields(strings.Repeat("x ", n))}, n, func(env *cli.Env, in cli.Input) parallel.Emit {
		if in.ID == strconv.Itoa(n) {
			close(last)
		}
		<-last
		return result(env, in)
	})
	var ids []string
	for line := range strings.Lines(out) {
		if _, rest, ok := strings.Cut(line, `"type":"result","id":"`); ok {
			ids = append(ids, rest[:1])
		}
	}
	if got := strings.Join(ids, ""); got != "12345678" || status != 0 {
		t.Errorf("got %q, status %d\n%s", got, status, out)
	}
}

// A record is that of its line, also when others were read from the pipe before it is looked at.
func TestEachKeepsRecordsApart(t *testing.T) {
	const n = 4
	in, out := io.Pipe()
	go func() {
		for i := range n { // each line by itself, as a pipe gives them: the reader's buffer begins anew
			_, _ = io.WriteString(out, `{"query":"`+strings.Repeat(strconv.Itoa(i), 100+i)+"\"}\n")
		}
		_ = out.Close()
	}()
	last := make(chan struct{})
	status, got := run(t, cli.Process{Stdin: in}, n, func(env *cli.Env, in cli.Input) parallel.Emit {
		if in.ID == strconv.Itoa(n) {
			close(last)
		}
		<-last
		var rec wire.Query
		if err := in.Decode(&rec); err != nil {
			return func() error { return env.Out.Fail(err) }
		}
		in.Value = rec.Query
		return result(env, in)
	})
	for i := range n {
		if want := strings.Repeat(strconv.Itoa(i), 100+i); !strings.Contains(got, `"message":"`+want+`"`) || status != 0 {
			t.Errorf("got status %d without record %d:\n%s", status, i, got)
		}
	}
}

// No more than n are under way, and an error of the output ends all.
func TestEachIsBounded(t *testing.T) {
	var now, most atomic.Int32
	status, _ := run(t, cli.Process{Args: strings.Fields(strings.Repeat("x ", 50))}, 3, func(env *cli.Env, in cli.Input) parallel.Emit {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return result(env, in)
	})
	// One result is being written and one input waits for its turn.
	if most.Load() > 5 || status != 0 {
		t.Errorf("got %d at once, status %d", most.Load(), status)
	}
	var begun atomic.Int32
	status, _ = run(t, cli.Process{Args: strings.Fields(strings.Repeat("x ", 50))}, 1, func(*cli.Env, cli.Input) parallel.Emit {
		begun.Add(1)
		return func() error { return errors.New("disk full") }
	})
	if status == 0 || begun.Load() == 50 {
		t.Errorf("got status %d after %d inputs", status, begun.Load())
	}
}

// An answer does not wait for the next input.
func TestEachAnswersWhileItWaits(t *testing.T) {
	answered := make(chan struct{})
	in := &slowReader{first: "x\n", wait: answered}
	status, _ := run(t, cli.Process{Stdin: in}, 4, func(env *cli.Env, in cli.Input) parallel.Emit {
		return func() error {
			defer close(answered)
			return result(env, in)()
		}
	})
	if status != 0 {
		t.Errorf("got status %d", status)
	}
}

// slowReader has one line, and ends when that was answered.
type slowReader struct {
	first string
	wait  chan struct{}
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.first != "" {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	<-r.wait
	return 0, io.EOF
}

// CL-05: progress is for a terminal that can take a line back.
func TestProgress(t *testing.T) {
	for name, tt := range map[string]struct {
		p    cli.Process
		want bool
	}{
		"terminal":          {cli.Process{StderrTerminal: true}, true},
		"dumb":              {cli.Process{StderrTerminal: true, Environ: []string{"TERM=dumb"}}, false},
		"output is a table": {cli.Process{StderrTerminal: true, StdoutTerminal: true}, false},
		"nobody watches":    {cli.Process{}, false},
	} {
		tt.p.Args = []string{"x"}
		_, out := run(t, tt.p, 1, result)
		if got := strings.Contains(out, "\x1b[K"); got != tt.want {
			t.Errorf("%s: got %q", name, out)
		}
	}
}

// A result does not wait for the next one, although that was begun: here the second ends when the first was read.
func TestEachHandsOnWhatIsReady(t *testing.T) {
	r, w := io.Pipe()
	seen := make(chan struct{})
	c := &cli.Command{Name: "probe", Short: "probe", Run: func(_ context.Context, env *cli.Env) error {
		return parallel.Each(env, 4, env.Inputs(), func(in cli.Input) parallel.Emit {
			if in.ID != "1" {
				<-seen
			}
			return result(env, in)
		})
	}}
	go func() {
		cli.Execute(t.Context(), c, cli.Process{Args: []string{"a", "b", "c"}, Stdin: strings.NewReader(""), Stdout: w, Stderr: io.Discard})
		w.Close()
	}()
	lines := bufio.NewReader(r)
	first := make(chan string, 1)
	go func() {
		line, _ := lines.ReadString('\n')
		first <- line
	}()
	select {
	case line := <-first:
		if !strings.Contains(line, `"id":"1"`) {
			t.Errorf("got %q, want the first result", line)
		}
	case <-time.After(time.Minute):
		t.Error("the first result waits for the second")
	}
	close(seen)
	io.Copy(io.Discard, lines)
}
