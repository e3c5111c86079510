//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

// Main is called first in the main function of every program that starts commands, and in TestMain. Only Linux needs
// a launcher.
func Main() { armed.Store(true) }

// start runs the command itself, in a process group of its own where there are such.
func start(spec Spec) (*Process, error) {
	if !armed.Load() {
		return nil, errMain
	}
	missing := []string{"any confinement on " + runtime.GOOS}
	if spec.Level == Strict {
		return nil, fmt.Errorf("%w: this machine lacks %s", ErrUnconfined, strings.Join(missing, ", "))
	}
	if spec.Offline {
		return nil, errOnline
	}
	path, err := LookPath(spec.Argv[0], spec.Environ)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: spec.Argv, Env: spec.Environ, Dir: spec.Dir, ExtraFiles: spec.Extra}
	if spec.Stdout != nil {
		cmd.Stdout = spec.Stdout
	}
	if spec.Stderr != nil {
		cmd.Stderr = spec.Stderr
	}
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{Report: Report{Level: Off, Missing: missing}, exited: make(chan struct{}), ended: make(chan struct{})}
	stopped := make(chan struct{})
	p.stop = sync.OnceFunc(func() {
		endGroup(cmd.Process)
		close(stopped)
	})
	go p.follow(cmd, stopped)
	return p, nil
}

// follow waits for the command and then for its group.
func (p *Process) follow(cmd *exec.Cmd, stopped <-chan struct{}) {
	err := cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.exit.Code = 1
	} else {
		p.exit.Code = exitCode(cmd.ProcessState)
	}
	p.exit.Left = groupAlive(cmd.Process)
	close(p.exited)
	awaitGroup(cmd.Process, stopped)
	close(p.ended)
}
