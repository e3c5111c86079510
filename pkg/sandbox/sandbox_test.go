package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// outcome is what a command wrote and how it ended.
type outcome struct {
	text   string
	exit   sandbox.Exit
	report sandbox.Report
}

// linux skips tests of what only Linux has.
func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a sandbox")
	}
}

func spec(t *testing.T, script string) sandbox.Spec {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"work", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	work, tmp := filepath.Join(dir, "work"), filepath.Join(dir, "tmp")
	return sandbox.Spec{
		Argv: []string{"sh", "-c", script}, Dir: work, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + tmp, "GORACE=" + os.Getenv("GORACE")},
		Write: []string{work, tmp}, Tmp: tmp, Home: home(t), Level: sandbox.BestEffort,
	}
}

func home(t *testing.T) string {
	t.Helper()
	dir, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command to its end and returns all that it wrote.
func run(t *testing.T, s sandbox.Spec) outcome {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.Stdout, s.Stderr = w, w
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p, err := sandbox.Start(ctx, s)
	w.Close()
	if err != nil {
		t.Fatalf("start %q: %v", s.Argv, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	return outcome{string(text), p.Exit(), p.Report}
}

func TestExitAndOutput(t *testing.T) {
	tests := []struct {
		name, script, want string
		code               int
	}{
		{"done", "echo hello", "hello\n", 0},
		{"status", "echo bad >&2; exit 3", "bad\n", 3},
		{"signal", "kill -9 $$", "", 137},
		{"nothing to read", "cat; echo over", "over\n", 0},
		{"home is given", `cd "$HOME" && : >x && ls x`, "x\n", 0},
	}
	for _, level := range []sandbox.Level{sandbox.BestEffort, sandbox.Off} {
		for _, tt := range tests {
			t.Run(string(level)+"/"+tt.name, func(t *testing.T) {
				s := spec(t, tt.script)
				s.Level = level
				if got := run(t, s); got.text != tt.want || got.exit.Code != tt.code || got.exit.Left {
					t.Errorf("got %q, %+v, want %q, code %d", got.text, got.exit, tt.want, tt.code)
				}
			})
		}
	}
}

func TestClosedPlaces(t *testing.T) {
	linux(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, script string }{
		{"write", "echo after >" + outside},
		{"remove", "rm " + outside},
		{"link", "ln -s " + outside + " l; echo after >l"},
		{"hard link", "ln " + outside + " l && echo after >l"},
		{"read", "cat " + outside},
		{"home", "ls -A ~root/.ssh " + home(t) + "/.ssh"},
		{"password hashes", "cat /etc/shadow"},
		{"settings of the kernel", "echo 1 >/proc/sys/kernel/ctrl-alt-del"},
		{"environment of the launcher", "cat /proc/$PPID/environ"},
		{"mount", "mount -t tmpfs x ."},
		{"namespaces", "unshare -U true"},
		{"processes outside", "kill -0 " + strconv.Itoa(os.Getpid())},
		{"owner", "touch f && chown 12345 f"},
		{"devices", "mknod d b 1 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, spec(t, tt.script))
			if got.exit.Code == 0 {
				t.Errorf("got success and %q, want a failure", got.text)
			}
			if text, err := os.ReadFile(outside); err != nil || string(text) != "before" {
				t.Fatalf("got %q (%v) outside, want it as before", text, err)
			}
			t.Log(strings.TrimSpace(got.text), got.report)
		})
	}
}

func TestOpenPlaces(t *testing.T) {
	linux(t)
	read := t.TempDir()
	if err := os.WriteFile(filepath.Join(read, "f"), []byte("skill\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	private := run(t, spec(t, "true")).report.Level == sandbox.Strict // whether /tmp is the command's own
	tests := []struct{ name, script, want string }{
		{"workspace", "mkdir a && echo x >a/f && mv a/f g && cat g", "x\n"},
		{"a declared folder", "cat " + read + "/f", "skill\n"},
		{"temporary files", "echo t >/tmp/f && cat /tmp/f && cat \"$HOME/f\"", "t\nt\n"},
		{"shared memory", "echo s >/dev/shm/f && cat /dev/shm/f", "s\n"},
		{"devices", "echo x >/dev/null && head -c 4 /dev/zero | wc -c", "4\n"},
		{"own processes", "ls -d /proc/1 && ! ls -d /proc/" + strconv.Itoa(os.Getpid()) + " 2>/dev/null", "/proc/1\n"},
		{"names", "cat /etc/resolv.conf >/dev/null && echo ok", "ok\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !private && slices.Contains([]string{"temporary files", "shared memory", "own processes"}, tt.name) {
				t.Skip("this machine has no private mounts")
			}
			s := spec(t, tt.script)
			s.Read = []string{read}
			if got := run(t, s); got.text != tt.want {
				t.Errorf("got %q, want %q (%s)", got.text, tt.want, got.report)
			}
		})
	}
	if _, err := os.Stat("/tmp/f"); err == nil {
		t.Error("a temporary file of a command is outside")
	}
}

// A command that leaves processes behind is over at once; they go on until they are stopped, and then all are gone.
func TestWhatIsLeft(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.BestEffort, sandbox.Off} {
		t.Run(string(level), func(t *testing.T) {
			mark := marked()
			s := spec(t, fmt.Sprintf("sleep %s & (setsid sleep %[1]s &) ; exit 4", mark))
			s.Level = level
			p, err := sandbox.Start(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if exit := p.Exit(); exit.Code != 4 || !exit.Left {
				t.Errorf("got %+v, want code 4 and something left", exit)
			}
			select {
			case <-p.Ended():
				t.Error("it has ended, want it to go on")
			case <-time.After(50 * time.Millisecond):
			}
			p.Stop()
			if n := running(t, mark); n != 0 {
				t.Errorf("got %d processes that outlive it, want none", n)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.BestEffort, sandbox.Off} {
		mark := marked()
		s := spec(t, fmt.Sprintf("trap '' TERM; sleep %s; sleep %[1]s", mark))
		s.Level = level
		ctx, cancel := context.WithCancel(t.Context())
		p, err := sandbox.Start(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		<-p.Ended()
		if n := running(t, mark); n != 0 {
			t.Errorf("%s: got %d processes that outlive it, want none", level, n)
		}
	}
}

var marks atomic.Int64

// marked is how long a command sleeps: about a minute, and as long as no other, so that it is known by it among all processes
// of the machine, also those of other runs of these tests.
func marked() string { return fmt.Sprintf("61.%07d%05d", os.Getpid(), marks.Add(1)) }

// running counts processes that have a word in their command line.
func running(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && slices.Contains(strings.Split(string(text), "\x00"), word) {
			n++
		}
	}
	return n
}

func TestStartRefuses(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		edit func(*sandbox.Spec)
		want string
	}{
		{"no command", t.Context(), func(s *sandbox.Spec) { s.Argv = nil }, "it has no name"},
		{"unknown command", t.Context(), func(s *sandbox.Spec) { s.Argv = []string{"no-such-program"} }, `find "no-such-program" in PATH`},
		{"no folder", t.Context(), func(s *sandbox.Spec) { s.Dir += "/missing" }, "no such file"},
		{"canceled", canceled, func(*sandbox.Spec) {}, "context canceled"},
		{"not a program", t.Context(), func(s *sandbox.Spec) { s.Argv = []string{"/etc/passwd"} }, "permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := spec(t, "true")
			tt.edit(&s)
			_, err := sandbox.Start(tt.ctx, s)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	s := spec(t, "echo ok")
	s.Level = sandbox.Strict
	p, err := sandbox.Start(t.Context(), s)
	if errors.Is(err, sandbox.ErrUnconfined) {
		t.Skipf("this machine cannot: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if p.Report.Level != sandbox.Strict || len(p.Report.Missing) > 0 {
		t.Errorf("got %+v, want strict and nothing missing", p.Report)
	}
}

// A command without a network does not even reach this machine; without confinement there is none such.
func TestOffline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := spec(t, fmt.Sprintf("(exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && echo reached || echo not", l.Addr().(*net.TCPAddr).Port))
	s.Argv[0] = "bash"
	if got := run(t, s); got.text != "reached\n" {
		t.Errorf("got %q, want it reached", got.text)
	}
	s.Offline, s.Level = true, sandbox.Off
	if _, err := sandbox.Start(t.Context(), s); !errors.Is(err, sandbox.ErrUnconfined) {
		t.Errorf("got %v, want ErrUnconfined", err)
	}
	s.Level = sandbox.BestEffort
	p, err := sandbox.Start(t.Context(), s)
	if errors.Is(err, sandbox.ErrUnconfined) {
		t.Skipf("this machine cannot: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if got := run(t, s); got.text != "not\n" {
		t.Errorf("got %q, want it not reached", got.text)
	}
}

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]sandbox.Level{"": sandbox.BestEffort, "strict": sandbox.Strict, "off": sandbox.Off} {
		if got, err := sandbox.ParseLevel(text); err != nil || got != want {
			t.Errorf("%q: got %q (%v), want %q", text, got, err, want)
		}
	}
	if _, err := sandbox.ParseLevel("on"); err == nil || !strings.Contains(err.Error(), "best-effort") {
		t.Errorf("got %v, want an error that names the levels", err)
	}
}

func BenchmarkStart(b *testing.B) {
	for _, level := range []sandbox.Level{sandbox.BestEffort, sandbox.Off} {
		b.Run("level="+string(level), func(b *testing.B) {
			dir := b.TempDir()
			s := sandbox.Spec{Argv: []string{"/bin/true"}, Dir: dir, Write: []string{dir}, Tmp: dir, Level: level, Home: "/root"}
			for b.Loop() {
				p, err := sandbox.Start(b.Context(), s)
				if err != nil {
					b.Fatal(err)
				}
				<-p.Ended()
			}
		})
	}
}

func TestExtraFiles(t *testing.T) {
	s := spec(t, `read line <&3; echo "$line and more" >&4; for n in 5 6; do test -e /proc/$$/fd/$n && echo "it has $n"; done`)
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	s.Extra = []*os.File{inRead, outWrite}
	if _, err := inWrite.WriteString("a line\n"); err != nil {
		t.Fatal(err)
	}
	got := run(t, s)
	inRead.Close()
	outWrite.Close()
	if answer, err := io.ReadAll(outRead); err != nil || string(answer) != "a line and more\n" {
		t.Errorf("the command wrote %q to its extra file (%v), want %q", answer, err, "a line and more\n")
	}
	if got.text != "" {
		t.Errorf("the command has files of the launcher: %s", got.text)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// A program that confines parts of itself may do that, unless it is root: to root the kernel's settings would be open.
func TestNested(t *testing.T) {
	linux(t)
	s := spec(t, `test -w /proc/sys/kernel/core_pattern && echo settings; unshare -U -r true 2>/dev/null && echo nested; true`)
	s.Nested = true
	got := run(t, s)
	if strings.Contains(got.text, "settings") || os.Getuid() == 0 && strings.Contains(got.text, "nested") {
		t.Errorf("as user %d the command can use: %s", os.Getuid(), got.text)
	}
	if len(got.report.Missing) == 0 && os.Getuid() != 0 && !strings.Contains(got.text, "nested") {
		t.Errorf("the command cannot confine parts of itself")
	}
}
