// Package cli is the process boundary of every command: arguments, settings, input, output formats, error
// messages, exit statuses, help and version.
//
// It is the only place that knows urfave/cli, the environment and os.Exit. A command is a Command value; its
// Run gets an Env and returns an error. What it guarantees for all commands alike:
//
//   - stdout carries data only; everything else goes to stderr, a usage error as one message and status 2;
//   - flags may stand anywhere before "--" and a flag never takes another flag as its value;
//   - an error has one code and a code has one exit status, however deeply it is wrapped;
//   - output that could not be written is a failure, a reader that goes away is not worth a word;
//   - text from elsewhere cannot send control sequences to a terminal.
//
// docs/jsonl.md describes the same for people.
package cli

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/openspace-dev/openspace/pkg/lifeline"
)

// Command describes a command, or a verb of a command that has several.
type Command struct {
	Name   string // as typed
	Short  string // one line, no full stop
	Args   string // what follows the flags in the usage line, such as QUERY…
	Stdin  string // what is read from stdin, such as "queries, one a line"; empty: nothing is
	Manual string // the text of doc.go with its comment marks, or plain text
	Flags  func(fs *flag.FlagSet)
	Run    func(ctx context.Context, env *Env) error
	Verbs  []*Command // the Flags of a command that has verbs and no Run are flags of each verb; with a Run, which no verb means, they are its own
	// Signals is for commands that hold a lock, a temporary file or a child: the context of Run ends on INT
	// and TERM. Others end at once, which is right for a filter.
	Signals bool
}

// Process is what a command sees of its process.
type Process struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer // closed at the end when it is an io.Closer
	Stderr  io.Writer
	Environ []string
	Dir     string // the working directory
	Passwd  string // the file with the users' homes; "": none is asked

	StdinTerminal, StdoutTerminal, StderrTerminal bool
	Width                                         int // of the terminal in columns; 0: not known

	// Notify returns a context that ends with a *signalError as its cause; nil: signals are left alone.
	Notify func(context.Context) (context.Context, context.CancelFunc)
}

// Main runs c in this process and exits.
func Main(c *Command) { os.Exit(Execute(context.Background(), c, thisProcess())) }

// thisProcess returns the real process, which from now on does not outlive a command of the suite that started it.
func thisProcess() Process {
	environ, gone := lifeline.Watch(os.Environ())
	os.Unsetenv(lifeline.Variable)
	if gone != nil {
		go follow(gone)
	}
	dir, _ := os.Getwd()
	p := Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: environ, Dir: dir,
		Passwd:         "/etc/passwd",
		StdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Notify:         func(ctx context.Context) (context.Context, context.CancelFunc) { return notify(ctx, gone) },
	}
	if p.StdoutTerminal {
		p.Width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	return p
}

// grace is how long a process has to end when it is asked to because its starter is gone: as long as that would have given it.
const grace = 5 * time.Second

// follow ends this process when the one that started it is gone: as TERM would, and after a while for good.
func follow(gone <-chan struct{}) {
	<-gone
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		self.Signal(syscall.SIGTERM)
	}
	time.Sleep(grace)
	lifeline.End()
}

// signalError is the cause of a context that a signal ended.
type signalError struct {
	sig    os.Signal
	orphan bool // the signal is our own
}

func (e *signalError) Error() string {
	if e.orphan {
		return "canceled: the program that started this one is gone"
	}
	return "canceled by signal: " + e.sig.String()
}

// notify ends the context at the first INT or TERM; a second one ends the process. A signal that was
// ignored when the process started stays ignored. Gone tells whether the signal is that of follow.
func notify(parent context.Context, gone <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	go func() {
		select {
		case sig := <-c:
			cancel(&signalError{sig: sig, orphan: closed(gone)})
		case <-ctx.Done():
		}
		signal.Stop(c)
	}()
	return ctx, func() { cancel(context.Canceled) }
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
