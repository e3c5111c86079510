package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The words of --transport.
const (
	auto           = "auto"
	stdio          = "stdio"
	sse            = "sse"
	streamableHTTP = "streamable-http"
)

var transports = []string{auto, stdio, sse, streamableHTTP}

func (o *options) run(ctx context.Context, env *cli.Env) (err error) {
	if o.tasks < 1 {
		return wire.Errorf(wire.Usage, "--max-tasks: want at least 1, got %d", o.tasks)
	}
	log := newLog(env.Stderr)
	defer log.flush()
	transport := o.resolve(env, log.printf)
	s, err := mcpserver.New(o.serverOptions(env, log.printf))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// A host that goes away while something is written to it must not end this process before its children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if transport == stdio {
		env.Out.Document() // stdout belongs to the protocol: no summary
		err := s.ServeStdio(ctx, env.Stdin, flushing{env.Stdout})
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return err
	}
	return o.serveHTTP(ctx, env, s, log.printf)
}

// flushing writes each message at once.
type flushing struct{ w *bufio.Writer }

func (f flushing) Write(line []byte) (int, error) {
	n, err := f.w.Write(line)
	return n, cmp.Or(err, f.w.Flush())
}

// resolve returns the transport: the first of the flag, the variable, and what the process was given.
func (o *options) resolve(env *cli.Env, warn func(string, ...any)) string {
	if *o.transport != auto {
		return *o.transport
	}
	if v := variable(env, "TRANSPORT"); v != "" {
		switch t := strings.ToLower(v); t {
		case stdio, sse, streamableHTTP:
			return t
		}
		warn("OPENSPACE_MCP_TRANSPORT=%q is passed over: want stdio, sse or streamable-http", v)
	}
	if o.port != "" || env.StdinTerminal && env.StdoutTerminal {
		return sse
	}
	return stdio
}

// variable is an OPENSPACE_MCP_ variable of the process. Not of .env: a project must not open this machine to
// others.
func variable(env *cli.Env, name string) (value string) {
	for _, kv := range env.Environ {
		if v, ok := strings.CutPrefix(kv, "OPENSPACE_MCP_"+name+"="); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// names cuts lists of names at their commas.
func names(lists []string) (res []string) {
	for _, name := range strings.Split(strings.Join(lists, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			res = append(res, name)
		}
	}
	return res
}

// log writes lines for people to stderr. A host may never read them: what does not fit into the queue then is
// lost, and nobody waits (MC-16).
type log struct{ lines chan logLine }

// logLine is a line, or the end of those that were written before.
type logLine struct {
	text string
	end  chan struct{}
}

// lastLines is how long the end of the program waits for the last lines.
const lastLines = 100 * time.Millisecond

func newLog(w io.Writer) *log {
	l := &log{lines: make(chan logLine, 256)}
	go func() {
		for line := range l.lines {
			if line.end != nil {
				close(line.end)
				continue
			}
			io.WriteString(w, line.text)
		}
	}()
	return l
}

func (l *log) printf(format string, args ...any) {
	select {
	case l.lines <- logLine{text: "openspace-mcp: " + strings.Map(printable, fmt.Sprintf(format, args...)) + "\n"}:
	default:
	}
}

// flush waits until what was said has been written, if somebody reads it.
func (l *log) flush() {
	limit, end := time.After(lastLines), make(chan struct{})
	select {
	case l.lines <- logLine{end: end}:
	case <-limit:
		return
	}
	select {
	case <-end:
	case <-limit:
	}
}

// printable makes one line of a text that may come from elsewhere, without anything that a terminal would obey.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return ' '
	}
	return r
}
