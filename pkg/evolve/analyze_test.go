package evolve_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/store"
)

// aRun is a run with two skills and some calls.
func aRun(skills ...store.Record) evolve.Run {
	run := evolve.Run{TaskID: "t1", Task: "make a report", Status: "success", Answer: "Done.", Figures: store.RunFigures{Iterations: 4, Tokens: 900}}
	for _, s := range skills {
		run.Offered = append(run.Offered, evolve.Offered{ID: s.SkillID, Name: s.Name, Dir: s.Dir()})
	}
	for range 4 {
		run.Steps = append(run.Steps, evolve.Step{Phase: 1, Backend: "shell", Tool: "run_shell", Command: "ls", OK: true})
	}
	run.Said = []evolve.Said{
		{Phase: 1, Message: llm.Message{Role: llm.User, Content: "make a report"}},
		{Phase: 1, Iteration: 1, Message: llm.Message{Role: llm.Assistant, Content: "I look.", ToolCalls: []llm.ToolCall{{ID: "1", Name: "run_shell", Arguments: `{"command":"ls"}`}}}},
		{Phase: 1, Iteration: 1, Message: llm.Message{Role: llm.ToolRole, Content: "a.txt"}},
		{Phase: 1, Iteration: 2, Message: llm.Message{Role: llm.Assistant, Content: "Done."}},
	}
	return run
}

func TestAnalyze(t *testing.T) {
	st := openStore(t)
	one, two := addSkill(t, st, fastDir(t), "one", nil), addSkill(t, st, fastDir(t), "two", nil)
	typo := one.SkillID[:len(one.SkillID)-1] + "z"
	m := answers(`Here it is: {"task_completed": "false", "execution_note": "It went wrong.", "tool_issues": ["shell:run_shell — slow", {"key": "mcp:a:b", "text": "lies"}, 7],
	 "skill_judgments": [{"skill_id": "` + typo + `", "skill_applied": true, "note": "used"}, {"skill_id": "` + one.SkillID + `", "skill_applied": false}, "x", {"skill_id": "other__imp_00000000", "skill_applied": true}],
	 "evolution_suggestions": [{"type": "fix", "target_skills": ["` + typo + `"], "category": "odd", "direction": "say more"}, {"type": "fix", "target_skills": [], "direction": "none"},
	  {"type": "fix", "target_skill": "` + one.SkillID + `", "direction": "and more"}, {"type": "captured", "target_skills": ["x"], "category": "reference", "direction": "keep it"}, {"type": "explode", "direction": "no"}]}`)
	a, usage, err := engine(t, evolve.Options{Store: st, Model: m}).Analyze(t.Context(), aRun(one, two))
	if err != nil {
		t.Fatal(err)
	}
	if a.TaskCompleted || a.AnalyzedBy != "scripted" || usage.Calls != 1 || a.Run.Tokens != 900 || a.Run.Status != "success" {
		t.Errorf("got %+v, %+v", a, usage)
	}
	if want := []string{"shell:run_shell — slow", "mcp:a:b — lies"}; !slices.Equal(a.ToolIssues, want) {
		t.Errorf("got issues %q, want %q", a.ToolIssues, want)
	}
	// B39: the repaired id and the right one are the same skill; the first judgment counts, and the skill that was not judged has one, too.
	if len(a.SkillJudgments) != 2 || !a.SkillJudgments[0].SkillApplied || a.SkillJudgments[1].SkillApplied || a.SkillJudgments[1].Note != "not judged" {
		t.Errorf("got judgments %+v", a.SkillJudgments)
	}
	got, _ := json.Marshal(a.EvolutionSuggestions)
	want := `[{"type":"fix","target_skills":["` + one.SkillID + `"],"direction":"say more Also: and more"},{"type":"captured","target_skills":[],"category":"reference","direction":"keep it"}]`
	if string(got) != want {
		t.Errorf("got suggestions\n%s\nwant\n%s", got, want)
	}
	stored, ok, err := st.Analysis("t1")
	if err != nil || !ok || len(stored.SkillJudgments) != 2 {
		t.Errorf("got %+v, %v, %v from the store", stored, ok, err)
	}
	question := m.asked[0].Messages[1].Content
	for _, part := range []string{"make a report", one.SkillID, "Step one.", "[shell:run_shell] ls: ok", "CALL run_shell"} {
		if !strings.Contains(question, part) {
			t.Errorf("%q is not in the question", part)
		}
	}
}

// A run is analysed once.
func TestAnalyzeOnce(t *testing.T) {
	st := openStore(t)
	m := answers(`{"task_completed": true}`)
	e := engine(t, evolve.Options{Store: st, Model: m})
	for range 2 {
		if a, _, err := e.Analyze(t.Context(), aRun()); err != nil || !a.TaskCompleted {
			t.Fatalf("got %+v, %v", a, err)
		}
	}
	if len(m.asked) != 1 {
		t.Errorf("got %d questions, want 1", len(m.asked))
	}
}

func TestAnalyzeAsksOnceMore(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	m := answers("I think it went well.", "```json\n{\"task_completed\": true}\n```")
	if a, _, err := engine(t, evolve.Options{Store: st, Model: m}).Analyze(t.Context(), aRun(one)); err != nil || !a.TaskCompleted {
		t.Errorf("got %+v, %v", a, err)
	}
	if !strings.Contains(m.last(), "JSON object") {
		t.Errorf("got %q as second question", m.last())
	}
}

// Without an answer a run still counts: B38 among it, a fallback that happened is one whatever a model says.
func TestB38Fallback(t *testing.T) {
	run := func(t *testing.T, m *script) store.Counters {
		st := openStore(t)
		one := addSkill(t, st, fastDir(t), "one", nil)
		r := aRun(one)
		r.Fellback = true
		_, _, err := engine(t, evolve.Options{Store: st, Model: m}).Analyze(t.Context(), r)
		if (err != nil) != (len(m.answers) == 0 && len(m.asked) == 1 && m.hook != nil) {
			t.Errorf("got error %v", err)
		}
		c, err := st.Counters(one.SkillID)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := run(t, answers(`{"task_completed": true, "skill_judgments": [{"skill_id": "one", "skill_applied": true}]}`))
	if c.Selections != 1 || c.Applied != 1 || c.Completions != 0 || c.Fallbacks != 1 {
		t.Errorf("with a judgment: got %+v", c)
	}
	c = run(t, &script{answers: []any{errors.New("no network")}, hook: func(int) {}})
	if c.Selections != 1 || c.Completions != 0 || c.Fallbacks != 1 {
		t.Errorf("without one: got %+v", c)
	}
}

// A run that taught nothing costs nothing.
func TestTrivialRunIsNotShown(t *testing.T) {
	m := answers()
	r := aRun()
	r.Steps = r.Steps[:2]
	a, usage, err := engine(t, evolve.Options{Store: openStore(t), Model: m}).Analyze(t.Context(), r)
	if err != nil || usage.Calls != 0 || len(m.asked) != 0 || !a.TaskCompleted {
		t.Errorf("got %+v, %+v, %v", a, usage, err)
	}
}

// The model may read the recording and the offered skills, and nothing else.
func TestAnalysisReads(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	one := addSkill(t, st, root, "one", map[string]string{"ref/more.md": "more text and hunter2"})
	writeFile(t, filepath.Join(root, "outside"), "not for you")
	call := func(args string) llm.Message {
		return llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "read_file", Arguments: args}}}
	}
	id := one.SkillID
	m := answers(call(`{"path":"`+id+`/ref/more.md"}`), call(`{"path":"`+id+`/../outside"}`), call(`{"path":"`+id+`"}`), call(`{"path":"/etc/passwd"}`), `{"task_completed": true}`)
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	if _, _, err := engine(t, evolve.Options{Store: st, Model: m, Mask: mask}).Analyze(t.Context(), aRun(one)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, msg := range m.asked[len(m.asked)-1].Messages {
		if msg.Role == llm.ToolRole {
			got = append(got, msg.Content)
		}
	}
	for i, want := range []string{"more text and ***", "There is no file", id + "/ref/", "There is no file"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("call %d: got %q, want %q in it", i, got[i], want)
		}
	}
	if last := m.asked[len(m.asked)-1]; last.ToolChoice != llm.None {
		t.Errorf("after four readings it may still read: %q", last.ToolChoice)
	}
}

// B42: after a fallback the last answer is kept whole however long the rest is. B73: "0 errors found" is no error.
func TestB42Transcript(t *testing.T) {
	st := openStore(t)
	r := aRun()
	long := strings.Repeat("word ", 3000)
	for i := range 40 {
		r.Said = append(r.Said, evolve.Said{Phase: 1, Iteration: i + 3, Message: llm.Message{Role: llm.Assistant, Content: long}},
			evolve.Said{Phase: 1, Iteration: i + 3, Message: llm.Message{Role: llm.ToolRole, Content: "0 errors found " + long}})
	}
	r.Said = append(r.Said, evolve.Said{Phase: 2, Iteration: 1, Message: llm.Message{Role: llm.ToolRole, Content: "Error: disk full " + long}},
		evolve.Said{Phase: 2, Iteration: 2, Message: llm.Message{Role: llm.Assistant, Content: "THE LAST ANSWER"}})
	m := answers(`{"task_completed": true}`)
	if _, _, err := engine(t, evolve.Options{Store: st, Model: m}).Analyze(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	q := m.asked[0].Messages[1].Content
	if len(q) > 50_000 {
		t.Errorf("got a question of %d bytes", len(q))
	}
	for _, part := range []string{"[2.2] AGENT: THE LAST ANSWER", "[2.1] ERROR Error: disk full", "[1.0] USER: make a report", "not shown"} {
		if !strings.Contains(q, part) {
			t.Errorf("%q is not in the question", part)
		}
	}
	if strings.Contains(q, "ERROR 0 errors") {
		t.Error("a result without errors is taken for one")
	}
}
