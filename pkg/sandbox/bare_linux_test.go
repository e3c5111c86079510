package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// bare marks a process of this test that can make no namespaces, as in many containers.
const bare = "OPENSPACE_TEST_BARE"

// withoutNamespaces runs the rest of a test where no namespaces can be made. It is false for the process that only started that.
func withoutNamespaces(t *testing.T) bool {
	t.Helper()
	if os.Getenv(bare) != "" {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			t.Skipf("namespaces cannot be closed: %v", err)
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), bare+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.Process == nil {
		t.Skipf("no user namespace for the test: %v", err)
	}
	if err != nil {
		t.Errorf("without namespaces: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	return false
}

// A command that shares our processes cannot get rid of what is to end it, and so does not outlive its task.
func TestGuards(t *testing.T) {
	if !withoutNamespaces(t) {
		return
	}
	for _, script := range []string{
		"kill -9 $PPID", "kill -STOP $PPID", "kill -9 -- -$PPID", "kill -9 -1",
		`kill -9 "$(sed -n 's/^PPid:.//p' /proc/$PPID/status)"`, "prlimit --cpu=0:0 --pid $PPID",
		`for t in /proc/$PPID/task/*; do kill -9 "${t##*/}"; done`,
	} {
		t.Run(script, func(t *testing.T) {
			mark := marked()
			s := spec(t, "(setsid sleep "+mark+" >/dev/null 2>&1 &) ; "+script+"; echo alive; sleep "+mark)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s.Stdout = w
			p, err := sandbox.Start(t.Context(), s)
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if p.Report.Level == sandbox.Strict {
				t.Fatalf("got level %s, want one without namespaces", p.Report.Level)
			}
			text := make([]byte, 100)
			n, err := r.Read(text)
			if got := string(text[:n]); got != "alive\n" {
				t.Errorf("got %q, %v, want the command to go on", got, err)
			}
			p.Stop()
			if n := running(t, mark); n != 0 {
				t.Errorf("got %d processes that outlive it, want none", n)
			}
			if exit := p.Exit(); exit.Code == 0 {
				t.Errorf("got %+v, want it to be ended", exit)
			}
		})
	}
}
