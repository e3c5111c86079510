package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// job plays a task of three turns in a workspace with a model, as an agent would, and returns the last answer.
func job(m llm.Model, workspace, task, took string) (string, error) {
	r := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "work in " + workspace + " with {{workspace}}"}, {Role: llm.User, Content: task}},
		Tools:    []llm.ToolSpec{{Name: "run_shell", Description: "runs in " + workspace, Parameters: json.RawMessage(`{ "type": "object", "properties": {} }`)}},
	}
	for range 5 {
		reply, err := m.Chat(context.Background(), r)
		if err != nil {
			return "", err
		}
		r.Messages = append(r.Messages, reply.Message)
		if len(reply.Message.ToolCalls) == 0 {
			return reply.Message.Content, nil
		}
		for _, c := range reply.Message.ToolCalls {
			if !strings.Contains(c.Arguments, workspace+"/a.csv") {
				return "", fmt.Errorf("the call is not in this workspace: %s", c.Arguments)
			}
			text := fmt.Sprintf("%s: 3 rows in %s/a.csv at 2026-12-01T10:%s:00Z, took %sms, pid %s, key hush-1", task, workspace, took, took, took)
			r.Messages = append(r.Messages, llm.Message{Role: llm.ToolRole, ToolCallID: c.ID, Content: text})
		}
	}
	return "", errors.New("no end")
}

// shelled answers every task with two calls and then an answer.
func shelled(workspace string) llmtest.Script {
	return llmtest.Script{Answer: func(r llmtest.Request) (llmtest.Step, bool) {
		if r.Turn() < 2 {
			args, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("wc -l %s/a.csv %d", workspace, r.Turn())})
			return llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{ID: fmt.Sprintf("c%d", r.Turn()), Name: "run_shell", Arguments: args}},
				Extra: map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"look at ` + workspace + `"`)}}}, true
		}
		return llmtest.Step{Reply: llmtest.Reply{Text: "report of " + workspace + ": " + r.Messages[1].Text}}, true
	}}
}

func options(workspace string) llm.RecordOptions {
	return llm.RecordOptions{Mask: func(s string) string { return strings.ReplaceAll(s, "hush-1", "***") },
		Places: []llm.Place{{Name: "workspace", Path: workspace}, {Name: "root", Path: "/"}, {Name: "none", Path: ""}}}
}

// record makes a recording of some tasks at once and returns its file.
func record(t *testing.T, tasks int) string {
	t.Helper()
	const workspace = "/srv/one/work"
	s := llmtest.Start(t, shelled(workspace))
	path := filepath.Join(t.TempDir(), "run.jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := llm.Record(open(t, s.URL), f, options(workspace))
	var wg sync.WaitGroup
	for i := range tasks {
		wg.Go(func() {
			if got, err := job(m, workspace, fmt.Sprintf("task %d", i), "11"); err != nil || got != fmt.Sprintf("report of %s: task %d", workspace, i) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
	return path
}

func replay(t *testing.T, path, workspace string) llm.Model {
	t.Helper()
	m, err := llm.Replay(path, options(workspace))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A recording works in another folder, at another time, with several conversations at once.
func TestReplayElsewhere(t *testing.T) {
	const tasks, workspace = 6, "/home/two/other"
	path := record(t, tasks)
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte("/srv/one/work")) || bytes.Contains(text, []byte("hush-1")) || bytes.Contains(text, []byte("secret-key")) {
		t.Fatalf("names or secrets of the run are in the file (%v):\n%s", err, text)
	}
	if n := bytes.Count(text, []byte(`"description"`)); n != 1 {
		t.Errorf("the tools stand %d times in the file, want once", n)
	}
	if n := bytes.Count(text, []byte("work in {{workspace}} with {{{{workspace}}}}")); n != tasks {
		t.Errorf("the first message stands %d times in the file, want %d", n, tasks)
	}
	m := replay(t, path, workspace)
	if m.Name() != "test-1" {
		t.Errorf("got model %q", m.Name())
	}
	var wg sync.WaitGroup
	for i := range tasks {
		wg.Go(func() {
			got, err := job(m, workspace, fmt.Sprintf("task %d", i), "47")
			if want := fmt.Sprintf("report of %s: task %d", workspace, i); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	wg.Wait()
	_, err = job(m, workspace, "task 0", "5")
	if kindOf(err) != llm.Diverged || !strings.Contains(err.Error(), "more often") {
		t.Errorf("got %v, want that it has answered already", err)
	}
}

func TestReplayDiverges(t *testing.T) {
	const workspace = "/w/x"
	first := func(change func(*llm.Request)) error {
		m := replay(t, record(t, 2), workspace)
		r := llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "work in /w/x with {{workspace}}"}, {Role: llm.User, Content: "task 1"}},
			Tools: []llm.ToolSpec{{Name: "run_shell", Description: "runs in /w/x", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}}
		change(&r)
		_, err := m.Chat(context.Background(), r)
		return err
	}
	for _, tt := range []struct {
		name   string
		change func(*llm.Request)
		words  []string
	}{
		{"same", func(*llm.Request) {}, nil},
		{"text", func(r *llm.Request) { r.Messages[1].Content = "task 1 please" }, []string{"message 2 (user)", "byte", "please"}},
		{"system", func(r *llm.Request) { r.Messages[0].Content += "!" }, []string{"message 1 (system)", "byte"}},
		{"role", func(r *llm.Request) { r.Messages[1].Role = llm.Assistant }, []string{"of the user there and of the assistant here"}},
		{"more", func(r *llm.Request) { r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: "and?"}) }, []string{"the request has 3", "and?"}},
		{"fewer", func(r *llm.Request) { r.Messages = r.Messages[:1] }, []string{"only 1"}},
		{"missing tool", func(r *llm.Request) { r.Tools[0].Name = "sh" }, []string{"calls the tool run_shell", "not offered now"}},
		{"more tools", func(r *llm.Request) { r.Tools = append(r.Tools, llm.ToolSpec{Name: "sh"}) }, nil},
		{"description", func(r *llm.Request) { r.Tools[0].Description = "x" }, nil},
		{"limit", func(r *llm.Request) { r.MaxOutput = 5 }, []string{"limits", `"max_output":5`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := first(tt.change)
			if (err == nil) != (tt.words == nil) || err != nil && (kindOf(err) != llm.Diverged || llm.Code(err) != "invalid") {
				t.Fatalf("got %v", err)
			}
			for _, w := range tt.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want %q in it", err, w)
				}
			}
		})
	}
}

// Failures are recorded with the rest; what was cancelled is not.
func TestRecordErrors(t *testing.T) {
	s := play(t, refusal(400, `{"error":{"message":"bad thing in /w/a"}}`), llmtest.Step{Fault: llmtest.Fault{DelayMS: 60_000}})
	var file bytes.Buffer
	o := llm.RecordOptions{Places: []llm.Place{{Name: "workspace", Path: "/w"}}}
	m := llm.Record(open(t, s.URL), &file, o)
	if _, err := m.Chat(context.Background(), ask("x")); kindOf(err) != llm.BadRequest {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for len(s.Requests()) < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := m.Chat(ctx, ask("y")); llm.Code(err) != "canceled" {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := llm.Replay(path, llm.RecordOptions{Places: []llm.Place{{Name: "workspace", Path: "/v"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Chat(context.Background(), ask("x")); kindOf(err) != llm.BadRequest || !strings.Contains(err.Error(), "bad thing in /v/a") {
		t.Errorf("got %v", err)
	}
	if _, err := again.Chat(context.Background(), ask("y")); kindOf(err) != llm.Diverged {
		t.Errorf("got %v", err)
	}
}

// lineWriter fails when it is given anything but one whole line, and after so many.
type lineWriter struct {
	t    *testing.T
	left int
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		w.t.Errorf("got %q in one write, want one line", p)
	}
	if w.left--; w.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestRecordWritesWholeLines(t *testing.T) {
	s := llmtest.Start(t, shelled("/w"))
	m := llm.Record(open(t, s.URL), &lineWriter{t, 3}, options("/w"))
	if _, err := job(m, "/w", "task", "1"); err == nil || !strings.Contains(err.Error(), "record the exchange: no space left") {
		t.Errorf("got %v", err)
	}
}

func TestReplayRefusesFiles(t *testing.T) {
	whole, err := os.ReadFile(record(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for _, tt := range []struct{ name, text, code, words string }{
		{"empty", "", "corrupt", "empty"},
		{"cut", string(whole[:len(whole)-20]), "corrupt", fmt.Sprintf("line %d: no JSON, or cut", len(lines)-1)},
		{"no head", strings.Join(lines[1:], ""), "corrupt", "line 1: the file does not begin"},
		{"newer", strings.Replace(string(whole), `"version":1,"reader":1`, `"version":7,"reader":6`, 1), "version", "needs a reader of version 6, this program reads version 1"},
		{"hole", strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), "corrupt", "goes on after exchange 1"},
		{"no tools", strings.Join(append(append([]string{}, lines[:1]...), lines[2:]...), ""), "corrupt", "tools 1"},
		{"twice", string(whole) + lines[2], "corrupt", "is there twice"},
		{"text", "hello\n", "corrupt", "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.jsonl")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := llm.Replay(path, llm.RecordOptions{})
			if err == nil || llm.Code(err) != tt.code || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v (%s), want %s and %q", err, llm.Code(err), tt.code, tt.words)
			}
		})
	}
	if _, err := llm.Replay(filepath.Join(t.TempDir(), "none"), llm.RecordOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if m, err := llm.Replay(write(t, strings.Replace(string(whole), `"version":1,`, `"version":2,"new":true,`, 1)+`{"type":"later"}`+"\n"), llm.RecordOptions{}); err != nil || m == nil {
		t.Errorf("a newer file that this reader understands: %v", err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Several tasks write to one file and answer from it, each with places of its own.
func TestTapeOfTasks(t *testing.T) {
	task := func(dir string) (llm.Request, llm.RecordOptions) {
		return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "work in " + dir}}},
			llm.RecordOptions{Places: []llm.Place{{Name: "workspace", Path: dir}}}
	}
	real := answers(func(r llm.Request) string { return "did " + r.Messages[0].Content })
	path := filepath.Join(t.TempDir(), "run.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tape := llm.NewTape(f)
	for _, dir := range []string{"/tmp/a", "/tmp/b"} {
		req, o := task(dir)
		if reply, err := tape.Record(real, o).Chat(t.Context(), req); err != nil || reply.Message.Content != "did work in "+dir {
			t.Fatalf("got %q, %v", reply.Message.Content, err)
		}
	}
	played, err := llm.Play(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/home/x", "/home/y"} {
		req, o := task(dir)
		if reply, err := played.Model(o).Chat(t.Context(), req); err != nil || reply.Message.Content != "did work in "+dir {
			t.Errorf("got %q, %v", reply.Message.Content, err)
		}
	}
}

// answers is a model that is a function.
type answers func(llm.Request) string

func (answers) Name() string  { return "answers" }
func (answers) Window() int64 { return 0 }
func (f answers) Chat(_ context.Context, r llm.Request) (llm.Reply, error) {
	return llm.Reply{Message: llm.Message{Role: llm.Assistant, Content: f(r)}, Finish: llm.Stopped}, nil
}
