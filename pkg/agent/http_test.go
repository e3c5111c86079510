package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// served is a scripted model behind real HTTP that keeps what it was sent.
type served struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (s *served) open(t *testing.T, steps ...llmtest.Step) llm.Model {
	t.Helper()
	script := llmtest.Script{Answer: func(r llmtest.Request) (llmtest.Step, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, bytes.Clone(r.Body))
		return steps[min(r.Turn(), len(steps)-1)], true
	}}
	m, err := llm.Open(llm.Options{Model: "test-model", Base: llmtest.Start(t, script).URL, Key: "not-a-real-key"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func does(all ...llmtest.Call) llmtest.Step {
	return llmtest.Step{Reply: llmtest.Reply{ToolCalls: all}}
}

func answers(text string) llmtest.Step { return llmtest.Step{Reply: llmtest.Reply{Text: text}} }

func use(name string, args any) llmtest.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Call{Name: name, Arguments: raw}
}

type object = map[string]any

// real returns the tools of the suite in a workspace of their own, and a recording.
func real(t *testing.T) (dir string, all *tools.Set, rec *recording.Recording) {
	t.Helper()
	dir = t.TempDir()
	out := t.TempDir()
	env := &tools.Env{Workspace: dir, Environ: os.Environ(), Sandbox: sandbox.BestEffort, OutputDir: out, Mask: tools.NewMask()}
	t.Cleanup(func() { env.Close() })
	all, err := tools.NewSet(append(tools.Builtin(env), tools.FinishTool())...)
	if err != nil {
		t.Fatal(err)
	}
	rec, err = recording.Create(t.TempDir(), "t", recording.Meta{Mask: env.Mask.Text})
	if err != nil {
		t.Fatal(err)
	}
	return dir, all, rec
}

// A real task over real HTTP with real tools: broken arguments, a missing file, a command that fails, and an
// alias among the calls.
func TestRealTools(t *testing.T) {
	dir, all, rec := real(t)
	if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("city,n\nRome,3\nOslo,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s served
	m := s.open(t,
		does(use("list_dir", object{"path": "."}), use("read_file", object{"path": "sales.csv"}), use("read_file", object{"path": "none.csv"}),
			llmtest.Call{Name: "write_file", Arguments: json.RawMessage(`"{\"path\": \"a.txt\", \"content\": \"x"`)}),
		does(use("run_shell", object{"command": "awk -F, 'NR>1{s+=$2} END{print \"sum\", s}' sales.csv && ls /nowhere"}), use("shell_agent", object{"task": "pwd"})),
		does(use("write_file", object{"path": "report.md", "content": "sum 7\n"}), use("finish", object{"status": "done", "answer": "The sum is 7, see report.md."})),
	)
	out := run(t, agent.Options{Model: m, Tools: all, Task: "sum the sales", System: agent.Prompt{Workspace: dir, Files: []string{"sales.csv"}}.Parts(), Recorder: rec, Phase: "plain",
		Events: func(agent.Event) {}})
	want(t, out, agent.Success, agent.Finished, "The sum is 7, see report.md.")
	if report, err := os.ReadFile(filepath.Join(dir, "report.md")); err != nil || string(report) != "sum 7\n" {
		t.Errorf("got %q, %v", report, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("a call with broken arguments was run")
	}
	if out.Usage.Calls != 3 || out.Usage.Input == 0 {
		t.Errorf("got the usage %+v", out.Usage)
	}
	for text, in := range map[string][]byte{"Rome,3": s.bodies[1], "none.csv": s.bodies[1], "not a JSON object": s.bodies[1], "sum 7": s.bodies[2], "/nowhere": s.bodies[2]} {
		if !bytes.Contains(in, []byte(text)) {
			t.Errorf("the model was not sent %q", text)
		}
	}
	var steps []string
	saved, err := recording.Open(filepath.Dir(rec.Dir()), "t")
	if err != nil {
		t.Fatal(err)
	}
	all_, _, err := saved.Steps()
	for _, st := range all_ {
		code := ""
		if st.Result.ExitCode != nil {
			code = fmt.Sprint(*st.Result.ExitCode)
		}
		steps = append(steps, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", st.Backend, st.Tool, st.Result.Status, code)))
	}
	want := "shell list_dir success|shell read_file success|shell read_file error|shell write_file error|shell run_shell error 2|shell shell_agent error|shell write_file success|system finish success"
	if got := strings.Join(steps, "|"); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if !strings.Contains(all_[4].Command, "awk -F, 'NR>1") {
		t.Errorf("got the command %q", all_[4].Command)
	}
}

// SH-07: secrets in what a command prints reach neither the model nor the recording.
func TestSH07SecretsInOutput(t *testing.T) {
	dir, all, rec := real(t)
	github, key := "ghp_"+strings.Repeat("aB3d", 9), "sk-"+strings.Repeat("x9Y8", 10)
	if err := os.WriteFile(filepath.Join(dir, "demo.env"), []byte("A="+github+"\nB="+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s served
	m := s.open(t, does(use("run_shell", object{"command": "cat demo.env"}), use("read_file", object{"path": "demo.env"}), use("search_files", object{"pattern": "A="})), answers("seen"))
	out := run(t, agent.Options{Model: m, Tools: all, Recorder: rec})
	want(t, out, agent.Success, agent.Answered, "seen")
	if err := rec.Close(recording.Outcome{Response: out.Response}); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for i, b := range s.bodies {
		texts[fmt.Sprintf("request %d", i)] = b
	}
	err := filepath.WalkDir(rec.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			texts[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || len(texts) < 6 {
		t.Fatalf("got %d texts, %v", len(texts), err)
	}
	for name, text := range texts {
		if bytes.Contains(text, []byte(github)) || bytes.Contains(text, []byte(key)) {
			t.Errorf("%s has a secret", name)
		}
	}
	if !bytes.Contains(s.bodies[1], []byte("demo.env")) {
		t.Error("the results did not come")
	}
}

// LT-10 over HTTP: a reply that ends at the limit of output writes nothing.
func TestLT10OverHTTP(t *testing.T) {
	dir, all, _ := real(t)
	cut := does(llmtest.Call{Name: "write_file", Arguments: json.RawMessage(`"{\"path\": \"a.txt\", \"content\": \"half of i"`)})
	cut.Reply.Finish = "length"
	whole := does(use("write_file", object{"path": "b.txt", "content": "all"}))
	var s served
	turn := 0
	m, err := llm.Open(llm.Options{Model: "test-model", Key: "x", Base: llmtest.Start(t, llmtest.Script{Answer: func(llmtest.Request) (llmtest.Step, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		turn++
		return []llmtest.Step{cut, whole, answers("done")}[turn-1], true
	}}).URL})
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, agent.Options{Model: m, Tools: all})
	want(t, out, agent.Success, agent.Answered, "done")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "b.txt" {
		t.Errorf("got %v, %v, want b.txt alone", entries, err)
	}
}

// A server that says that a request is too large gets a smaller one.
func TestTooLargeOverHTTP(t *testing.T) {
	dir, all, _ := real(t)
	if err := os.WriteFile(filepath.Join(dir, "big.txt"), bytes.Repeat([]byte("a line of text\n"), 1500), 0o600); err != nil {
		t.Fatal(err)
	}
	turn, refused := 0, 0
	m, err := llm.Open(llm.Options{Model: "test-model", Key: "x", Base: llmtest.Start(t, llmtest.Script{Answer: func(r llmtest.Request) (llmtest.Step, bool) {
		if len(r.Body) > 60_000 {
			refused++
			return llmtest.Step{Fault: llmtest.Fault{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 15000 tokens.","code":"context_length_exceeded"}}`}}, true
		}
		if turn++; turn > 8 {
			return answers("done"), true
		}
		return does(use("read_file", object{"path": "big.txt", "offset": turn})), true
	}}).URL})
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, agent.Options{Model: m, Tools: all})
	want(t, out, agent.Success, agent.Answered, "done")
	if refused == 0 || refused > 3 || out.Compacted == 0 {
		t.Errorf("got %d refusals and %d compactions", refused, out.Compacted)
	}
}
