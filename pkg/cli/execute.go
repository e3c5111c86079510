package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// bufferSize is what one write to stdout moves.
const bufferSize = 64 << 10

// run is one execution of a command.
type run struct {
	p      Process
	root   *Command
	common common
	set    *settings.Settings
	stdout *bufio.Writer
	out    *Printer
	ctx    context.Context
	stop   context.CancelFunc
	asJSON bool // the run's error is written as a record
}

// Execute runs c in a process and returns its exit status. Tests drive commands with it.
func Execute(ctx context.Context, c *Command, p Process) int {
	r := &run{p: p, root: c, ctx: ctx, stop: func() {}}
	r.set = settings.New(settings.Options{Environ: p.Environ, Dir: p.Dir, Passwd: p.Passwd})
	r.stdout = bufio.NewWriterSize(p.Stdout, bufferSize)
	err := r.guarded()
	err = r.finish(err)
	r.stop()
	return r.report(err)
}

// guarded turns a panic of the command into an error.
func (r *run) guarded() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = r.panicked(v, debug.Stack())
		}
	}()
	return r.main()
}

// panicked writes the trace where it can be sent on: to stderr, or to a file when that is a terminal.
func (r *run) panicked(v any, trace []byte) error {
	err := wire.Errorf(wire.Internal, "internal fault: %v", v)
	if r.p.StderrTerminal {
		f, ferr := os.CreateTemp("", r.root.Name+"-trace-*.txt")
		if ferr == nil {
			defer f.Close()
			fmt.Fprintf(f, "%v\n%s", v, trace)
			return err.WithHint("please report it with %s", f.Name())
		}
	}
	fmt.Fprintf(r.p.Stderr, "%s", trace)
	return err
}

// main reads the arguments and runs the command or answers --help and --version.
func (r *run) main() error {
	a, err := arrange(&r.common, r.root, r.p.Args)
	switch {
	case err != nil:
	case a.given["help"] || a.given["h"]:
		_, err = r.stdout.WriteString(helpText(a))
		return err
	case a.given["version"]:
		_, err = fmt.Fprintf(r.stdout, "%s %s\n", r.root.Name, Version())
		return err
	case a.given[describeFlag]:
		return describe(r.stdout, r.root)
	case a.cmd.Run == nil:
		err = usagef("%s is missing its command", r.root.Name)
	}
	errorsAs, _ := r.set.Lookup("errors")
	r.asJSON = a.given["json"] || a.given["jsonl"] || errorsAs.Value == "json"
	if err != nil {
		return err
	}
	var first error
	app := newApp(a, &first, func(ctx context.Context, args []string) error { return r.command(ctx, a, args) })
	err = app.RunContext(r.ctx, a.argv())
	if first != nil {
		return first
	}
	return err
}

// command settles the settings and the output and calls the command's Run.
func (r *run) command(ctx context.Context, a *arranged, args []string) error {
	if err := applySettings(r.set, a.fs, a.given); err != nil {
		return err
	}
	format, err := r.common.format()
	if err != nil {
		return err
	}
	r.asJSON = r.asJSON || format == JSON || format == JSONL
	r.out = r.printer(format)
	for _, w := range r.set.Warnings(names(a.fs)...) {
		r.out.Warn("%s", w)
	}
	if a.cmd.Signals && r.p.Notify != nil {
		ctx, r.stop = r.p.Notify(ctx)
		r.ctx = ctx
	}
	env := &Env{
		Args: args, Stdin: r.p.Stdin, Stdout: r.stdout, Stderr: r.p.Stderr, Settings: r.set, Out: r.out, Dir: r.p.Dir,
		Environ: r.p.Environ, StdinTerminal: r.p.StdinTerminal, StdoutTerminal: r.p.StdoutTerminal,
		StderrTerminal: r.p.StderrTerminal, ctx: ctx, cmd: a.cmd,
	}
	return a.cmd.Run(ctx, env)
}

func (r *run) printer(format Format) *Printer {
	if format == "" {
		format = JSONL
		if r.p.StdoutTerminal {
			format = Table
		}
	}
	p := &Printer{
		format: format, name: r.root.Name, out: r.stdout, stderr: r.p.Stderr, start: time.Now(),
		timeless: r.set.Getenv("SOURCE_DATE_EPOCH") != "", width: r.p.Width, colour: r.colour(),
		asJSON: r.asJSON,
	}
	p.lines = jsonl.NewWriter(r.stdout, jsonl.WithGrease(r.set.Getenv("OPENSPACE_GREASE")))
	return p
}

// colour decides as no-color.org and every terminal user expect; the flag wins.
func (r *run) colour() bool {
	switch r.common.color.value {
	case "always":
		return true
	case "never":
		return false
	}
	return r.p.StdoutTerminal && r.set.Getenv("TERM") != "dumb" && r.set.Getenv("NO_COLOR") == ""
}

// finish completes the output and returns what the run ended with: the command's error, else what went
// wrong with the output, else what became of the inputs.
func (r *run) finish(err error) error {
	if sig := r.signal(); sig != nil {
		err = sig
	}
	good := err == nil || errors.Is(err, wire.ErrNone)
	var outErr error
	if r.out != nil {
		outErr = r.out.close(good)
		if good && outErr == nil {
			err = r.out.outcome(err)
		}
	}
	if ferr := r.stdout.Flush(); outErr == nil {
		outErr = ferr
	}
	if c, ok := r.p.Stdout.(io.Closer); ok {
		if cerr := c.Close(); outErr == nil {
			outErr = cerr
		}
	}
	switch {
	case outErr == nil:
		return err
	case errors.Is(outErr, syscall.EPIPE):
		return outErr
	case !good && !errors.Is(err, outErr):
		return err
	}
	var path *os.PathError
	if errors.As(outErr, &path) {
		outErr = path.Err
	}
	failed := wire.Errorf(wire.Internal, "write results: %w", outErr)
	if errors.Is(outErr, syscall.ENOSPC) || errors.Is(outErr, syscall.EDQUOT) {
		return failed.WithHint("the disk is full; free space and run it again")
	}
	return failed
}

// signal returns the error of a run that a signal ended.
func (r *run) signal() error {
	var sig *signalError
	if r.ctx.Err() != nil && errors.As(context.Cause(r.ctx), &sig) {
		return wire.Errorf(wire.Canceled, "%w", sig)
	}
	return nil
}

// status is an exit status without a message: error records have said it all.
type status int

func (s status) Error() string { return "exit status " + strconv.Itoa(int(s)) }

// report writes the run's error to stderr and returns the exit status. It is the only place where errors
// become statuses.
func (r *run) report(err error) int {
	var st status
	var tooLong *jsonl.TooLongError
	switch {
	case err == nil:
		return wire.StatusOK
	case errors.Is(err, wire.ErrNone):
		return wire.StatusNone
	case errors.As(err, &st):
		return int(st)
	case errors.Is(err, syscall.EPIPE):
		return wire.StatusPipe
	case errors.As(err, &tooLong) && wire.CodeOf(err) == wire.Internal:
		err = wire.Errorf(wire.TooLong, "%w", err)
	}
	e := wire.AsError(err)
	e.Exit = e.Code.Exit()
	var sig *signalError
	if errors.As(err, &sig) && sig.sig == syscall.SIGTERM {
		e.Exit = wire.StatusTerminated
	}
	r.say(e)
	return e.Exit
}

func (r *run) say(e *wire.Error) {
	if r.asJSON {
		if line, err := jsonl.Marshal(e); err == nil {
			fmt.Fprintf(r.p.Stderr, "%s\n", line)
			return
		}
	}
	hint := e.Hint
	if e.Code == wire.Usage {
		see, mark := "see "+r.root.Name+" --help", "; "
		if strings.HasSuffix(hint, "?") {
			mark = " "
		}
		if hint != "" {
			see = hint + mark + see
		}
		hint = see
	}
	sayError(r.p.Stderr, r.root.Name, e.Message, hint)
}

// sayError writes a message and a hint for people, one line each.
func sayError(w io.Writer, name, message, hint string) {
	text := name + ": " + oneLine(message) + "\n"
	if hint != "" {
		text += name + ": hint: " + oneLine(hint) + "\n"
	}
	io.WriteString(w, text)
}
