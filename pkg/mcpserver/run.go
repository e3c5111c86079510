package mcpserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// runner starts commands of the suite.
type runner struct{ s *Server }

// grace is how long a command may take to end when it is asked to.
const grace = 5 * time.Second

// start starts a command that ends when ctx or the server does. done must be called when it has been waited for.
func (r *runner) start(ctx context.Context, name string, args ...string) (c *pipe.Child, done func(), err error) {
	path, err := r.s.o.Find(name)
	if err != nil {
		return nil, nil, wire.AsError(err).WithHint("install all commands of the suite in one folder")
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.s.ctx, cancel)
	if err := r.s.ctx.Err(); err != nil {
		cancel()
		return nil, nil, wire.Errorf(wire.Canceled, "the server is stopping")
	}
	r.s.work.Add(1)
	c, err = pipe.Start(ctx, path, pipe.Options{
		Args: args, Dir: r.s.o.Dir, Environ: r.s.o.Environ, Grace: grace, Stderr: func(line string) { r.relay(name, line) },
	})
	done = func() { stop(); cancel(); r.s.work.Done() }
	if err != nil {
		done()
		return nil, nil, wire.Errorf(wire.Internal, "%w", err)
	}
	return c, done, nil
}

// relay hands on to people what a command says to them. An error about its run comes back in another way.
func (r *runner) relay(name, line string) {
	var p wire.Problem
	switch err := jsonl.Unmarshal([]byte(line), &p); {
	case err != nil:
		r.s.o.Log("%s: %s", name, strings.TrimPrefix(line, name+": "))
	case p.Type == wire.TypeProblem:
		r.s.o.Log("%s: %s", name, p.Message)
	}
}

// once runs a command for one input: it sends the record, if there is one, hands each record that comes back
// to each, and returns the error that the command has about the input or about its run.
func (r *runner) once(ctx context.Context, name string, args []string, input any, each func(pipe.Record)) error {
	c, done, err := r.start(ctx, name, args...)
	if err != nil {
		return err
	}
	defer done()
	var sent error
	if input != nil {
		sent = c.Send(input)
	}
	c.CloseInput()
	var failed *wire.Error
	for rec := range c.Records() {
		if rec.Type == wire.TypeError && failed == nil {
			var e wire.Error
			if rec.Decode(&e) == nil {
				failed = &e
			}
			continue
		}
		each(rec)
	}
	status, err := c.Wait()
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case status != wire.StatusOK && status != wire.StatusNone:
		return c.Trouble(status)
	case sent != nil && !errors.Is(sent, syscall.EPIPE):
		return sent
	}
	return nil
}

// abs returns a path of a host: absolute as it should be, below the user's home, or seen from the server's
// working directory.
func (r *runner) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == os.PathSeparator) {
		if home := r.getenv("HOME"); filepath.IsAbs(home) {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.s.o.Dir, path)
	}
	return filepath.Clean(path)
}

func (r *runner) getenv(name string) (value string) {
	for _, kv := range r.s.o.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
