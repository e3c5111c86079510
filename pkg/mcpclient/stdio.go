package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	closeWait = 1500 * time.Millisecond // for a server to end when its stdin does
	termWait  = time.Second             // after that, when it is asked to
	drainWait = 300 * time.Millisecond  // for the last lines of one that ended, before what it has started is ended, too
	deafWait  = 3 * time.Second         // for one that closed its stdin to end, and say why
	keptTail  = 4 << 10                 // bytes of stderr that are kept
)

// child is a server that runs as a child, with a message on each line of its stdin and stdout.
type child struct {
	*ending
	cmd     *exec.Cmd
	in      *os.File
	lines   chan []byte // to its stdin: a goroutine writes, so that a server that reads nothing stops no caller
	pending pending
	tail    tail
	changed func() // its list of tools has changed
	limit   int64
	exited  chan struct{}
	closing sync.Once
}

// startChild starts a server. Its end is the end of the link.
func startChild(conf Server, environ []string, changed func()) (*child, error) {
	path, err := lookPath(conf.Command, conf.Dir, environ)
	if err != nil {
		return nil, err
	}
	c := &child{
		ending: newEnding(), lines: make(chan []byte), changed: changed, limit: conf.MaxMessage, exited: make(chan struct{}),
		cmd: &exec.Cmd{Path: path, Args: append([]string{conf.Command}, conf.Args...), Env: environ, Dir: conf.Dir, SysProcAttr: ownGroup()},
	}
	theirs, ours, err := c.pipes()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", conf.Command, err)
	}
	err = c.cmd.Start()
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		for _, f := range ours {
			f.Close()
		}
		return nil, startError(conf, err)
	}
	go c.write()
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(ours[1])
	}()
	said := make(chan struct{})
	go func() {
		defer close(said)
		c.tail.read(ours[2])
	}()
	go c.wait(ours, read, said)
	return c, nil
}

// pipes connects stdin, stdout and stderr; it returns the ends of both sides.
func (c *child) pipes() (theirs, ours []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range append(theirs, ours...) {
				f.Close()
			}
			return nil, nil, err
		}
		if i == 0 {
			theirs, ours = append(theirs, r), append(ours, w)
		} else {
			theirs, ours = append(theirs, w), append(ours, r)
		}
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr, c.in = theirs[0], theirs[1], theirs[2], ours[0]
	return theirs, ours, nil
}

func startError(conf Server, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if conf.Dir != "" {
		if _, bad := os.Stat(conf.Dir); bad != nil {
			return fmt.Errorf("start %q in %q: %w", conf.Command, conf.Dir, err)
		}
	}
	return fmt.Errorf("start %q: %w", conf.Command, err)
}

// lookPath finds a command in the PATH that the child gets.
func lookPath(command, dir string, environ []string) (string, error) {
	if strings.ContainsRune(command, os.PathSeparator) {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return command, nil
	}
	for _, folder := range filepath.SplitList(variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, command)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no command %q in PATH%s", command, needs[command])
}

// needs says what has to be installed for commands that servers are often started with.
var needs = map[string]string{
	"npx": "; it comes with Node.js", "node": "; it comes with Node.js", "uvx": "; it comes with uv", "uv": "; see docs.astral.sh/uv", "docker": "; it comes with Docker",
	"bunx": "; it comes with Bun", "deno": "; see deno.com",
}

// wait ends the link when the child ends.
func (c *child) wait(ours []*os.File, outputs ...<-chan struct{}) {
	err := c.cmd.Wait()
	drain(drainWait, outputs) // something that it has started may hold the pipes
	kill(c.cmd.Process)
	drain(termWait, outputs) // now that is gone, unless it has left the group; a busy machine may need longer than before
	c.end(exitError(err, c.tail.last()))
	for _, f := range ours {
		f.Close()
	}
	close(c.exited)
}

// drain waits until all has been read, but not for longer than limit.
func drain(limit time.Duration, outputs []<-chan struct{}) {
	late := time.NewTimer(limit)
	defer late.Stop()
	for _, output := range outputs {
		select {
		case <-output:
		case <-late.C:
			return
		}
	}
}

// exitError says how a server ended, with what it said last.
func exitError(err error, said string) error {
	how := "the server ended"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		how += " (" + exit.Error() + ")"
	}
	if said != "" {
		how += "; it said last: " + said
	}
	return errors.New(how)
}

// write is the only one that writes to the child.
func (c *child) write() {
	for {
		select {
		case line := <-c.lines:
			if _, err := c.in.Write(line); err != nil {
				c.deaf()
				return
			}
		case <-c.over:
			return
		}
	}
}

// deaf ends a child that closed its stdin, unless it is ending by itself, which says more.
func (c *child) deaf() {
	select {
	case <-c.over:
	case <-time.After(deafWait):
		c.end(errors.New("the server has closed its stdin"))
		kill(c.cmd.Process)
	}
}

func (c *child) send(ctx context.Context, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	select {
	case <-c.over:
		return errNotSent
	default:
	}
	select {
	case c.lines <- append(line, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.over:
		return errNotSent
	}
}

func (c *child) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, answer := c.pending.add()
	defer c.pending.drop(id)
	if err := c.send(ctx, request{Version: "2.0", ID: &id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m.outcome()
	case <-ctx.Done():
		if method != initialize {
			go c.cancel(id)
		}
		return nil, ctx.Err()
	case <-c.over:
		select {
		case m := <-answer: // it came just before the end
			return m.outcome()
		default:
			return nil, &LostError{c.cause()}
		}
	}
}

// outcome is what a request came to.
func (m message) outcome() (json.RawMessage, error) {
	if m.err != nil {
		return nil, m.err
	}
	return m.result, nil
}

// cancel tells the server that nobody waits any more. That is a courtesy: one that does not read is left alone.
func (c *child) cancel(id int64) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = c.notify(ctx, cancelled, map[string]any{"requestId": id})
}

func (c *child) notify(ctx context.Context, method string, params any) error {
	return c.send(ctx, request{Version: "2.0", Method: method, Params: params})
}

func (c *child) speak(string) {}

// read takes messages until the child ends or one is too long.
func (c *child) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := readLine(r, c.limit)
		if errors.Is(err, errLong) {
			c.end(fmt.Errorf("the server sent a message of more than %d bytes, the limit max_message_bytes", c.limit))
			kill(c.cmd.Process)
			return
		}
		if len(bytes.TrimSpace(line)) > 0 {
			c.take(line)
		}
		if err != nil {
			return
		}
	}
}

var errLong = errors.New("line too long")

// readLine reads up to a line's end. The last line may have none.
func readLine(r *bufio.Reader, limit int64) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if int64(len(line)+len(part)) > limit {
			return nil, errLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take sees to one line. What is no message, such as a greeting, is kept with stderr: it may say what is wrong.
func (c *child) take(line []byte) {
	m, err := parseMessage(line)
	switch {
	case err != nil:
		c.tail.add(line)
	case m.method == "":
		c.pending.answer(m)
	case m.id != nil:
		go c.serve(m)
	case m.method == listChanged:
		c.changed()
	}
}

// serve answers a request of the server.
func (c *child) serve(m message) {
	ctx, stop := context.WithTimeout(context.Background(), closeWait)
	defer stop()
	_ = c.send(ctx, m.reply())
}

// reply is what a request of a server gets. Only ping is known; nothing else was offered.
func (m message) reply() response {
	if m.method == ping {
		return response{Version: "2.0", ID: m.id, Result: struct{}{}}
	}
	return response{Version: "2.0", ID: m.id, Error: &errorObject{noMethod, "not offered by this client"}}
}

// close ends the child: first by closing its stdin, then by asking, then by force, each with all that it started.
func (c *child) close() {
	c.closing.Do(func() {
		c.end(errNotSent)
		c.in.Close()
		for _, next := range []struct {
			wait time.Duration
			do   func(*os.Process)
		}{{closeWait, terminate}, {termWait, kill}} {
			select {
			case <-c.exited:
				return
			case <-time.After(next.wait):
				next.do(c.cmd.Process)
			}
		}
	})
	<-c.exited
}

// tail keeps the end of what a server says on stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// read empties a pipe, so that the server never waits for it.
func (t *tail) read(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-keptTail):]...)
	if over := len(t.text) - keptTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
}

// last is the end of it on one line.
func (t *tail) last() string {
	const shown = 300
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	text = text[max(0, len(text)-shown):]
	return oneLine(string(text), shown)
}

// variable is the value of a variable in an environment.
func variable(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if n, value, ok := strings.Cut(environ[i], "="); ok && n == name {
			return value
		}
	}
	return ""
}
