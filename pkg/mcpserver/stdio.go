package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

const (
	// lastCalls is how long calls may still take that are under way when the host closes its end.
	lastCalls = 500 * time.Millisecond
	// maxPending bounds the messages of a connection that are worked on; more are read when one is done.
	maxPending = 512
)

// ServeStdio talks to one host over a pair of pipes, one message a line, until in ends, ctx does, or out
// cannot be written to. Then it ends what is still under way. Each Write to out is one whole line. The error
// is that of reading or writing; the end of in is none.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &pipes{s: s, ses: newSession("stdio"), out: out, stop: cancel, slots: make(chan struct{}, maxPending)}
	lines := make(chan error, 1)
	go func() { lines <- c.read(ctx, in) }()
	var err error
	select {
	case err = <-lines:
		c.last(ctx)
	case <-ctx.Done():
	}
	cancel()
	c.calls.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.err)
}

// pipes is the connection to a host over stdin and stdout.
type pipes struct {
	s     *Server
	ses   *session
	stop  context.CancelFunc
	slots chan struct{}
	calls sync.WaitGroup

	mu  sync.Mutex
	out io.Writer
	err error // of a write
}

// read takes messages until there are no more. A line that is too long, or no message at all, is answered and
// left behind.
func (c *pipes) read(ctx context.Context, in io.Reader) error {
	lines := jsonl.NewReader(in)
	for {
		line, err := lines.Next()
		var tooLong *jsonl.TooLongError
		switch {
		case ctx.Err() != nil, err == io.EOF:
			return nil
		case errors.As(err, &tooLong):
			c.send((&fault{code: mcp.PARSE_ERROR, text: "parse error: " + err.Error()}).reply())
			continue
		case err != nil:
			return err
		}
		c.take(ctx, bytes.Clone(line.Data))
	}
}

// take does what one line asks for. Quick answers come in the order of their questions; a call of a tool does
// not hold up others.
func (c *pipes) take(ctx context.Context, data []byte) {
	in := receive(data)
	do := func() {
		if line := c.s.serve(ctx, c.ses, in, c.send); line != nil {
			c.send(line)
		}
	}
	if !in.some(part.slow) {
		do()
		return
	}
	c.slots <- struct{}{}
	c.calls.Go(func() {
		defer func() { <-c.slots }()
		do()
	})
}

// send writes a message. Once that fails the host is gone.
func (c *pipes) send(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if _, err := c.out.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		c.err = err
		c.stop()
	}
}

// last gives the calls that are under way a moment to end.
func (c *pipes) last(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		c.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(lastCalls):
	}
}
