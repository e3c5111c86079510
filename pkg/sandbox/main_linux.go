package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// launcherName is the name (argument zero) under which a program is started as launcher.
const launcherName = "openspace-sandbox"

// Files that the launcher inherits.
const (
	lifeline = 3 // a pipe that nobody writes to: its end is the order to end everything
	newsdesk = 4 // a pipe to the starter: a line for the report, one for the end of the command
)

// Main is called first in the main function of every program that starts commands, and in TestMain. In the launcher
// it does not return; in every other process it does nothing.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != launcherName {
		armed.Store(true)
		return
	}
	unix.CloseOnExec(lifeline)
	unix.CloseOnExec(newsdesk)
	l := &launcher{news: os.NewFile(newsdesk, "news")}
	var err error
	aside(func() { err = l.start(os.Args[1]) })
	if err != nil {
		l.tell(news{Error: err.Error(), Strict: errors.Is(err, ErrUnconfined)})
		os.Exit(1)
	}
	l.stay()
	os.Exit(0)
}

// aside runs a function on a thread that then ends, and is not the first one. What confines the command is set for that
// thread alone, so that the launcher stays outside of it: a thread inside would be within reach of the command's signals,
// and the launcher could be killed through it.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			aside(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// launcher confines itself, starts the command and stays until nothing of it is left. In a process namespace it is
// the first process, with which the kernel ends all others.
type launcher struct {
	order  order
	news   *os.File
	report Report
	child  int
}

func (l *launcher) tell(n news) {
	text, err := json.Marshal(n)
	if err == nil {
		l.news.Write(append(text, '\n')) // whoever started this may be gone: then everything ends soon
	}
}

// start confines this thread and starts the command from it.
func (l *launcher) start(text string) error {
	if err := json.Unmarshal([]byte(text), &l.order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if err := l.confine(); err != nil {
		return err
	}
	child, err := syscall.ForkExec(l.order.Argv[0], l.order.Argv, &syscall.ProcAttr{
		Dir: l.order.Dir, Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("run %q in %q: %w", l.order.Argv[0], l.order.Dir, err)
	}
	l.child = child
	return nil
}

// stay waits for the end of everything.
func (l *launcher) stay() {
	l.tell(news{Report: &l.report})
	letGo()
	go l.watch()
	go l.holdOn()
	l.reap()
}

// letGo gives up the files of the command, so that its pipes end with it.
func letGo() {
	if null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		unix.Dup3(null, 1, 0)
		unix.Dup3(null, 2, 0)
		unix.Close(null)
	}
}

// holdOn ends everything when whoever started this says so or is gone.
func (l *launcher) holdOn() {
	var b [1]byte
	for {
		if _, err := unix.Read(lifeline, b[:]); err != unix.EINTR {
			break
		}
	}
	signalAll(l.order.Namespaces, unix.SIGTERM)
	time.Sleep(grace)
	l.end()
}

// end ends every process and then this one.
func (l *launcher) end() {
	for range 50 {
		signalAll(l.order.Namespaces, unix.SIGKILL)
		if l.order.Namespaces || len(descendants()) == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	os.Exit(0)
}

// reap waits for processes until there is none. It tells of the command's own end at once.
func (l *launcher) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil: // no child is left
			return
		case pid == l.child:
			l.tell(news{Exit: &Exit{Code: code(status), Left: anyChild()}})
		}
	}
}

// anyChild reaps what has ended and tells whether a child is left.
func anyChild() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.EINTR || err == nil && pid > 0 {
			continue
		}
		return err == nil
	}
}

func code(status unix.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// confine sets up all that the level asks for, and notes what could not be.
func (l *launcher) confine() error {
	o := l.order
	hold(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // when memory ends, this goes before other programs
	if o.Level == Off {
		l.report.Level = Off
		return l.limit()
	}
	private := false
	if o.Namespaces {
		private = l.note(l.view(), "private mounts")
		if private {
			l.note(l.freeze(), "read-only mounts")
		}
	} else {
		l.note(errors.New("refused"), "namespaces")
	}
	if err := l.limit(); err != nil {
		return err
	}
	l.note(dropRights(), "dropped capabilities")
	l.report.Landlock = l.landlock(private)
	l.note(filterCalls(private), "system call filter")
	hold(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)) // its files and memory are not for the command
	l.report.Level = Strict
	if len(l.report.Missing) == 0 {
		return nil
	}
	l.report.Level = BestEffort
	if o.Level == Strict {
		return fmt.Errorf("%w: this machine lacks %s", ErrUnconfined, strings.Join(l.report.Missing, ", "))
	}
	return nil
}

// note keeps what is missing and tells whether it is there.
func (l *launcher) note(err error, what string) bool {
	if err != nil {
		l.report.Missing = append(l.report.Missing, fmt.Sprintf("%s (%v)", what, err))
	}
	return err == nil
}

// hold takes an error that cannot be on any kernel that is supported.
func hold(err error) {
	if err != nil {
		panic(err)
	}
}

// leastMemory is the smallest limit that the kernel keeps: it holds for the launcher as well, which needs some of it.
// The watcher keeps smaller ones.
const leastMemory = 256 << 20

// limit sets the limits that the kernel keeps.
func (l *launcher) limit() error {
	set := func(resource int, n int64) error {
		if n <= 0 {
			return nil
		}
		var old unix.Rlimit
		if err := unix.Getrlimit(resource, &old); err != nil {
			return err
		}
		top := min(uint64(n), old.Max)
		return unix.Setrlimit(resource, &unix.Rlimit{Cur: top, Max: top})
	}
	limits := l.order.Limits
	err := errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}),
		set(unix.RLIMIT_FSIZE, limits.FileSize))
	if limits.Memory > 0 {
		err = errors.Join(err, set(unix.RLIMIT_DATA, max(limits.Memory, leastMemory)))
	}
	// Elsewhere than in a namespace of its own, all processes of the user would count.
	if l.order.Namespaces {
		err = errors.Join(err, set(unix.RLIMIT_NPROC, limits.Processes))
	}
	if err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	return nil
}

// dropRights gives up every capability, for ever.
func dropRights() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
