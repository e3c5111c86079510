//go:build unix

package lifeline_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/lifeline"
)

// role tells this program, started once more, what it is.
const role = "LIFELINE_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "starter":
		start()
	case "watcher":
		watch()
	case "leader":
		lead()
	default:
		os.Exit(m.Run())
	}
}

// again starts this program in another role, with the output of this one.
func again(as string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{role + "=" + as, "PATH=" + os.Getenv("PATH")}, os.Stdout, os.Stderr
	return cmd
}

// start starts a process that watches this one, and waits for ever.
func start() {
	cmd := again("watcher")
	line, err := lifeline.Start(cmd)
	if err != nil {
		panic(err)
	}
	defer line.Close()
	cmd.Wait()
}

// watch tells what it has got and what it hands on, and then when its starter is gone.
func watch() {
	environ, gone := lifeline.Watch(os.Environ())
	fmt.Println("watches", gone != nil)
	fmt.Println("variable", slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, lifeline.Variable+"=") }))
	child := exec.Command("sh", "-c", "(: <&3) 2>/dev/null && echo inherited true || echo inherited false")
	child.Env, child.Stdout = environ, os.Stdout
	if err := child.Run(); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	<-gone
	fmt.Println("gone")
}

// lead ends with its group as soon as another process of it runs.
func lead() {
	child := exec.Command("sh", "-c", "echo up; echo up >&3; exec sleep 600 3>&-")
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	child.Stdout, child.ExtraFiles = os.Stdout, []*os.File{w}
	if err := child.Start(); err != nil {
		panic(err)
	}
	r.Read(make([]byte, 1))
	lifeline.End()
}

// The end of a process that leads its group is the end of the group.
func TestEnd(t *testing.T) {
	cmd := again("leader")
	cmd.Stdout, cmd.SysProcAttr = nil, &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.Output() // also the other process's
	if string(out) != "up\n" || cmd.ProcessState.String() != "signal: killed" {
		t.Errorf("got %q, %v, want it killed", out, err)
	}
}

// A process learns that its starter was killed, and hands on neither the pipe nor the variable.
func TestStarterKilled(t *testing.T) {
	cmd := again("starter")
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		got = append(got, lines.Text())
		if lines.Text() == "ready" {
			cmd.Process.Kill()
		}
	}
	if want := []string{"watches true", "variable false", "inherited false", "ready", "gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cmd.Wait()
}

// What the variable names by chance is left alone: neither watched nor closed in what is started.
func TestStaleVariable(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, value := range []string{"", ":", "x:y", "0:1", "-1:0", "99999:1", fmt.Sprintf("%d:1", r.Fd()), fmt.Sprintf("%d", r.Fd()), fmt.Sprintf("%d:%d", file.Fd(), inode(t, file))} {
		rest, gone := lifeline.Watch([]string{"A=b", lifeline.Variable + "=" + value, "OPENSPACE_LIFELINE_OF=x"})
		if gone != nil || !slices.Equal(rest, []string{"A=b", "OPENSPACE_LIFELINE_OF=x"}) {
			t.Errorf("%q: got %v, %q", value, gone != nil, rest)
		}
	}
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the pipe was touched: %v", err)
	}
}

func inode(t *testing.T, f *os.File) uint64 {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	return uint64(stat.Ino)
}

// A command that cannot be started is an error, and needs nothing closed.
func TestNoCommand(t *testing.T) {
	if line, err := lifeline.Start(exec.Command("/nowhere/command")); err == nil || line != nil {
		t.Errorf("got %v, %v", line, err)
	}
}
