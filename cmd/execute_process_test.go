package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// call is a reply that calls one tool.
func call(name string, args map[string]any) llmtest.Step {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{Name: name, Arguments: data}}}}
}

func say(text string) llmtest.Step { return llmtest.Step{Reply: llmtest.Reply{Text: text}} }

// execute returns the command under test with a home and a model of its own.
func execute(t *testing.T, answer func(llmtest.Request) (llmtest.Step, bool), args ...string) (cmd *exec.Cmd, home string) {
	t.Helper()
	server := llmtest.Start(t, llmtest.Script{Answer: answer})
	home = t.TempDir()
	cmd = exec.Command(filepath.Join(bin, "openspace-execute"), append([]string{"--search-scope", "none", "--model", "test/model"}, args...)...)
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "OPENSPACE_HOME=" + filepath.Join(home, "os"),
		"OPENSPACE_LLM_API_BASE=" + server.URL, "OPENSPACE_LLM_API_KEY=key-of-the-test", "GOCOVERDIR=" + os.Getenv("SUITE_COVERDIR")}
	return cmd, home
}

// results returns the results in a stream of records, by id.
func results(t *testing.T, out []byte) map[string]wire.Result {
	t.Helper()
	found := map[string]wire.Result{}
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte(`{"type":"result"`)) {
			continue
		}
		var res wire.Result
		if err := json.Unmarshal(line, &res); err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		found[res.ID] = res
	}
	return found
}

// Thirty-two tasks at once do not see each other: not in their workspaces, not in their recordings, not in their results.
func TestManyTasksAtOnce(t *testing.T) {
	const n = 32
	number := func(r llmtest.Request) string {
		for _, m := range r.Messages {
			if _, after, ok := strings.Cut(m.Text, "task number "); ok && m.Role == "user" {
				return after
			}
		}
		return "none"
	}
	cmd, home := execute(t, func(r llmtest.Request) (llmtest.Step, bool) {
		switch r.Turn() {
		case 0:
			return call("write_file", map[string]any{"path": "mine.txt", "content": "I am " + number(r)}), true
		case 1:
			return call("run_shell", map[string]any{"command": "sleep 0.1; ls; cat mine.txt; echo from the shell >shell.txt"}), true
		}
		return say("read: " + r.Last()), true
	}, "--jobs", strconv.Itoa(n))
	var tasks strings.Builder
	for i := range n {
		fmt.Fprintf(&tasks, "task number %d\n", i)
	}
	cmd.Stdin = strings.NewReader(tasks.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dirs := map[string]bool{}
	all := results(t, out)
	for i := range n {
		res, want := all[strconv.Itoa(i+1)], fmt.Sprintf("I am %d", i)
		if res.Status != "success" || !strings.Contains(res.Response, want+"\n") || strings.Count(res.Response, "I am") != 1 || len(res.Files) != 2 || res.ToolCallCount != 2 {
			t.Errorf("task %d: got %s, %q, %d files", i, res.Status, res.Response, len(res.Files))
		}
		if dirs[res.WorkspaceDir] || dirs[res.RecordingDir] {
			t.Errorf("task %d shares %s or %s", i, res.WorkspaceDir, res.RecordingDir)
		}
		dirs[res.WorkspaceDir], dirs[res.RecordingDir] = true, true
		talk, err := os.ReadFile(filepath.Join(res.RecordingDir, "conversations.jsonl"))
		if err != nil || !bytes.Contains(talk, []byte(fmt.Sprintf("task number %d\"", i))) || bytes.Count(talk, []byte("task number ")) != 1 {
			t.Errorf("task %d: its recording is not its own: %v", i, err)
		}
	}
	if made, err := os.ReadDir(filepath.Join(home, "os", "recordings")); err != nil || len(made) != n {
		t.Errorf("got %d recordings, %v, want %d", len(made), err, n)
	}
}

// alive tells whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// waitFor waits until something holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for start := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > awaitLimit {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// sleeper starts a command that begins a long sleep, also in the background, and waits until it runs. It returns the processes.
func sleeper(t *testing.T, home string) []int {
	t.Helper()
	file := filepath.Join(home, "work", "pids")
	waitFor(t, "the command writes its process numbers", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.Count(string(data), "\n") == 2
	})
	// The numbers in the file may be those of a namespace of its own: the real ones are found by what they run.
	var pids []int
	waitFor(t, "both sleeps run", func() bool {
		pids = sleeping(t)
		return len(pids) >= 2
	})
	return pids
}

// mark is an argument by which the sleeps of this test are found.
var mark = fmt.Sprintf("7%05d", os.Getpid()%100000)

// sleeping returns the processes that sleep for the marked time.
func sleeping(t *testing.T) []int {
	return processesThat(t, func(pid int, dir string) bool {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		return string(line) == "sleep\x00"+mark+"\x00" && alive(pid)
	})
}

// processesThat returns those that is says yes to; dir is the process's folder in /proc.
func processesThat(t *testing.T, is func(pid int, dir string) bool) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc")
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && is(pid, filepath.Join("/proc", e.Name())) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// sleeps is a task whose command sleeps, with another sleep in the background that has left its group.
func sleeps(llmtest.Request) (llmtest.Step, bool) {
	return call("run_shell", map[string]any{"command": "echo $$ >pids; setsid sleep " + mark + " & echo $! >>pids; sleep " + mark}), true
}

// A signal ends everything that a task has started and still gives its result (LT, TO-02).
func TestSignalsEndTasks(t *testing.T) {
	for _, tt := range []struct {
		sig    os.Signal
		status int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.sig.String(), func(t *testing.T) {
			cmd, home := execute(t, sleeps, "--workspace-dir", "work", "sleep")
			var out, errOut bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errOut
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			sleeper(t, home)
			if err := cmd.Process.Signal(tt.sig); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != tt.status {
				t.Errorf("got %v, want status %d; stderr %s", err, tt.status, &errOut)
			}
			res := results(t, out.Bytes())["1"]
			if res.Status != "canceled" || res.Error == nil || res.Error.Code != wire.Canceled || res.RecordingDir == "" {
				t.Errorf("got %+v", res)
			}
			if strings.Contains(out.String(), `"type":"summary"`) {
				t.Error("a run that was ended has a summary")
			}
			waitFor(t, "the sleeps end", func() bool { return len(sleeping(t)) == 0 })
		})
	}
}

// When the reader of the output goes away, tasks end, and what they have started ends with them.
func TestReaderGoesAway(t *testing.T) {
	cmd, home := execute(t, func(r llmtest.Request) (llmtest.Step, bool) {
		if r.Turn() == 0 {
			return sleeps(r)
		}
		return say("done"), true
	}, "--workspace-dir", "work", "--jobs", "2")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, "sleep")
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	sleeper(t, home)
	stdout.Close()
	fmt.Fprintln(stdin, "another task, whose first event cannot be written")
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != wire.StatusPipe {
		t.Errorf("got %v, want status %d", err, wire.StatusPipe)
	}
	waitFor(t, "the sleeps end", func() bool { return len(sleeping(t)) == 0 })
	io.Copy(io.Discard, stdout)
}
