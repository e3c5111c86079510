package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/lifeline"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// processes returns those that run with this variable in the environment that they were started with.
func processes(t *testing.T, variable string) []int {
	return processesThat(t, func(pid int, dir string) bool {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		return slices.Contains(strings.Split(string(environ), "\x00"), variable) && alive(pid)
	})
}

// pipesOf returns the pipes that a process has open, by the numbers of its files.
func pipesOf(pid int) map[string]string {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(dir)
	pipes := map[string]string{}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "pipe:") {
			pipes[e.Name()] = to
		}
	}
	return pipes
}

// holders returns the processes that have a pipe open.
func holders(t *testing.T, pipe string) []int {
	return processesThat(t, func(pid int, _ string) bool { return slices.Contains(slices.Collect(maps.Values(pipesOf(pid))), pipe) })
}

// checkHolders asks that only a starter and what it started have a lifeline open, not what that has started.
func checkHolders(t *testing.T, starter int, sleeps []int) {
	t.Helper()
	found := 0
	for _, pid := range processes(t, "OPENSPACE_HOME="+homeOf(t, starter)) {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		_, value, ok := strings.Cut(string(environ), "\x00"+lifeline.Variable+"=")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, "\x00")
		number, id, _ := strings.Cut(value, ":")
		line := "pipe:[" + id + "]"
		if got := pipesOf(pid)[number]; got != line {
			t.Errorf("%d has %q as file %s, want %s", pid, got, number, line)
		}
		got := holders(t, line)
		if len(got) != 2 || !slices.Contains(got, pid) {
			t.Errorf("the lifeline of %d is open in %v, want it there and in its starter", pid, got)
		}
		found++
	}
	if found == 0 {
		t.Error("nothing has a lifeline")
	}
	for _, pid := range sleeps {
		if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err != nil || len(entries) < 3 {
			t.Errorf("files of %d: got %d, %v", pid, len(entries), err)
		}
	}
}

// homeOf is where a process keeps its things.
func homeOf(t *testing.T, pid int) string {
	t.Helper()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, home, _ := strings.Cut("\x00"+string(environ), "\x00OPENSPACE_HOME=")
	home, _, _ = strings.Cut(home, "\x00")
	return home
}

// When openspace-mcp is killed in a task, nothing of it is left: not the process that does it, not the search that it has
// started, not the commands.
func TestServerKilled(t *testing.T) {
	model := llmtest.Start(t, llmtest.Script{Answer: sleeps})
	home := t.TempDir()
	cmd := exec.Command(filepath.Join(bin, "openspace-mcp"))
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "OPENSPACE_HOME=" + filepath.Join(home, "os"), "OPENSPACE_MODEL=test/model", "TMPDIR=" + t.TempDir(),
		"OPENSPACE_LLM_API_BASE=" + model.URL, "OPENSPACE_LLM_API_KEY=key-of-the-test", "GOCOVERDIR=" + os.Getenv("SUITE_COVERDIR")}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	args, err := json.Marshal(map[string]string{"task": "sleep", "workspace_dir": filepath.Join(home, "work"), "search_scope": "local"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`+"\n")
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_task","arguments":%s}}`+"\n", args)
	checkHolders(t, cmd.Process.Pid, sleeper(t, home))
	if got := processes(t, "OPENSPACE_HOME="+filepath.Join(home, "os")); len(got) < 3 {
		t.Fatalf("got processes %v, want the server, a task and a search", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	waitFor(t, "the sleeps end", func() bool { return len(sleeping(t)) == 0 })
	waitFor(t, "everything ends", func() bool { return len(processes(t, "OPENSPACE_HOME="+filepath.Join(home, "os"))) == 0 })
	list := exec.Command(filepath.Join(bin, "openspace-skills"), "recordings", "list", "--jsonl")
	list.Env = cmd.Env
	if out, err := list.Output(); err != nil || !bytes.Contains(out, []byte(`"status":"canceled"`)) {
		t.Errorf("got %s, %v, want a canceled task", out, err)
	}
}

// When the gateway is killed in a turn, nothing of the turn is left that could disturb the next one in the workspace.
func TestGatewayKilledInTurn(t *testing.T) {
	g := newGatewayProcess(t, fmt.Sprintf(`{"conversations": [{"match": "sleep", "repeat": true, "steps": [{"reply": {"tool_calls": [
		{"name": "run_shell", "arguments": {"command": "setsid sleep %s & sleep %s"}}]}}]}]}`, mark, mark))
	g.start()
	id := g.feishu.Say(gatewaytest.Saying{Chat: "c", Me: "ann", Text: "please sleep"})
	for !g.feishu.Acknowledged(id) {
		g.feishu.Again(id)
	}
	waitFor(t, "both sleeps run", func() bool { return len(sleeping(t)) >= 2 })
	if got := processes(t, "HOME="+g.dir); len(got) < 2 {
		t.Fatalf("got processes %v, want the gateway and a task", got)
	}
	g.kill()
	waitFor(t, "the sleeps end", func() bool { return len(sleeping(t)) == 0 })
	waitFor(t, "everything ends", func() bool { return len(processes(t, "HOME="+g.dir)) == 0 })
}

// When openspace-execute is killed itself, the search and the commands that it has started end, too.
func TestExecuteKilled(t *testing.T) {
	cmd, home := execute(t, sleeps, "--search-scope", "local", "--workspace-dir", "work", "sleep")
	cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sleeper(t, home)
	cmd.Process.Kill()
	cmd.Wait()
	waitFor(t, "the sleeps end", func() bool { return len(sleeping(t)) == 0 })
	waitFor(t, "everything ends", func() bool { return len(processes(t, "OPENSPACE_HOME="+filepath.Join(home, "os"))) == 0 })
}

// orphan starts a command, waits for the first line of its output, and lets go of its lifeline.
func orphan(t *testing.T, cmd *exec.Cmd, input string) (stderr string, state *os.ProcessState) {
	t.Helper()
	var errOut bytes.Buffer
	cmd.Env, cmd.Stderr = append(cmd.Environ(), "HOME="+t.TempDir(), "OPENSPACE_ERRORS="), &errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	line, err := lifeline.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	io.WriteString(in, input)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	line.Close()
	io.Copy(io.Discard, out)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return errOut.String(), cmd.ProcessState
}

// What a command does when its starter is gone: one that cleans up does so and says why it ends, a filter ends at once, and one
// that does not listen is ended.
func TestStarterGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, input string
		args        []string
		ends, says  string
	}{
		{"listens", "hello\n", []string{"cliprobe", "--plain"}, "exit status 143", "cliprobe: canceled: the program that started this one is gone\n"},
		{"filter", "nothing\n", []string{"openspace-skills", "validate", "--jsonl"}, "signal: terminated", ""},
		{"deaf", "deaf\n", []string{"cliprobe", "--plain"}, "exit status 137", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(filepath.Join(bin, tt.args[0]), tt.args[1:]...)
			says, state := orphan(t, cmd, tt.input)
			if state.String() != tt.ends || says != tt.says {
				t.Errorf("got %s, %q, want %s, %q", state, says, tt.ends, tt.says)
			}
		})
	}
}
