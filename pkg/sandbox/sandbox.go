package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// Level is how much confinement is asked for, or was reached.
type Level string

const (
	Strict     Level = "strict"      // everything, or the command is not run
	BestEffort Level = "best-effort" // what this machine offers
	Off        Level = "off"         // limits and a clean end only
)

// ParseLevel reads a level; nothing is BestEffort.
func ParseLevel(s string) (Level, error) {
	switch level := Level(s); level {
	case "":
		return BestEffort, nil
	case Strict, BestEffort, Off:
		return level, nil
	}
	return "", fmt.Errorf("unknown sandbox level %q: it is one of strict, best-effort, off", s)
}

// ErrUnconfined is wrapped by errors of Start when Strict or Offline asked for more than there is.
var ErrUnconfined = errors.New("the sandbox is not complete")

// errOnline: a command that is to have no network cannot be run.
var errOnline = fmt.Errorf("%w: the network cannot be closed", ErrUnconfined)

// errMain tells the programmer what is missing: without Main the started launcher would be the program itself again.
var errMain = errors.New("this program cannot run commands: it does not call sandbox.Main first")

// armed is set by Main. Starting the launcher of a program that never calls Main would run the program in a circle.
var armed atomic.Bool

// Spec is a command and what it may do.
type Spec struct {
	Argv    []string // the program, absolute or found in the PATH of Environ, and its arguments
	Dir     string   // absolute working directory
	Environ []string // the whole environment

	Write []string // absolute: may be read, written and executed, with all below
	Read  []string // absolute: may be read and executed, with all below
	Home  string   // of the user: closed but for what Write and Read name
	Tmp   string   // a folder that stands in the place of /tmp and /var/tmp; empty: they are closed

	Limits Limits
	Level  Level // empty is BestEffort

	// Nested is for a program that confines parts of itself, as browsers do: it may make user namespaces and write what belongs to them in
	// /proc. For root it has no effect: to it, settings of the kernel would be open there.
	Nested bool

	// Offline: the command has no network, not even that of this machine. Start fails with ErrUnconfined where that cannot be had.
	Offline bool

	Stdout, Stderr *os.File   // nil is /dev/null
	Extra          []*os.File // the command has them as its files 3, 4, …; none may be nil
}

// Limits bound a command. Zero is no limit.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"`    // bytes that one process may allocate, and all of them together
	Processes int64 `json:"processes,omitempty"` // processes and threads at once
	FileSize  int64 `json:"file_size,omitempty"` // bytes of one file that it writes
}

// Report is what confinement a command has.
type Report struct {
	Level    Level    `json:"level"`              // strict when nothing is missing
	Landlock int      `json:"landlock,omitempty"` // the version of its interface, 0 without
	Missing  []string `json:"missing,omitempty"`  // what there is not, for people
}

// String tells the level and what is missing in one line.
func (r Report) String() string {
	if len(r.Missing) == 0 {
		return string(r.Level)
	}
	return string(r.Level) + ", without " + strings.Join(r.Missing, ", ")
}

// Exit is how the command itself ended, whatever it left behind.
type Exit struct {
	Code  int    `json:"code"`            // 128 and the signal's number when a signal ended it
	Left  bool   `json:"left,omitempty"`  // processes that it started go on
	Limit string `json:"limit,omitempty"` // the limit that ended it: memory or processes
}

// Start starts a command. When ctx ends, everything that it started is ended.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("start a command: it has no name")
	}
	if spec.Level == "" {
		spec.Level = BestEffort
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %q: %w", spec.Argv[0], err)
	}
	p, err := start(spec)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", spec.Argv[0], err)
	}
	stop := context.AfterFunc(ctx, p.Stop)
	go func() {
		<-p.ended
		stop()
	}()
	return p, nil
}

// Process is a command that was started.
type Process struct {
	Report Report

	exit   Exit          // valid once exited is closed
	exited chan struct{} // the command itself is over
	ended  chan struct{} // so is everything that it started
	stop   func()        // ends everything, returns at once
}

// Exited is closed when the command itself has ended; what it started may go on.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Ended is closed when nothing of the command is left.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit waits for the command itself and tells how it ended.
func (p *Process) Exit() Exit {
	<-p.exited
	return p.exit
}

// Stop ends the command and everything that it started, and waits until that is done.
func (p *Process) Stop() {
	p.stop()
	<-p.ended
}
