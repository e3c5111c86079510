package evolve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/review"
)

// A recording becomes a run: B29, conversations of others than the agent do not belong to it; B31, skills that were found on the way were offered, too;
// B41, damaged and odd lines are passed over.
func TestRecorded(t *testing.T) {
	st := openStore(t)
	one, late := addSkill(t, st, fastDir(t), "one", nil), addSkill(t, st, fastDir(t), "late", nil)
	root := fastDir(t)
	rec, err := recording.Create(root, "task_1", recording.Meta{Instruction: "make a report"})
	if err != nil {
		t.Fatal(err)
	}
	text := func(role, content string) recording.Message { return recording.Message{Role: role, Content: content} }
	exit := 2
	for _, err := range []error{
		rec.Set("skill_selection", map[string]any{"selected": []string{one.SkillID}}),
		rec.Setup(recording.Setup{Agent: "agent", Phase: "with_skills", Messages: []recording.Message{text("system", "rules"), text("user", "make a report")}}),
		rec.Iteration(recording.Iteration{Agent: "agent", Phase: "with_skills", Iteration: 1, Messages: []recording.Message{
			{Role: "assistant", Content: "I look.", ToolCalls: []recording.ToolCall{{ID: "c", Type: "function", Function: recording.Function{Name: "run_shell", Arguments: "{}"}}}},
			{Role: "tool", Content: "nothing", ToolCallID: "c", Name: "run_shell"}}}),
		rec.Step(recording.Step{Agent: "agent", Phase: "with_skills", Backend: "shell", Tool: "run_shell", Command: "false",
			Result: recording.StepResult{Status: "error", ExitCode: &exit, Error: "exit status 2", Code: "exit"}}),
		rec.Step(recording.Step{Agent: "agent", Backend: "system", Tool: "retrieve_skill", Result: recording.StepResult{Status: "success"}, SkillIDs: []string{late.SkillID, one.SkillID}}),
		rec.Setup(recording.Setup{Agent: "agent", Phase: "without_skills", Messages: []recording.Message{text("user", "make a report")}}),
		rec.Iteration(recording.Iteration{Agent: "agent", Phase: "without_skills", Iteration: 1, Messages: []recording.Message{text("assistant", "Done.")}}),
		rec.Iteration(recording.Iteration{Agent: "SkillEvolver", Iteration: 1, Messages: []recording.Message{text("user", "the evolver's own question")}}),
		rec.Step(recording.Step{Agent: "SkillEvolver", Backend: "system", Tool: "read_file", Result: recording.StepResult{Status: "success"}}),
		rec.Close(recording.Outcome{Status: "success", Iterations: 2, ExecutionTime: 1.5, Response: "Done.", Usage: &recording.Usage{Input: 90, Output: 10}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(rec.Dir(), "traj.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, `{"step":9,"agent_name":"agent","backend":"mcp","server":"bank","tool":"list","result":null}`)
	fmt.Fprint(f, `{"step":10,"ba`)
	f.Close()
	saved, err := recording.Open(root, "task_1")
	if err != nil {
		t.Fatal(err)
	}
	run, err := evolve.Recorded(st, saved)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Fellback || run.Task != "make a report" || run.Status != "success" || run.Figures.Tokens != 100 || run.Figures.MS != 1500 || run.Answer != "Done." {
		t.Errorf("got %+v", run)
	}
	if got := fmt.Sprint(run.Offered); got != fmt.Sprintf("[{%s one %s false} {%s late %s true}]", one.SkillID, one.Dir(), late.SkillID, late.Dir()) {
		t.Errorf("got offered %s", got)
	}
	var said []string
	for _, s := range run.Said {
		said = append(said, fmt.Sprintf("%d.%d %s %s", s.Phase, s.Iteration, s.Role, s.Content))
	}
	if got := strings.Join(said, "|"); got != "1.0 user make a report|1.1 assistant I look.|1.1 tool nothing|2.0 user make a report|2.1 assistant Done." {
		t.Errorf("got said %s", got)
	}
	if len(run.Steps) != 3 || run.Steps[0].Key() != "shell:run_shell" || !run.Steps[0].Exit || run.Steps[2].Key() != "mcp:bank:list" || run.Steps[2].OK {
		t.Errorf("got steps %+v", run.Steps)
	}
}

// B20, B24: what a link shows outside of the folder, and what is no part of the skill, is not shown to the model and stays.
func TestB20OnlyTheSkillIsShown(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", map[string]string{".env": "SECRET=abc\n", ".git/config": "[core]\n"})
	outside := filepath.Join(fastDir(t), "passwd")
	writeFile(t, outside, "root:x:0:0\n")
	if err := os.Symlink(outside, filepath.Join(one.Dir(), "notes.md")); err != nil {
		t.Fatal(err)
	}
	m := answers(stepTwo)
	if _, err := engine(t, evolve.Options{Store: st, Model: m}).Evolve(t.Context(), fixOf(one.Dir())); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"root:x", "SECRET", "[core]", ".upload_meta"} {
		if strings.Contains(m.last(), part) {
			t.Errorf("%q is shown to the model", part)
		}
	}
	if got := readFile(t, filepath.Join(one.Dir(), ".env")); got != "SECRET=abc\n" {
		t.Errorf("got %q", got)
	}
	if to, err := os.Readlink(filepath.Join(one.Dir(), "notes.md")); err != nil || to != outside {
		t.Errorf("got link %q, %v", to, err)
	}
}

// PA-07: a file below a link that leaves the folder is not written.
func TestPA07ThroughALink(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	outside := fastDir(t)
	if err := os.Symlink(outside, filepath.Join(one.Dir(), "refs")); err != nil {
		t.Fatal(err)
	}
	edit := "CHANGE_SUMMARY: s\n\n*** Begin Patch\n*** Add File: refs/x.md\n+x\n*** End Patch\n"
	_, err := engine(t, evolve.Options{Store: st, Model: answers(edit)}).Evolve(t.Context(), fixOf(one.Dir()))
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("got %v outside; %v", left, err)
	}
	checkStore(t, st)
}

// B65: what the suggestion says about the category is kept.
func TestB65Category(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	req := fixOf(one.Dir())
	req.Category = "reference"
	res, err := engine(t, evolve.Options{Store: st, Model: answers(stepTwo)}).Evolve(t.Context(), req)
	if err != nil || res.Record.Category != "reference" || res.Kind != review.Fix {
		t.Errorf("got %+v, %v", res.Record, err)
	}
}
