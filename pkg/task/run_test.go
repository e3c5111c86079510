package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// scripted is a model that answers the choice of skills and then the work, by the requests that it gets. It is a function, not a server: that
// models are reached over HTTP is tested where that is done.
type scripted struct {
	choice string
	work   func(n int, r llm.Request) llm.Reply

	mu   sync.Mutex
	n    int
	seen []llm.Request
}

func (*scripted) Name() string  { return "test/model" }
func (*scripted) Window() int64 { return 0 }
func (m *scripted) Chat(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, r)
	usage := llm.Usage{Calls: 1, Input: 100, Output: 10, Cost: 0.001}
	if len(r.Tools) == 0 && strings.Contains(r.Messages[0].Content, "which skills") {
		if kind, ok := strings.CutPrefix(m.choice, "fail "); ok {
			return llm.Reply{}, &llm.Error{Kind: llm.Kind(kind), Message: "no", Attempts: 1}
		}
		return llm.Reply{Message: text(m.choice).Message, Finish: llm.Stopped, Usage: usage}, nil
	}
	m.n++
	reply := m.work(m.n, r)
	if reply.Model == "fail" {
		return llm.Reply{}, &llm.Error{Kind: llm.Kind(reply.Message.Content), Message: "no", Attempts: 1}
	}
	reply.Usage = usage
	return reply, nil
}

// requests returns what was asked of the model for the work.
func (m *scripted) requests() (out []llm.Request) {
	for _, r := range m.seen {
		if len(r.Tools) > 0 {
			out = append(out, r)
		}
	}
	return out
}

func text(s string) llm.Reply {
	return llm.Reply{Message: llm.Message{Role: llm.Assistant, Content: s}, Finish: llm.Stopped}
}

func fails(k llm.Kind) llm.Reply {
	r := text(string(k))
	r.Model = "fail"
	return r
}

func calls(name string, args map[string]any) llm.Reply {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llm.Reply{Message: llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: name, Arguments: string(data)}}}, Finish: llm.Called}
}

// answers is a model's work that is one answer.
func answers(s string) func(int, llm.Request) llm.Reply {
	return func(int, llm.Request) llm.Reply { return text(s) }
}

// finds is openspace-search that finds one skill for everything.
func finds(t *testing.T, dir string) string {
	t.Helper()
	write(t, filepath.Join(dir, "SKILL.md"), "---\nname: good\ndescription: does good\n---\n# Good\n\nThe secret step is to whistle.\n")
	write(t, filepath.Join(dir, ".skill_id"), "good__1\n")
	return `while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
	echo '{"type":"hit","id":"'"$id"'","skill_id":"good__1","name":"good","description":"does good","score":0.5,"skill_dir":"` + dir + `","quality":{"total_selections":5,"completion_rate":0,"effective_rate":0}}'
	echo '{"type":"result","id":"'"$id"'","status":"success"}'
done
`
}

// suite is what a task needs, with a model and perhaps a skill.
func suite(t *testing.T, m llm.Model, withSkill bool) *task.Suite {
	t.Helper()
	s := &task.Suite{
		Home: filepath.Join(t.TempDir(), "home"), Record: true, Policy: safety.DefaultPolicy(),
		Model: func(string, []llm.Place) (llm.Model, error) { return m, nil },
	}
	st, err := store.Open(s.Home, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s.Store = st
	if withSkill {
		s.Commands = commands(t, map[string]string{"openspace-search": finds(t, filepath.Join(t.TempDir(), "good"))})
		s.Finder = finder(t, s.Commands)
	}
	return s
}

// events collects what a task tells.
type events struct{ list []wire.Record }

func (e *events) add(r wire.Record) { e.list = append(e.list, r) }

func (e *events) kinds() (out []string) {
	for _, r := range e.list {
		data, err := json.Marshal(r.Typed())
		if err != nil {
			panic(err)
		}
		var head struct{ Type, Kind string }
		if err := json.Unmarshal(data, &head); err != nil {
			panic(err)
		}
		out = append(out, strings.TrimSuffix(head.Type+" "+head.Kind, " "))
	}
	return out
}

func run(t *testing.T, s *task.Suite, w wire.Task) (wire.Result, *events) {
	t.Helper()
	e := &events{}
	return task.Run(t.Context(), w, s, e.add), e
}

func phases(r wire.Result) (out []string) {
	for _, p := range r.Phases {
		out = append(out, p.Name+" "+p.Status)
	}
	return out
}

func TestPlainTask(t *testing.T) {
	m := &scripted{work: func(n int, r llm.Request) llm.Reply {
		if n == 1 {
			return calls("write_file", map[string]any{"path": "out.txt", "content": "hello"})
		}
		return text("It is in out.txt.")
	}}
	s := suite(t, m, false)
	res, e := run(t, s, wire.Task{ID: "7", Task: "write hello to out.txt"})
	if res.Status != "success" || res.Response != "It is in out.txt." || res.ID != "7" || res.Error != nil || res.Iterations != 2 {
		t.Fatalf("got %+v, %v", res, res.Error)
	}
	if len(res.Files) != 1 || res.Files[0].Change != "created" || res.Files[0].Path != filepath.Join(res.WorkspaceDir, "out.txt") {
		t.Errorf("got files %+v", res.Files)
	}
	if res.ToolCallCount != 1 || res.ToolSummary[0] != (wire.ToolCall{Tool: "write_file", Status: "success"}) {
		t.Errorf("got %+v", res.ToolSummary)
	}
	if res.Tokens == nil || res.Tokens.Calls != 2 || res.Tokens.Total != 220 || res.Cost != 0.002 || !slices.Equal(phases(res), []string{"plain success"}) {
		t.Errorf("got %+v, %v, %q", res.Tokens, res.Cost, phases(res))
	}
	want := []string{"step start", "step phase", "step model", "usage", "tool", "tool", "step model", "usage", "answer"}
	if got := e.kinds(); !slices.Equal(got, want) {
		t.Errorf("got events %q, want %q", got, want)
	}
	if !strings.HasPrefix(res.TaskID, "task_") || len(res.TaskID) != 17 || res.WorkspaceDir != filepath.Join(s.Home, "workspaces", res.TaskID) {
		t.Errorf("got task id %q in %s", res.TaskID, res.WorkspaceDir)
	}
	rec, err := recording.Open(filepath.Join(s.Home, "recordings"), res.TaskID)
	if err != nil {
		t.Fatal(err)
	}
	if o := rec.Metadata.ExecutionOutcome; o == nil || o.Status != "success" || rec.Metadata.Model != "test/model" || rec.Metadata.TotalSteps != 1 {
		t.Errorf("got metadata %+v", rec.Metadata)
	}
}

// B12: the skill is in every request, and the model sees it as a text from elsewhere.
func TestSkillStaysInView(t *testing.T) {
	m := &scripted{choice: `{"brief_plan":"whistle","skills":["good__1"]}`, work: func(n int, r llm.Request) llm.Reply {
		if n < 4 {
			return calls("list_dir", map[string]any{"path": "."})
		}
		return text("Whistled.")
	}}
	s := suite(t, m, true)
	res, _ := run(t, s, wire.Task{Task: "do something good"})
	if res.Status != "success" || !slices.Equal(res.SkillsUsed, []string{"good__1"}) || !slices.Equal(phases(res), []string{"select success", "with_skills success"}) {
		t.Fatalf("got %+v, %v, phases %q", res.Status, res.Error, phases(res))
	}
	if res.Phases[0].Reason != "whistle" || res.Phases[1].Skills[0] != "good__1" || res.Tokens.Calls != 5 {
		t.Errorf("got %+v", res.Phases)
	}
	if got := len(m.requests()); got != 4 {
		t.Fatalf("got %d requests, want 4", got)
	}
	for i, r := range m.requests() {
		if !strings.Contains(r.Messages[0].Content, "### Skill: good__1") || !strings.Contains(r.Messages[0].Content, "whistle") {
			t.Errorf("request %d has no skill", i+1)
		}
	}
	if c, err := s.Store.Counters("good__1"); err != nil || c != (store.Counters{Selections: 1, Applied: 1, Completions: 1, Last: c.Last}) {
		t.Errorf("got counters %+v, %v", c, err)
	}
}

// A run that a skill leads astray is done again without it; what the first one made stays, and the second one knows of it (B5, B31).
func TestSecondPhase(t *testing.T) {
	m := &scripted{choice: `{"skills":["good__1"]}`, work: func(n int, r llm.Request) llm.Reply {
		switch n {
		case 1:
			return calls("write_file", map[string]any{"path": "half.txt", "content": "half"})
		case 2:
			return calls("finish", map[string]any{"status": "blocked", "answer": "I cannot whistle."})
		}
		return text("Done without.")
	}}
	s := suite(t, m, true)
	mine := filepath.Join(t.TempDir(), "mine")
	write(t, filepath.Join(mine, "user.txt"), "mine")
	res, _ := run(t, s, wire.Task{Task: "do something good", WorkspaceDir: mine, MaxIterations: 10})
	if want := []string{"select success", "with_skills incomplete", "without_skills success"}; !slices.Equal(phases(res), want) {
		t.Fatalf("got phases %q, want %q", phases(res), want)
	}
	if res.Status != "success" || res.Response != "Done without." || res.Iterations != 3 || res.ToolCallCount != 2 || res.Warning != "" {
		t.Errorf("got %+v", res)
	}
	for _, name := range []string{"user.txt", "half.txt"} {
		if _, err := os.Stat(filepath.Join(mine, name)); err != nil {
			t.Errorf("a file is gone: %v", err)
		}
	}
	system := m.requests()[2].Messages[0].Content
	if strings.Contains(system, "### Skill") || !strings.Contains(system, "write_file") || !strings.Contains(system, "half.txt") || !strings.Contains(system, "good__1") {
		t.Errorf("the second phase is told:\n%s", system)
	}
	if c, err := s.Store.Counters("good__1"); err != nil || c.Selections != 1 || c.Completions != 0 || c.Fallbacks != 1 {
		t.Errorf("got counters %+v, %v; want a fallback", c, err)
	}
}

// There is no second run when it could not do better.
func TestNoSecondPhase(t *testing.T) {
	blocked := calls("finish", map[string]any{"status": "blocked", "answer": "no"})
	tests := []struct {
		name           string
		limits         wire.Task
		reply          llm.Reply
		status         string
		code           wire.Code
		counted, ended int
	}{
		{"nothing left", wire.Task{MaxIterations: 2}, blocked, "incomplete", "", 1, 2},
		{"out of steps", wire.Task{MaxIterations: 1}, text("so far"), "incomplete", "", 1, 1},
		{"no model", wire.Task{}, fails(llm.Unreachable), "error", wire.Network, 0, 1},
		{"key refused", wire.Task{}, fails(llm.BadAuth), "error", wire.Auth, 0, 1},
		{"tokens used up", wire.Task{MaxTokens: 150}, text("so far"), "incomplete", "", 0, 0},
		{"money used up", wire.Task{MaxCost: 0.0005}, text("so far"), "incomplete", "", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &scripted{choice: `{"skills":["good__1"]}`, work: func(n int, _ llm.Request) llm.Reply {
				if tt.limits.MaxIterations == 2 && n == 1 {
					return calls("list_dir", map[string]any{})
				}
				return tt.reply
			}}
			s := suite(t, m, true)
			w := tt.limits
			w.Task = "do something good"
			res, _ := run(t, s, w)
			if res.Status != tt.status || len(res.Phases) != 2 || res.Phases[1].Name != "with_skills" {
				t.Fatalf("got %s, phases %q (%+v)", res.Status, phases(res), res.Error)
			}
			if res.Status == "incomplete" && res.Warning == "" || (res.Error != nil) != (tt.code != "") || res.Error != nil && res.Error.Code != tt.code {
				t.Errorf("got warning %q, error %+v", res.Warning, res.Error)
			}
			if c, err := s.Store.Counters("good__1"); err != nil || c.Selections != tt.counted {
				t.Errorf("got counters %+v, %v; want %d selections", c, err, tt.counted)
			}
		})
	}
}

// B31: what the agent asks for on the way counts, too.
func TestRetrievedSkill(t *testing.T) {
	m := &scripted{choice: `{"skills":[]}`, work: func(n int, r llm.Request) llm.Reply {
		if n == 1 {
			return calls("retrieve_skill", map[string]any{"query": "whistling"})
		}
		if last := r.Messages[len(r.Messages)-1].Content; !strings.Contains(last, "whistle") {
			return text("no skill came: " + last)
		}
		return text("Whistled.")
	}}
	s := suite(t, m, true)
	res, _ := run(t, s, wire.Task{Task: "do something good"})
	if res.Response != "Whistled." || !slices.Equal(res.SkillsUsed, []string{"good__1"}) || !slices.Equal(phases(res), []string{"select success", "plain success"}) {
		t.Errorf("got %q, skills %q, phases %q", res.Response, res.SkillsUsed, phases(res))
	}
	if c, err := s.Store.Counters("good__1"); err != nil || c.Selections != 1 {
		t.Errorf("got counters %+v, %v", c, err)
	}
}

// Whatever cannot be had beside the model costs a warning and not the task.
func TestMissingParts(t *testing.T) {
	s := suite(t, &scripted{work: answers("Done.")}, false)
	s.Commands = commands(t, nil)
	s.Finder = finder(t, s.Commands)
	if err := os.MkdirAll(s.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.Home, "recordings"), "a file in the way")
	res, _ := run(t, s, wire.Task{Task: "do it"})
	if res.Status != "success" || res.RecordingDir != "" || len(res.Warnings) != 2 {
		t.Errorf("got %s, %q, %v", res.Status, res.Warnings, res.Error)
	}
}

// The model that chooses may say anything; the task goes on without skills.
func TestChoiceThatFails(t *testing.T) {
	s := suite(t, &scripted{choice: "I like them all!", work: answers("Done.")}, true)
	res, _ := run(t, s, wire.Task{Task: "do it"})
	if res.Status != "success" || !slices.Equal(phases(res), []string{"select error", "plain success"}) || len(res.Warnings) != 1 || res.SkillsUsed != nil {
		t.Errorf("got %s, %q, %q, %q", res.Status, phases(res), res.Warnings, res.SkillsUsed)
	}
}

// B9: also a task that fails early has a whole result.
func TestEarlyErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	none := errors.New("no such model")
	tests := []struct {
		name string
		w    wire.Task
		err  error
		code wire.Code
	}{
		{"empty", wire.Task{Task: " \n"}, nil, wire.Usage},
		{"a task id that is a path", wire.Task{Task: "x", TaskID: "../../x"}, nil, wire.Invalid},
		{"a scope that is none", wire.Task{Task: "x", SearchScope: "moon"}, nil, wire.Invalid},
		{"a limit below zero", wire.Task{Task: "x", MaxTokens: -1}, nil, wire.Invalid},
		{"a workspace that is a file", wire.Task{Task: "x", WorkspaceDir: file}, nil, wire.Usage},
		{"no model", wire.Task{Task: "x"}, wire.Errorf(wire.Auth, "%w", none), wire.Auth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := suite(t, &scripted{work: answers("Done.")}, false)
			if tt.err != nil {
				s.Model = func(string, []llm.Place) (llm.Model, error) { return nil, tt.err }
			}
			res, e := run(t, s, tt.w)
			if res.Status != "error" || res.Error == nil || res.Error.Code != tt.code || res.TaskID == "" || slices.Contains(e.kinds(), "answer") {
				t.Errorf("got %+v, %+v", res, res.Error)
			}
		})
	}
}

// A limit beyond all reckoning is none.
func TestHugeLimits(t *testing.T) {
	s := suite(t, &scripted{work: answers("Done.")}, false)
	res, _ := run(t, s, wire.Task{Task: "x", TimeoutMS: math.MaxInt64, MaxTokens: math.MaxInt64, MaxIterations: math.MaxInt, MaxCost: math.MaxFloat64})
	if res.Status != "success" {
		t.Errorf("got %s, %q, %+v", res.Status, res.Warning, res.Error)
	}
}

func TestCanceledTask(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := suite(t, &scripted{work: func(n int, _ llm.Request) llm.Reply {
		cancel(errors.New("enough"))
		return calls("list_dir", map[string]any{})
	}}, false)
	res := task.Run(ctx, wire.Task{Task: "x"}, s, func(wire.Record) {})
	if res.Status != "canceled" || res.Error == nil || res.Error.Code != wire.Canceled || !strings.Contains(res.Error.Message, "enough") {
		t.Errorf("got %s, %+v", res.Status, res.Error)
	}
	if _, err := os.Stat(filepath.Join(res.RecordingDir, recording.SummaryFile)); err != nil {
		t.Errorf("the recording has no end: %v", err)
	}
	res = task.Run(ctx, wire.Task{Task: "x"}, s, func(wire.Record) {})
	if res.Status != "canceled" {
		t.Errorf("before it began: got %s", res.Status)
	}
}

// A fault in one task is its error, not the end of the process.
func TestFaultInTask(t *testing.T) {
	s := suite(t, &scripted{work: func(int, llm.Request) llm.Reply { panic("boom") }}, false)
	res, _ := run(t, s, wire.Task{Task: "x"})
	if res.Status != "error" || res.Error == nil || res.Error.Code != wire.Internal || !strings.Contains(res.Error.Message, "boom") {
		t.Errorf("got %s, %+v", res.Status, res.Error)
	}
}

// Learning comes between the answer and the result, and what it counted is not counted again.
func TestLearn(t *testing.T) {
	s := suite(t, &scripted{choice: `{"skills":["good__1"]}`, work: answers("Done.")}, true)
	var got task.Learning
	s.Learn = func(ctx context.Context, l task.Learning) (task.Learnt, error) {
		got = l
		_, err := s.Store.RecordAnalysis(ctx, store.Analysis{TaskID: l.TaskID, SkillJudgments: []store.Judgment{{SkillID: "good__1"}}})
		return task.Learnt{Skills: []wire.Skill{{SkillID: "better__1", Name: "better", SkillDir: "/skills/better"}}, Usage: llm.Usage{Calls: 1, Input: 5}}, err
	}
	res, _ := run(t, s, wire.Task{Task: "do it", SkillDirs: []string{t.TempDir()}})
	if got.Result.Status != "success" || len(got.Skills) != 1 || !got.GuidedWell || got.CaptureDir == "" || got.Recording == nil || len(got.Outcomes) != 1 {
		t.Errorf("learning got %+v", got)
	}
	if len(res.EvolvedSkills) != 1 || !strings.Contains(res.ActionRequired, "better") || !slices.Contains(phases(res), "learn success") || res.Tokens.Calls != 3 {
		t.Errorf("got %+v, %q, %q", res.EvolvedSkills, res.ActionRequired, phases(res))
	}
	if c, err := s.Store.Counters("good__1"); err != nil || c.Selections != 1 || c.Completions != 0 {
		t.Errorf("got counters %+v, %v; want those of the analysis alone", c, err)
	}
	s.Learn = func(context.Context, task.Learning) (task.Learnt, error) { return task.Learnt{}, errors.New("tired") }
	if res, _ := run(t, s, wire.Task{Task: "do it"}); res.Status != "success" || !slices.Contains(phases(res), "learn error") || len(res.Warnings) != 1 {
		t.Errorf("got %s, %q, %q", res.Status, phases(res), res.Warnings)
	}
}

// Tasks side by side share nothing but the search.
func TestTasksSideBySide(t *testing.T) {
	m := &scripted{choice: `{"skills":[]}`, work: func(n int, r llm.Request) llm.Reply {
		ask := r.Messages[len(r.Messages)-1]
		if ask.Role == llm.User {
			return calls("write_file", map[string]any{"path": "me.txt", "content": ask.Content})
		}
		return text("done")
	}}
	s := suite(t, m, true)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			want := fmt.Sprintf("task number %d", i)
			res := task.Run(context.Background(), wire.Task{Task: want}, s, func(wire.Record) {})
			data, err := os.ReadFile(filepath.Join(res.WorkspaceDir, "me.txt"))
			if err != nil || string(data) != want || len(res.Files) != 1 {
				t.Errorf("got %q, %v, %d files, want %q", data, err, len(res.Files), want)
			}
		})
	}
	all.Wait()
}
