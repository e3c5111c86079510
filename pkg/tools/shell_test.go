package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// shellEnv is an environment whose commands run here.
func shellEnv(t *testing.T, edit func(*tools.Env)) *tools.Env {
	t.Helper()
	dir := t.TempDir()
	e := &tools.Env{Workspace: filepath.Join(dir, "work"), OutputDir: filepath.Join(dir, "outputs"), Environ: os.Environ()}
	if err := os.Mkdir(e.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(e)
	}
	t.Cleanup(e.Close)
	return e
}

// call calls a tool of an environment.
func call(t *testing.T, e *tools.Env, name string, args map[string]any) tools.Result {
	t.Helper()
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return set.Run(t.Context(), tools.Call{ID: "1", Name: name, Args: text})
}

// patience is for what must happen some time, on a machine that is busy and with the race detector.
const patience = 2 * time.Minute

// eventually waits for what comes by itself, and tells whether it came.
func eventually(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// sh runs a command with the default environment.
func sh(t *testing.T, command string) tools.Result {
	t.Helper()
	return call(t, shellEnv(t, nil), "run_shell", map[string]any{"command": command})
}

func wants(t *testing.T, r tools.Result, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(r.Content, part) {
			t.Errorf("got %q, want %q in it", r.Content, part)
		}
	}
}

func TestShellTellsHowItEnded(t *testing.T) {
	tests := []struct {
		name, command string
		code          int
		want          []string
	}{
		{"output", "echo hello", 0, []string{"hello\n[exit 0]"}},
		{"failure without words", "false", 1, []string{"[exit 1]"}},
		{"errors", "ls /missing", 2, []string{"/missing", "No such file", "[stderr]", "[exit 2]"}},
		{"both", "echo a; echo b >&2; exit 3", 3, []string{"a\n[stderr]\nb\n[exit 3]"}},
		{"no line end", "printf x", 0, []string{"x\n[exit 0]"}},
		{"signal", "kill -9 $$", 137, []string{"[exit 137: killed]"}},
		{"comment with apostrophe", "# don't\necho ok", 0, []string{"ok"}},
		{"pipe of bash", "set -o pipefail; false | cat", 1, []string{"[exit 1]"}},
		{"workspace", "basename \"$PWD\"", 0, []string{"work"}},
		{"long script", "echo start; : " + strings.Repeat("x", 100_000), 0, []string{"start"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sh(t, tt.command)
			wants(t, r, tt.want...)
			if r.Shell == nil || r.Shell.ExitCode != tt.code || r.Failed() != (tt.code != 0) {
				t.Errorf("got %+v, error %q, want exit code %d", r.Shell, r.Error, tt.code)
			}
		})
	}
}

// SH-01: nothing waits for input.
func TestSH01_NoInput(t *testing.T) {
	for _, command := range []string{"cat", "read x", "head -n 1", "python3 -c 'input()'", "sudo -k true"} {
		start := time.Now()
		r := sh(t, command)
		if took := time.Since(start); took > patience/2 || r.Shell == nil || r.Shell.TimedOut {
			t.Errorf("%s: got %+v after %s, want an end at once", command, r, took)
		}
	}
}

// SH-02: a command in the background does not hold the call, is listed and can be stopped.
func TestSH02_Background(t *testing.T) {
	e := shellEnv(t, nil)
	start := time.Now()
	r := call(t, e, "run_shell", map[string]any{"command": "sleep 73.5 & echo started"})
	if took := time.Since(start); took > time.Minute {
		t.Errorf("got it after %s, want it at once", took)
	}
	wants(t, r, "started\n[exit 0]", "job-1")
	eventually(func() bool { return processes(t, "73.5") == 1 }) // it may not have begun
	if r.Failed() || r.Shell.Job != "job-1" || processes(t, "73.5") != 1 {
		t.Errorf("got %+v and %d processes, want job-1 that goes on", r.Shell, processes(t, "73.5"))
	}
	wants(t, call(t, e, "job", map[string]any{"action": "list"}), "job-1", "what it started goes on", "sleep 73.5")
	wants(t, call(t, e, "job", map[string]any{"action": "stop", "job": "job-1"}), "job-1 is over")
	if n := processes(t, "73.5"); n != 0 {
		t.Errorf("got %d processes after the stop, want none", n)
	}
}

func TestBackgroundJob(t *testing.T) {
	e := shellEnv(t, nil)
	r := call(t, e, "run_shell", map[string]any{"command": "echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 5", "background": true})
	wants(t, r, "goes on in the background as job-1", "job output job-1")
	said := r.Content
	eventually(func() bool {
		r := call(t, e, "job", map[string]any{"action": "output", "job": "job-1"})
		wants(t, r, "[job-1 runs]")
		said += r.Content
		return strings.Contains(said, "one\n")
	})
	if strings.Count(said, "one\n") != 1 {
		t.Errorf("got %q, want each line once", said)
	}
	call(t, e, "run_shell", map[string]any{"command": "touch go"})
	wants(t, call(t, e, "run_shell", map[string]any{"command": "job list"}), "job-1", "until [ -e go ]")
	r = call(t, e, "run_shell", map[string]any{"command": " job output job-1 60\n"})
	wants(t, r, "two\n", "job-1 is over (exit 5)")
	if strings.Contains(r.Content, "one") {
		t.Errorf("got %q, want only what is new", r.Content)
	}
	if r := call(t, e, "job", map[string]any{"action": "stop", "job": "job-9"}); !r.Failed() || !strings.Contains(r.Content, "job-1") {
		t.Errorf("got %q, want a failure that lists the jobs", r.Content)
	}
	if r := call(t, e, "run_shell", map[string]any{"command": "job description"}); r.Code != tools.Exited { // a program of this name
		t.Errorf("got %q, want bash to be asked", r.Content)
	}
	var failing tools.Result
	if !eventually(func() bool { // a busy machine may not even have begun it when it is first looked at
		failing = call(t, e, "run_shell", map[string]any{"command": "exit 7", "background": true})
		return failing.Shell.ExitCode == 7 && failing.Shell.Job == ""
	}) {
		t.Errorf("got %+v, want a command that failed at once to be told so", failing.Shell)
	}
}

// Close ends what still runs and removes what commands wrote outside the workspace.
func TestCloseEndsJobs(t *testing.T) {
	e := shellEnv(t, nil)
	r := call(t, e, "run_shell", map[string]any{"command": "mkdir -p $TMPDIR/a/b && chmod 500 $TMPDIR/a; echo $TMPDIR; sleep 74.5 & (setsid sleep 74.5 &)"})
	tmp, _, _ := strings.Cut(r.Shell.Stdout, "\n")
	e.Close()
	if n := processes(t, "74.5"); n != 0 {
		t.Errorf("got %d processes after the end, want none", n)
	}
	if _, err := os.Stat(tmp); err == nil || !filepath.IsAbs(tmp) {
		t.Errorf("got the folder %q still there (%v), want it removed", tmp, err)
	}
	if r := call(t, e, "run_shell", map[string]any{"command": "true"}); !r.Failed() {
		t.Error("got a command to run after the end, want a refusal")
	}
}

// SH-03: the limit ends everything, with bash and with dash.
func TestSH03_Limit(t *testing.T) {
	for _, script := range []string{"sleep 75.5", "sleep 75.5; true", "(sleep 75.5)", "sleep 75.5 | cat", "sleep 75.5 & wait", "setsid -w sleep 75.5", "trap '' TERM; sleep 75.5; sleep 75.5"} {
		for _, shell := range []string{"bash", "dash"} {
			if _, err := exec.LookPath(shell); err != nil {
				t.Logf("no %s here", shell)
				continue
			}
			start := time.Now()
			r := call(t, shellEnv(t, nil), "run_shell", map[string]any{"command": shell + " -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'", "timeout": 0.3})
			if took := time.Since(start); took > time.Minute || !r.Shell.TimedOut || r.Code != tools.TimedOut {
				t.Errorf("%s: %s: got %+v (%s) after %s, want it timed out", shell, script, r.Shell, r.Code, took)
			}
			wants(t, r, "timed out after 300ms")
		}
	}
	if n := processes(t, "75.5"); n != 0 {
		t.Errorf("got %d processes left, want none", n)
	}
}

// SH-04: memory stays flat, head and tail are shown, the rest is in a file; what never ends is ended.
func TestSH04_LargeOutput(t *testing.T) {
	e := shellEnv(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := call(t, e, "run_shell", map[string]any{"command": "seq 1 2000000"})
	runtime.ReadMemStats(&after)
	wants(t, r, "1\n2\n3\n", "\n2000000\n", "bytes left out", "all of it is in "+r.FullPath)
	if len(r.Content) > 40_000 || r.LeftOut < 14_000_000 {
		t.Errorf("got %d bytes, %d left out, want a part only", len(r.Content), r.LeftOut)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("got %d MiB more memory, want it flat", grown>>20)
	}
	if info, err := os.Stat(r.FullPath); err != nil || info.Size() != 14_888_896 || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v (%v), want 14888896 bytes, for the user only", info, err)
	}
	wants(t, call(t, e, "run_shell", map[string]any{"command": "tail -n 1 " + r.FullPath}), "2000000\n[exit 0]")
	r = call(t, e, "run_shell", map[string]any{"command": "yes"})
	wants(t, r, "y\ny\n", "wrote more than 64 MiB")
	if !r.Failed() || r.Shell.TimedOut {
		t.Errorf("got %q, want it ended for its output", r.Error)
	}
}

// SH-05: no colours, no progress; raw on request.
func TestSH05_Terminal(t *testing.T) {
	const script = `printf '\033[31mred\033[0m\n'; for i in 1 2 3; do printf '\r%s%%' $i; done; echo; printf 'ab\bc\n'; printf '\033]0;title\007x\r\ny\n'; printf 'caf\351 \xff\n'`
	r := sh(t, script)
	if want := "red\n3%\nac\nx\ny\ncaf\\xe9 \\xff\n[exit 0]"; r.Content != want {
		t.Errorf("got %q, want %q", r.Content, want)
	}
	raw := call(t, shellEnv(t, nil), "run_shell", map[string]any{"command": script, "raw": true})
	wants(t, raw, "\x1b[31mred\x1b[0m\n", "\r1%\r2%\r3%\n")
}

func TestBinaryOutput(t *testing.T) {
	r := sh(t, `printf 'a\0b\377'; head -c 100000 /dev/zero`)
	wants(t, r, "[100004 bytes that are no text; all of it is in "+r.FullPath)
	if info, err := os.Stat(r.FullPath); err != nil || info.Size() != 100004 {
		t.Errorf("got %v (%v), want the bytes in the file", info, err)
	}
}

// SH-06: keys of the agent are not in the environment of commands.
func TestSH06_Environment(t *testing.T) {
	e := shellEnv(t, func(e *tools.Env) {
		e.Environ = append(os.Environ(), "OPENAI_API_KEY=canary1", "OPENSPACE_API_KEY=canary2", "MY_TOKEN=canary3", "WANTED=given")
		e.PassEnv = []string{"WANTED"}
	})
	r := call(t, e, "run_shell", map[string]any{"command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; x=/proc; cat $x/[0-9]*/task/*/environ | tr '\\0' '\\n'"})
	if strings.Contains(r.Content, "canary") {
		t.Errorf("got %q, want no canary", r.Content)
	}
	wants(t, r, "WANTED=given", "PATH=", "GIT_TERMINAL_PROMPT=0")
}

// SH-07: secrets in output are masked, also in the file with the whole.
func TestSH07_Secrets(t *testing.T) {
	e := shellEnv(t, func(e *tools.Env) { e.Mask = tools.NewMask("known-secret-value") })
	key := "ghp_" + strings.Repeat("aB", 18)
	pem := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("k", 64)+"\n", 40) + "-----END PRIVATE KEY-----\n"
	text := "A=" + key + "\nB=sk-" + strings.Repeat("x1", 20) + "\nknown-secret-value\n" + pem
	if err := os.WriteFile(filepath.Join(e.Workspace, "demo.env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := call(t, e, "run_shell", map[string]any{"command": "cat demo.env; cat demo.env >&2; seq 1 20000; cat demo.env"})
	saved, err := os.ReadFile(r.FullPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{r.Content, r.Shell.Stdout, r.Shell.Stderr, string(saved)} {
		for _, secret := range []string{key, "sk-x1", "known-secret", "kkkk"} {
			if strings.Contains(where, secret) {
				t.Errorf("got %q in the output, want it masked", secret)
			}
		}
	}
	wants(t, r, "A=[secret]", "B=[secret]")
}

// SH-08: git fails where it would need a person, and changes nothing.
func TestSH08_Git(t *testing.T) {
	e := shellEnv(t, nil)
	setup := call(t, e, "run_shell", map[string]any{"command": "git init -q . && git config user.name n && git config user.email n@example.org && " +
		"for i in 1 2 3; do echo $i >f && git add f && git commit -q -m c$i; done && git rev-parse HEAD"})
	if setup.Failed() {
		t.Skipf("git does not work here: %s", setup.Content)
	}
	head := strings.TrimSpace(setup.Shell.Stdout)
	for _, command := range []string{"git rebase -i HEAD~2", "echo 4 >f; git commit -a", "git commit --amend"} {
		r := call(t, e, "run_shell", map[string]any{"command": command})
		if !r.Failed() || r.Shell.TimedOut {
			t.Errorf("%s: got %q, want it to fail at once", command, r.Content)
		}
	}
	r := call(t, e, "run_shell", map[string]any{"command": "git rev-parse HEAD; git log --oneline | cat -A | wc -l; git log"})
	wants(t, r, head, "\n3\n", "c1", "[exit 0]")
}

func TestShellDenies(t *testing.T) {
	tests := []struct{ command, want string }{
		{"rm -rf /", "whole workspace"},
		{"sudo ls", "the user would have to agree"},
		{"cat ~/.ssh/id_rsa", "is closed"},
		{"echo x > /etc/x", "outside the folders that may be written"},
		{"echo '", "cannot be parsed"},
	}
	for _, tt := range tests {
		r := sh(t, tt.command)
		wants(t, r, "Not run", tt.want)
		if r.Code != tools.Denied || !r.Shell.Denied {
			t.Errorf("%s: got code %q, %+v, want it denied", tt.command, r.Code, r.Shell)
		}
	}
}

func TestShellAgent(t *testing.T) {
	e := shellEnv(t, nil)
	r := call(t, e, "shell_agent", map[string]any{"task": "touch x", "timeout": 300})
	wants(t, r, "Nothing was run", "run_shell")
	if _, err := os.Stat(filepath.Join(e.Workspace, "x")); err == nil || !r.Failed() {
		t.Errorf("got %+v, want nothing run", r)
	}
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(set.Specs(), func(s tools.Spec) bool { return s.Name == "shell_agent" }) {
		t.Error("shell_agent is shown to models, want it only to answer")
	}
}

func TestInterrupt(t *testing.T) {
	e := shellEnv(t, nil)
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		eventually(func() bool { _, err := os.Stat(filepath.Join(e.Workspace, "begun")); return err == nil })
		cancel()
	}()
	r := set.Run(ctx, tools.Call{Name: "run_shell", Args: json.RawMessage(`{"command":"echo before; touch begun; sleep 76.5"}`)})
	wants(t, r, "before", "interrupted")
	if r.Code != "canceled" || processes(t, "76.5") != 0 {
		t.Errorf("got %q and %d processes, want it canceled and none", r.Code, processes(t, "76.5"))
	}
}

// How much of the sandbox there is is told once, and is the truth: strict runs when nothing is missing.
func TestConfinementIsTold(t *testing.T) {
	var told []sandbox.Report
	e := shellEnv(t, func(e *tools.Env) {
		e.Sandbox, e.Confined = sandbox.BestEffort, func(r sandbox.Report) { told = append(told, r) }
	})
	for range 2 {
		call(t, e, "run_shell", map[string]any{"command": "echo ok"})
	}
	if len(told) != 1 || (told[0].Level == sandbox.Strict) != (len(told[0].Missing) == 0) {
		t.Errorf("got %+v", told)
	}
}

func TestStrictShell(t *testing.T) {
	e := shellEnv(t, func(e *tools.Env) { e.Sandbox = sandbox.Strict })
	r := call(t, e, "run_shell", map[string]any{"command": "echo ok"})
	if r.Failed() && !r.Shell.Denied {
		t.Errorf("got %q, want it to run or to be denied", r.Content)
	}
}

// processes counts processes with a word in their command line.
func processes(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && slices.Contains(strings.Split(string(text), "\x00"), word) && !strings.Contains(file, "/"+strconv.Itoa(os.Getpid())+"/") {
			n++
		}
	}
	return n
}

func BenchmarkShell(b *testing.B) {
	e := &tools.Env{Workspace: b.TempDir(), Environ: os.Environ()}
	defer e.Close()
	set, err := e.NewSet()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := set.Run(b.Context(), tools.Call{Name: "run_shell", Args: json.RawMessage(`{"command":"true"}`)}); r.Failed() {
			b.Fatal(r.Content)
		}
	}
}
