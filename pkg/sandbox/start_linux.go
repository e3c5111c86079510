package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// grace is how long processes have between SIGTERM and SIGKILL. The launcher keeps it; start waits twice as long
// for the launcher itself.
const grace = 300 * time.Millisecond

// namespaces that a command gets: its own user, so that it has no rights elsewhere; processes, so that all of them
// end with the first; mounts, so that places can be hidden; and System V IPC. The network stays shared unless a command
// is to have none.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC

// order is what the launcher is told, as its only argument.
type order struct {
	Argv       []string `json:"argv"`
	Dir        string   `json:"dir"`
	Write      []string `json:"write"`
	Read       []string `json:"read"`
	Home       string   `json:"home"`
	Tmp        string   `json:"tmp"`
	Limits     Limits   `json:"limits"`
	Level      Level    `json:"level"`
	Extra      int      `json:"extra,omitempty"` // files of the command beside the usual three, behind those of the launcher
	Nested     bool     `json:"nested,omitempty"`
	Closed     []string `json:"closed,omitempty"` // parts of what is readable that are not
	Namespaces bool     `json:"namespaces"`
}

// news is a line from the launcher.
type news struct {
	Report *Report `json:"report,omitempty"`
	Exit   *Exit   `json:"exit,omitempty"`
	Error  string  `json:"error,omitempty"`
	Strict bool    `json:"strict,omitempty"` // the error is ErrUnconfined
}

// start tries with namespaces and, where the system refuses them, without.
func start(spec Spec) (*Process, error) {
	if !armed.Load() {
		return nil, errMain
	}
	o, err := newOrder(spec)
	if err != nil {
		return nil, err
	}
	if spec.Level != Off {
		o.Namespaces = true
		p, err := launch(spec, o)
		if err == nil || !errors.Is(err, errClone) {
			return p, err
		}
		o.Namespaces = false
	}
	if spec.Offline {
		return nil, errOnline
	}
	return launch(spec, o)
}

// errClone marks that the launcher could not be started, perhaps for its namespaces.
var errClone = errors.New("start the launcher")

func newOrder(spec Spec) (order, error) {
	o := order{Argv: spec.Argv, Home: real(spec.Home), Tmp: real(spec.Tmp), Limits: spec.Limits, Level: spec.Level, Extra: len(spec.Extra)}
	o.Nested = spec.Nested && os.Getuid() != 0
	dir, err := filepath.EvalSymlinks(spec.Dir)
	if err != nil {
		return o, fmt.Errorf("working directory: %w", err)
	}
	o.Dir = dir
	for _, path := range spec.Write {
		o.Write = append(o.Write, real(path))
	}
	for _, path := range spec.Read {
		o.Read = append(o.Read, real(path))
	}
	if os.Getuid() == 0 {
		o.Closed = closedParts()
	}
	o.Argv = slices.Clone(spec.Argv)
	o.Argv[0], err = LookPath(spec.Argv[0], spec.Environ)
	return o, err
}

// real resolves links where the path exists.
func real(path string) string {
	if path == "" {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// launch starts the launcher and waits until it has started the command.
func launch(spec Spec, o order) (*Process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	lifeRead, lifeWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer lifeRead.Close()
	newsRead, newsWrite, err := os.Pipe()
	if err != nil {
		lifeWrite.Close()
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{launcherName, string(text)},
		Env: append([]string{}, spec.Environ...), Dir: "/",
		ExtraFiles: append([]*os.File{lifeRead, newsWrite}, spec.Extra...), SysProcAttr: attributes(o.Namespaces, spec.Offline),
	}
	// A nil *os.File in the interface would not be nil to exec.
	if spec.Stdout != nil {
		cmd.Stdout = spec.Stdout
	}
	if spec.Stderr != nil {
		cmd.Stderr = spec.Stderr
	}
	err = cmd.Start()
	newsWrite.Close()
	if err != nil {
		lifeWrite.Close()
		newsRead.Close()
		return nil, fmt.Errorf("%w: %w", errClone, err)
	}
	return await(cmd, lifeWrite, newsRead)
}

func attributes(spaces, offline bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if !spaces {
		return a
	}
	a.Cloneflags = namespaces
	if offline {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	// A user other than root loses by exec the rights that the namespace gave; the launcher mounts, and gives them up.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_RESOURCE}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	return a
}

// await reads the first news, which is the report or why there is none, and leaves the rest to a goroutine.
func await(cmd *exec.Cmd, life, status *os.File) (*Process, error) {
	p := &Process{exited: make(chan struct{}), ended: make(chan struct{})}
	p.stop = stopper(cmd, life, p.ended)
	in := bufio.NewReader(status)
	first, err := nextNews(in)
	if err != nil || first.Report == nil {
		life.Close()
		cmd.Process.Kill()
		cmd.Wait()
		status.Close()
		switch {
		case err != nil:
			return nil, fmt.Errorf("the launcher ended before it told anything (%v)", cmd.ProcessState)
		case first.Strict:
			return nil, fmt.Errorf("%w: %s", ErrUnconfined, first.Error)
		}
		return nil, errors.New(first.Error)
	}
	p.Report = *first.Report
	go p.follow(cmd, life, status, in)
	return p, nil
}

// follow waits for the end of the command and of the launcher.
func (p *Process) follow(cmd *exec.Cmd, life, status *os.File, in *bufio.Reader) {
	p.exit = Exit{Code: 128 + int(unix.SIGKILL)} // when the launcher is killed it cannot tell
	if n, err := nextNews(in); err == nil && n.Exit != nil {
		p.exit = *n.Exit
	}
	close(p.exited)
	cmd.Wait()
	status.Close()
	life.Close()
	close(p.ended)
}

func nextNews(in *bufio.Reader) (news, error) {
	var n news
	line, err := in.ReadBytes('\n')
	if err != nil {
		return n, err
	}
	return n, json.Unmarshal(line, &n)
}

// stopper returns what ends a launcher: the end of its lifeline, and after a while SIGKILL.
func stopper(cmd *exec.Cmd, life *os.File, ended <-chan struct{}) func() {
	return func() {
		life.Close()
		select {
		case <-ended:
		case <-time.After(2 * grace):
			cmd.Process.Kill()
		}
	}
}
