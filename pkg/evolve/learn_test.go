package evolve_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/store"
)

// judged is an answer of the analysis about one skill.
func judged(id string, applied, completed bool, suggestions ...string) string {
	return fmt.Sprintf(`{"task_completed": %v, "execution_note": "n", "skill_judgments": [{"skill_id": %q, "skill_applied": %v, "note": "x"}], "evolution_suggestions": [%s]}`,
		completed, id, applied, strings.Join(suggestions, ","))
}

func toFix(id string) string {
	return fmt.Sprintf(`{"type": "fix", "target_skills": [%q], "direction": "care"}`, id)
}

const toCapture = `{"type": "captured", "target_skills": [], "category": "workflow", "direction": "keep it"}`

// nth is a run of its own.
func nth(n int, skills ...store.Record) evolve.Run {
	r := aRun(skills...)
	r.TaskID = fmt.Sprint("run", n)
	return r
}

func TestLearn(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	one := addSkill(t, st, root, "one", nil)
	m := answers(judged(one.SkillID, true, true, toFix(one.SkillID), toCapture), stepTwo, whole(skillText("monthly-report", steps)))
	e := engine(t, evolve.Options{Store: st, Model: m, Root: filepath.Join(root, "own")})
	got, err := e.Learn(t.Context(), nth(1, one))
	if err != nil || len(got.Changes) != 2 || len(got.Notes) != 0 || got.Usage.Calls != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if fix, captured := got.Changes[0].Record, got.Changes[1].Record; fix.Lineage.Origin != store.OriginFixed || captured.Name != "monthly-report" || fix.Lineage.SourceTaskID != "run1" {
		t.Errorf("got %+v and %+v", fix, captured)
	}
	// B9: what the run used is known of the skill that it applied, and of what was made from it.
	for _, c := range got.Changes {
		if fmt.Sprint(c.Record.ToolDependencies) != "[shell:run_shell]" {
			t.Errorf("%s: got tools %v", c.Name, c.Record.ToolDependencies)
		}
	}
	if tool, err := st.Tool("shell:run_shell"); err != nil || tool.Calls != 4 || tool.OK != 4 {
		t.Errorf("got %+v, %v", tool, err)
	}
	if left, err := st.Pending(9); err != nil || len(left) != 0 {
		t.Errorf("got pending %+v, %v", left, err)
	}
	// The same run teaches once.
	if again, err := e.Learn(t.Context(), nth(1, one)); err != nil || len(again.Changes) != 0 || len(m.asked) != 3 {
		t.Errorf("again: got %+v, %v", again, err)
	}
	checkStore(t, st)
}

// Changes that come to nothing are noted, the others are made, and the analysis is processed in any case (B11).
func TestB11Processed(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	m := answers(judged(one.SkillID, true, true, toFix(one.SkillID), toCapture), "<EVOLUTION_FAILED>\nReason: it is right", whole(skillText("monthly-report", steps)))
	got, err := engine(t, evolve.Options{Store: st, Model: m, Root: fastDir(t)}).Learn(t.Context(), nth(1, one))
	if err != nil || len(got.Changes) != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "it is right") {
		t.Errorf("got %+v, %v", got, err)
	}
	if left, err := st.Pending(9); err != nil || len(left) != 0 {
		t.Errorf("got pending %+v, %v", left, err)
	}
}

func TestModeOffOnlyCounts(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	m := answers(judged(one.SkillID, true, true, toFix(one.SkillID)))
	got, err := engine(t, evolve.Options{Store: st, Model: m, Mode: evolve.Off}).Learn(t.Context(), nth(1, one))
	c, cerr := st.Counters(one.SkillID)
	if err != nil || cerr != nil || len(got.Changes) != 0 || len(m.asked) != 1 || c.Completions != 1 {
		t.Errorf("got %+v, %v, %+v", got, err, c)
	}
	if left, err := st.Pending(9); err != nil || len(left) != 0 {
		t.Errorf("got pending %+v, %v", left, err)
	}
}

// A model that cannot be reached costs the suggestions, not the counting.
func TestLearnWithoutAModel(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	got, err := engine(t, evolve.Options{Store: st, Model: answers(errors.New("no network"))}).Learn(t.Context(), nth(1, one))
	if err == nil || !got.Analysis.TaskCompleted {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err = engine(t, evolve.Options{Store: st}).Learn(t.Context(), nth(2, one)); err != nil {
		t.Error(err)
	}
	if c, err := st.Counters(one.SkillID); err != nil || c.Selections != 2 || c.Completions != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// At most three changes a day that nobody asked for.
func TestManyChangesAreHeldBack(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	now := time.Now()
	last := "Step two."
	for n := 1; n <= 5; n++ {
		head, _, err := st.HeadAt(one.Dir())
		if err != nil {
			t.Fatal(err)
		}
		next := fmt.Sprintf("Step two, time %d.", n)
		m := answers(judged(head.SkillID, true, true, toFix(head.SkillID)), strings.NewReplacer("-Step two.", "-"+last, "+Step two, with care.", "+"+next).Replace(stepTwo))
		got, err := engine(t, evolve.Options{Store: st, Model: m, Now: func() time.Time { return now }}).Learn(t.Context(), nth(n, head))
		if err != nil {
			t.Fatal(err)
		}
		if made := len(got.Changes); made != map[bool]int{true: 0, false: 1}[n == 4] {
			t.Errorf("run %d: got %d changes; %v", n, made, got.Notes)
		} else if made == 1 {
			last = next
		}
		if n == 4 {
			now = now.Add(25 * time.Hour)
		}
	}
}

// What a process did not get to is taken up by a later run, with the recording of the run that suggested it.
func TestResume(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	rec, err := recording.Create(filepath.Join(root, "recordings"), "old", recording.Meta{Instruction: "make the old report"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		rec.Setup(recording.Setup{Agent: "agent", Phase: "plain", Messages: []recording.Message{{Role: "user", Content: "make the old report"}}}),
		rec.Iteration(recording.Iteration{Agent: "agent", Phase: "plain", Iteration: 1, Messages: []recording.Message{{Role: "assistant", Content: "It is made."}}}),
		rec.Step(recording.Step{Agent: "agent", Backend: "mcp", Server: "bank", Tool: "list", Command: "bank.list", Result: recording.StepResult{Status: "success"}}),
		rec.Close(recording.Outcome{Status: "success", Iterations: 1}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = st.RecordAnalysis(t.Context(), store.Analysis{TaskID: "old", RecDir: rec.Dir(), AnalyzedAt: time.Now().Add(-time.Hour),
		EvolutionSuggestions: []store.Suggestion{{Type: "captured", Direction: "keep the old way"}}})
	if err != nil {
		t.Fatal(err)
	}
	m := answers(whole(skillText("old-report", steps)))
	r := nth(2)
	r.Steps = nil
	got, err := engine(t, evolve.Options{Store: st, Model: m, Root: filepath.Join(root, "own")}).Learn(t.Context(), r)
	if err != nil || len(got.Changes) != 1 || got.Changes[0].Record.Lineage.SourceTaskID != "old" || fmt.Sprint(got.Changes[0].Record.ToolDependencies) != "[mcp:bank:list]" {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, part := range []string{"make the old report", "keep the old way", "It is made.", "mcp:bank:list"} {
		if !strings.Contains(m.last(), part) {
			t.Errorf("%q is not in the question", part)
		}
	}
	if left, err := st.Pending(9); err != nil || len(left) != 0 {
		t.Errorf("got pending %+v, %v", left, err)
	}
}

// toolRun is a run that used a tool of an MCP server, five times, well or not.
func toolRun(n int, ok bool, skills ...store.Record) evolve.Run {
	r := nth(n, skills...)
	r.Steps = nil
	for range 5 {
		r.Steps = append(r.Steps, evolve.Step{Phase: 1, Backend: "mcp", Server: "bank", Tool: "list", Command: "bank.list", OK: ok, Error: "gone"})
	}
	return r
}

// B9, B61: a tool that breaks is looked at once for each line of skills that depend on it, also when the skill has another id by then, and again
// only after it has worked meanwhile.
func TestB61ToolDegradation(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	two := addSkill(t, st, fastDir(t), "two", nil)
	yes, no := `{"proceed": true, "direction": "say what to do instead"}`, `{"proceed": false, "reason": "it does not need it"}`
	learn := func(n int, r evolve.Run, want int, lines ...any) evolve.Learned {
		t.Helper()
		m := answers(lines...)
		got, err := engine(t, evolve.Options{Store: st, Model: m}).Learn(t.Context(), r)
		if err != nil || len(m.answers) != 0 || len(got.Changes) != want || len(got.Notes) != 0 {
			t.Fatalf("run %d: got %+v, %v, %d answers left", n, got, err, len(m.answers))
		}
		return got
	}
	learn(1, toolRun(1, true, one), 0, judged(one.SkillID, true, true))
	learn(2, toolRun(2, true, two), 0, judged(two.SkillID, true, true))
	learn(3, toolRun(3, false), 0, `{"task_completed": true}`)
	learn(4, toolRun(4, false), 0, `{"task_completed": true}`)
	// Now 10 of 20 went well: not less than half. One more run, and both skills are looked at.
	got := learn(5, toolRun(5, false), 1, `{"task_completed": true}`, yes, stepTwo, no)
	if got.Changes[0].Head.SkillID != one.SkillID {
		t.Errorf("got %+v", got.Changes[0])
	}
	learn(6, toolRun(6, false), 0, `{"task_completed": true}`)
	for n := 7; n < 14; n++ { // it works again
		learn(n, toolRun(n, true), 0, `{"task_completed": true}`)
	}
	for n := 14; n < 20; n++ {
		learn(n, toolRun(n, false), 0, `{"task_completed": true}`)
	}
	learn(20, toolRun(20, false), 0, `{"task_completed": true}`, no, no) // 37 of the last 64 calls failed
	checkStore(t, st)
}

// The shell works although commands fail.
func TestFailingCommandsAreNoBrokenTool(t *testing.T) {
	st := openStore(t)
	r := nth(1)
	for i := range r.Steps {
		r.Steps[i].OK, r.Steps[i].Exit = false, true
	}
	m := answers(`{"task_completed": true, "tool_issues": ["shell:run_shell — shows half of it", "mcp:other:tool — was not used"]}`)
	if _, err := engine(t, evolve.Options{Store: st, Model: m}).Learn(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := st.Tool("shell:run_shell"); err != nil || got.Calls != 5 || got.OK != 4 {
		t.Errorf("got %+v, %v, want 4 good calls and one issue", got, err)
	}
	if got, err := st.Tool("mcp:other:tool"); err != nil || got.Calls != 0 {
		t.Errorf("got %+v, %v of a tool that was not used", got, err)
	}
}

// use records uses of a version.
func use(t *testing.T, st *store.Store, rec store.Record, n, completed int) {
	t.Helper()
	for i := range n {
		_, err := st.RecordAnalysis(t.Context(), store.Analysis{TaskID: fmt.Sprint("use", rec.SkillID, i), TaskCompleted: i < completed,
			SkillJudgments: []store.Judgment{{SkillID: rec.SkillID, SkillApplied: true}}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// B8, B37, B47: every fifth run, of whichever process, skills with bad numbers are asked about; not again until they were used more, and derived from once.
func TestB8Counters(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	frozen, weak := addSkill(t, st, root, "frozen", nil), addSkill(t, st, root, "weak", nil)
	use(t, st, frozen, 2, 0)
	use(t, st, weak, 10, 5)
	no, yes := `{"proceed": false, "reason": "bad luck"}`, `{"proceed": true}`
	derived := whole(skillText("weak-cases", steps))
	run := 0
	five := func(lines ...any) (changes []evolve.Result) {
		t.Helper()
		for range 5 {
			run++
			r := nth(run)
			r.Steps = nil
			m := answers()
			if run%5 == 0 {
				m = answers(lines...)
			}
			got, err := engine(t, evolve.Options{Store: st, Model: m, Root: root}).Learn(t.Context(), r)
			if err != nil || len(m.answers) != 0 || len(got.Notes) != 0 {
				t.Fatalf("run %d: got %+v, %v, %d answers left", run, got, err, len(m.answers))
			}
			changes = append(changes, got.Changes...)
		}
		return changes
	}
	if got := five(no, yes, derived); len(got) != 1 || got[0].Name != "weak-cases" {
		t.Errorf("first: got %+v", got)
	}
	if got := five(); len(got) != 0 {
		t.Errorf("second: got %+v", got)
	}
	for i := range 5 { // used again, the one that was rejected is asked about again, the one that was derived from is not
		for _, rec := range []store.Record{frozen, weak} {
			_, err := st.RecordAnalysis(t.Context(), store.Analysis{TaskID: fmt.Sprint("more", rec.SkillID, i), TaskCompleted: rec.Name == "weak" && i < 2,
				SkillJudgments: []store.Judgment{{SkillID: rec.SkillID, SkillApplied: true}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := five(yes, stepTwo); len(got) != 1 || got[0].Head.SkillID != frozen.SkillID {
		t.Errorf("third: got %+v", got)
	}
	checkStore(t, st)
}

// EV-08: a version that does worse than the one before is taken back by itself, says so, and the next fix is told about it.
func TestEV08TakenBack(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	use(t, st, one, 10, 8)
	text := readFile(t, one.Path)
	e := func(m *script) *evolve.Engine { return engine(t, evolve.Options{Store: st, Model: m}) }
	got, err := e(answers(judged(one.SkillID, true, false, toFix(one.SkillID)), stepTwo)).Learn(t.Context(), nth(1, one))
	if err != nil || len(got.Changes) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	bad := got.Changes[0].Record
	for n := 2; n <= 6; n++ {
		if got, err = e(answers(judged(bad.SkillID, true, n == 2))).Learn(t.Context(), nth(n, bad)); err != nil {
			t.Fatal(err)
		}
		if want := n == 6; (len(got.Changes) == 1) != want {
			t.Fatalf("run %d: got %+v", n, got)
		}
	}
	back := got.Changes[0].Record
	if readFile(t, one.Path) != text || back.Lineage.Restores != one.SkillID || back.Lineage.CreatedBy != "openspace" || back.Lineage.Generation != 2 ||
		back.Lineage.ChangeSummary != "taken back: 1 of 5 tasks completed, before 8 of 11 ("+one.SkillID+")" {
		t.Errorf("got %+v", back)
	}
	m := answers(judged(back.SkillID, true, false, toFix(back.SkillID)), "<EVOLUTION_FAILED>")
	if _, err := e(m).Learn(t.Context(), nth(7, back)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.last(), "name the second step: taken back") {
		t.Errorf("the next fix is not told: %q", m.last())
	}
	// The same is not made again. Another bad version is compared with what was put back, not with the bad one before it.
	other := strings.ReplaceAll(stepTwo, "with care", "with haste")
	m = answers(judged(back.SkillID, true, false, toFix(back.SkillID)), stepTwo, other)
	if got, err = e(m).Learn(t.Context(), nth(8, back)); err != nil || len(got.Changes) != 1 || !strings.Contains(m.last(), "was there before and was taken back") {
		t.Fatalf("got %+v, %v, told %q", got, err, m.last())
	}
	bad = got.Changes[0].Record
	for n := 9; n <= 11; n++ {
		if got, err = e(answers(judged(bad.SkillID, true, false))).Learn(t.Context(), nth(n, bad)); err != nil {
			t.Fatal(err)
		}
	}
	if len(got.Changes) != 1 || got.Changes[0].Record.Lineage.Restores != one.SkillID || readFile(t, one.Path) != text {
		t.Errorf("got %+v, want the first text back", got)
	}
	checkStore(t, st)
}

// What a person asked for, or made by hand, is theirs: nothing is taken back.
func TestManualFixIsNotTakenBack(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	use(t, st, one, 10, 8)
	res, err := engine(t, evolve.Options{Store: st, Model: answers(stepTwo)}).Evolve(t.Context(), fixOf(one.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	use(t, st, res.Record, 5, 0)
	got, err := engine(t, evolve.Options{Store: st, Model: answers(judged(res.Record.SkillID, true, false))}).Learn(t.Context(), nth(1, res.Record))
	if err != nil || len(got.Changes) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestBudget(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	m := answers(judged(one.SkillID, true, true, toFix(one.SkillID), toCapture), stepTwo)
	got, err := engine(t, evolve.Options{Store: st, Model: m, Tokens: 150, Root: fastDir(t)}).Learn(t.Context(), nth(1, one))
	if err != nil || len(got.Changes) != 1 || len(m.asked) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if a, err := st.Attempts(one.SkillID, 9); err != nil || len(a) != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A run that was only counted can be learnt from later, without being counted twice; one that was learnt from only by force.
func TestLearnAgain(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	one := addSkill(t, st, root, "one", nil)
	_, err := st.RecordAnalysis(t.Context(), store.Analysis{TaskID: "run1", AnalyzedBy: "somebody", SkillJudgments: []store.Judgment{{SkillID: one.SkillID, SkillApplied: true}}})
	if err != nil {
		t.Fatal(err)
	}
	r := nth(1, one)
	r.Again = true
	m := answers(judged(one.SkillID, true, true, toCapture), whole(skillText("monthly-report", steps)))
	got, err := engine(t, evolve.Options{Store: st, Model: m, Root: root}).Learn(t.Context(), r)
	if err != nil || len(got.Changes) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if c, err := st.Counters(one.SkillID); err != nil || c.Selections != 1 {
		t.Errorf("got %+v, %v, want it counted once", c, err)
	}
	r2 := nth(2, one)
	r2.Again = true
	for i, want := range []int{1, 0, 1} {
		m = answers(judged(one.SkillID, true, true, toCapture), whole(skillText(fmt.Sprint("report-", i), steps)), whole(skillText(fmt.Sprint("report-", i), steps)))
		if i == 2 {
			m.answers = m.answers[1:]
		}
		got, err = engine(t, evolve.Options{Store: st, Model: m, Root: fastDir(t), Force: i != 1}).Learn(t.Context(), r2)
		if err != nil || len(got.Changes) != want {
			t.Errorf("time %d: got %+v, %v, want %d changes", i, got, err, want)
		}
	}
}
