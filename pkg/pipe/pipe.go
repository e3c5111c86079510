// Package pipe runs other commands of the suite as children and exchanges lines with them.
//
// It owns how a command is found, started, fed, read, ended and reaped: nobody else starts a process. A child
// is the leader of a process group of its own, so that what it has started ends with it. A command of the suite also ends when
// this process is killed (pkg/lifeline). Its stderr is always drained, its stdin and stdout are pipes, and no call blocks for
// longer than its process group lives.
package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/lifeline"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Options say what is run.
type Options struct {
	Args    []string
	Dir     string   // working directory
	Environ []string // all of the child's environment

	// Stderr gets the child's stderr line by line, each without its end; nil: it is thrown away. The calls come
	// from one goroutine.
	Stderr func(line string)
	Grace  time.Duration // between asking it to end and ending it; 0: 5 s
}

// Child is a running command. Send and Records may be used by two goroutines at once.
type Child struct {
	cmd   *exec.Cmd
	name  string
	stdin io.WriteCloser
	lines *jsonl.Writer
	out   *jsonl.Reader
	line  io.Closer // by which it knows that we live
	tail  []byte    // the end of stderr
	drain sync.WaitGroup
	stop  func() bool
	ctx   context.Context

	mu   sync.Mutex
	kill *time.Timer // ends what does not end when asked to
	done bool        // it was reaped: its number may be another process's soon
}

// Find returns the path of a command of the suite: beside the running program, else in path, a list as in $PATH.
func Find(name, path string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		path = filepath.Dir(self) + string(os.PathListSeparator) + path
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", wire.Errorf(wire.NotFound, "command %s is neither beside this program nor in $PATH", name)
}

// Start runs the command at path. When ctx ends its process group is asked to end, and ended after the grace.
func Start(ctx context.Context, path string, o Options) (*Child, error) {
	c := &Child{cmd: exec.Command(path, o.Args...), name: filepath.Base(path), ctx: ctx}
	c.cmd.Dir, c.cmd.Env, c.cmd.SysProcAttr = o.Dir, o.Environ, ownGroup()
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if c.line, err = lifeline.Start(c.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	c.stdin, c.lines, c.out = stdin, jsonl.NewWriter(stdin), jsonl.NewReader(stdout)
	c.drain.Go(func() { c.readStderr(stderr, o.Stderr) })
	c.stop = context.AfterFunc(ctx, func() { c.end(o.Grace) })
	return c, nil
}

// end ends the process group.
func (c *Child) end(grace time.Duration) {
	if grace == 0 {
		grace = 5 * time.Second
	}
	c.signal(syscall.SIGTERM)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill = time.AfterFunc(grace, func() { c.signal(syscall.SIGKILL) })
}

func (c *Child) signal(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		signalGroup(c.cmd.Process, sig)
	}
}

// reaped ends everything that the child left behind when it was canceled.
func (c *Child) reaped() {
	c.stop()
	c.line.Close()
	if c.ctx.Err() != nil {
		c.signal(syscall.SIGKILL)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	if c.kill != nil {
		c.kill.Stop()
	}
}

// maxTail is how much of stderr is kept for the error of Wait.
const maxTail = 4 << 10

func (c *Child) readStderr(r io.Reader, line func(string)) {
	in := jsonl.NewReader(r)
	for {
		l, err := in.Next()
		var tooLong *jsonl.TooLongError
		if errors.As(err, &tooLong) {
			continue
		}
		if err != nil {
			return
		}
		c.tail = append(append(c.tail, l.Data...), '\n')
		c.tail = c.tail[max(0, len(c.tail)-maxTail):]
		if line != nil {
			line(string(l.Data))
		}
	}
}

// Send writes a record to the child's stdin at once.
func (c *Child) Send(v any) error {
	err := c.lines.Write(v)
	if err == nil {
		err = c.lines.Flush()
	}
	if err != nil {
		return fmt.Errorf("write to %s: %w", c.name, err)
	}
	return nil
}

// CloseInput tells the child that nothing more comes.
func (c *Child) CloseInput() error { return c.stdin.Close() }

// Record is one line of a child.
type Record struct {
	Type string
	ID   string
	Data []byte // the whole line; valid until the next record
}

// Decode stores the record in what v points to.
func (r Record) Decode(v any) error { return jsonl.Unmarshal(r.Data, v) }

// Records yields what the child writes, until it ends or closes its stdout. Lines that are no records are passed
// over.
func (c *Child) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for {
			line, err := c.out.Next()
			var tooLong *jsonl.TooLongError
			if errors.As(err, &tooLong) {
				continue
			}
			if err != nil {
				return
			}
			var head struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			}
			if jsonl.Unmarshal(line.Data, &head) == nil && head.Type != "" && !yield(Record{head.Type, head.ID, line.Data}) {
				return
			}
		}
	}
}

// Wait closes the child's stdin, reads what is left of its output, and returns its exit status once it has ended. The
// error says that it could not be run to its end: it was canceled, or a signal ended it.
func (c *Child) Wait() (status int, err error) {
	c.stdin.Close()
	for range c.Records() {
	}
	c.drain.Wait()
	err = c.cmd.Wait()
	c.reaped()
	var exit *exec.ExitError
	switch {
	case c.ctx.Err() != nil:
		return -1, wire.Errorf(wire.Canceled, "%w", context.Cause(c.ctx))
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	}
	return -1, wire.Errorf(wire.Internal, "%s: %w", c.name, err)
}

// Trouble returns the error about the run that the child wrote as its last line, else one made of its status
// and the end of its stderr. It is for after Wait.
func (c *Child) Trouble(status int) *wire.Error {
	last := bytes.TrimSpace(c.tail)
	if i := bytes.LastIndexByte(last, '\n'); i >= 0 {
		last = last[i+1:]
	}
	var e wire.Error
	if jsonl.Unmarshal(last, &e) == nil && e.Type == wire.TypeError && e.Code != "" {
		e.Exit = 0
		return &e
	}
	return wire.Errorf(wire.Internal, "%s ended with status %d: %s", c.name, status, last)
}
