package cmd_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mcpLimit is how long a scripted host waits for one answer; it is not how long tests wait.
const mcpLimit = 3 * time.Minute

// mcp REQUESTS ANSWERS [flag…]: be a host over stdio. Start openspace-mcp with the flags, send it the lines
// of the file REQUESTS one after the other, and write what it says into the file ANSWERS. After a request the
// next line is sent when the answer has come. Variables ${NAME} are put in; lines that begin with # mean
// nothing. A request behind "!" is not waited for, and "await FILE" waits for a file.
func mcp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mcp REQUESTS ANSWERS [flag...]")
	}
	cmd := exec.Command(filepath.Join(bin, "openspace-mcp"), args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "LANG", "GOCOVERDIR", "SOURCE_DATE_EPOCH", "OPENSPACE_HOME", "OPENSPACE_API_KEY", "OPENSPACE_API_BASE",
		"OPENSPACE_HOST_SKILL_DIRS", "OPENSPACE_MODEL", "OPENSPACE_LLM_API_BASE", "OPENSPACE_LLM_API_KEY", "OPENSPACE_WORKSPACE", "OPENSPACE_INTO"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	var said strings.Builder
	cmd.Stderr = &said
	ts.Check(cmd.Start())
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	var answers strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		line = os.Expand(line, ts.Getenv)
		if file, ok := strings.CutPrefix(line, "await "); ok {
			await(ts, false, []string{file})
			continue
		}
		line, early := strings.CutPrefix(line, "! ")
		_, err := io.WriteString(in, line+"\n")
		ts.Check(err)
		var head struct{ ID, Method json.RawMessage }
		if json.Unmarshal([]byte(line), &head); early || head.ID == nil || head.Method == nil {
			continue
		}
		answers.WriteString(answerTo(ts, head.ID, lines, &said))
	}
	in.Close()
	for line := range lines {
		answers.WriteString(line)
	}
	err = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(answers.String()), 0o644))
	ts.Logf("[stderr]\n%s", said.String())
	ts.Check(err)
}

// answerTo returns all lines up to the answer to a request. Every one of them must be a message of the
// protocol (MC-01).
func answerTo(ts *testscript.TestScript, id json.RawMessage, lines chan string, said *strings.Builder) string {
	var all strings.Builder
	for limit := time.After(mcpLimit); ; {
		select {
		case line, ok := <-lines:
			if !ok {
				ts.Fatalf("the server ended before the answer to %s: %s", id, said)
			}
			all.WriteString(line)
			var head struct {
				JSONRPC    string
				ID, Method json.RawMessage
			}
			if json.Unmarshal([]byte(line), &head) != nil || head.JSONRPC != "2.0" {
				ts.Fatalf("got %q, want a message", line)
			}
			if head.Method == nil && string(head.ID) == string(id) {
				return all.String()
			}
		case <-limit:
			ts.Fatalf("no answer to %s within %s; so far: %s", id, mcpLimit, all.String())
		}
	}
}
