package store_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
)

func TestCounters(t *testing.T) {
	tests := []struct {
		name               string
		applied, completed bool
		want               store.Counters
	}{
		{"applied and completed", true, true, store.Counters{Selections: 1, Applied: 1, Completions: 1}},
		{"applied and failed", true, false, store.Counters{Selections: 1, Applied: 1}},
		{"not applied, completed", false, true, store.Counters{Selections: 1}},
		{"not applied, failed", false, false, store.Counters{Selections: 1, Fallbacks: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, fastDir(t))
			a := store.Analysis{TaskID: "t", TaskCompleted: tt.completed, SkillJudgments: []store.Judgment{
				{SkillID: "x", SkillApplied: tt.applied}, {SkillID: "x", SkillApplied: !tt.applied}}}
			for i, want := range []bool{true, false} {
				got, err := s.RecordAnalysis(t.Context(), a)
				if err != nil || got != want {
					t.Errorf("got %v, %v for call %d, want %v", got, err, i, want)
				}
			}
			got, err := s.Counters("x")
			if err != nil || got.Last.IsZero() {
				t.Errorf("got %+v, %v, want a time", got, err)
			}
			got.Last = tt.want.Last
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRates(t *testing.T) {
	c := store.Counters{Selections: 10, Applied: 5, Completions: 2, Fallbacks: 1}
	got := [4]float64{c.AppliedRate(), c.CompletionRate(), c.EffectiveRate(), c.FallbackRate()}
	if want := [4]float64{0.5, 0.4, 0.2, 0.1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (store.Counters{}).CompletionRate(); got != 0 {
		t.Errorf("got %v of nothing, want 0", got)
	}
}

func TestPendingAndProcessed(t *testing.T) {
	s := open(t, fastDir(t))
	for i := range 3 {
		a := store.Analysis{TaskID: "t" + strconv.Itoa(i), SkillJudgments: []store.Judgment{{SkillID: "x"}}}
		if i > 0 {
			a.EvolutionSuggestions = []store.Suggestion{{Type: "fix", TargetSkills: []string{"x"}, Direction: "mend"}}
		}
		if _, err := s.RecordAnalysis(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	names := func(as []store.Analysis, err error) (out string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range as {
			out += a.TaskID + " "
		}
		return out
	}
	if got := names(s.Pending(10)); got != "t1 t2 " {
		t.Errorf("got pending %q, want t1 t2", got)
	}
	if err := s.RecordProcessed(t.Context(), store.Processed{TaskID: "t1", Outcomes: []store.Outcome{{Outcome: "done"}}}); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, s.Home())
	if got := names(fresh.Pending(10)); got != "t2 " {
		t.Errorf("got pending %q, want t2", got)
	}
	if got := names(fresh.Analyses("x", 2)); got != "t1 t2 " {
		t.Errorf("got analyses %q, want the two latest, oldest first", got)
	}
	if a, ok, err := fresh.Analysis("t2"); err != nil || !ok || a.EvolutionSuggestions[0].Direction != "mend" {
		t.Errorf("got %+v, %v, %v", a, ok, err)
	}
	if _, ok, err := fresh.Analysis("t9"); ok || err != nil {
		t.Errorf("got %v, %v of an unknown task", ok, err)
	}
}

func TestMarksToolsAttempts(t *testing.T) {
	s := open(t, fastDir(t))
	mark := store.Mark{Kind: "tool", Key: "shell", SkillID: "x", State: "1"}
	for _, state := range []string{"1", "2"} {
		mark.State = state
		if err := s.RecordMark(t.Context(), mark); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RecordTool(t.Context(), store.ToolSample{Key: "shell", OK: true, MS: 5}, store.ToolSample{Key: "shell", MS: 7, Error: "no"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		if err := s.RecordAttempt(t.Context(), store.Attempt{ID: id, Targets: []string{"x"}, Outcome: "failed"}); err != nil {
			t.Fatal(err)
		}
	}
	fresh := open(t, s.Home())
	if got, ok, err := fresh.MarkState(mark); err != nil || !ok || got != "2" {
		t.Errorf("got mark %q, %v, %v, want 2", got, ok, err)
	}
	if got, err := fresh.Tool("shell"); err != nil || got != (store.ToolStats{Calls: 2, OK: 1, MS: 12, Recent: 2, RecentOK: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := fresh.Attempts("x", 2)
	if err != nil || len(got) != 2 || got[0].ID != "b" || got[1].ID != "c" {
		t.Errorf("got %+v, %v, want the two latest, oldest first", got, err)
	}
	checkSound(t, fresh)
}

func TestEventsRefuseBadKeys(t *testing.T) {
	s := open(t, fastDir(t))
	_, errTask := s.RecordAnalysis(t.Context(), store.Analysis{})
	_, errSkill := s.RecordAnalysis(t.Context(), store.Analysis{TaskID: "t", SkillJudgments: []store.Judgment{{SkillID: "a/b"}}})
	for name, err := range map[string]error{
		"no task":  errTask,
		"bad id":   errSkill,
		"no tool":  s.RecordTool(t.Context(), store.ToolSample{}),
		"nul":      s.RecordMark(t.Context(), store.Mark{Kind: "a\x00b"}),
		"target":   s.RecordAttempt(t.Context(), store.Attempt{Targets: []string{""}}),
		"no task2": s.RecordProcessed(t.Context(), store.Processed{}),
	} {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("got %v for %s, want not valid", err, name)
		}
	}
}

// A skill that was tried and left behind is no success of the run that came after it (B38), whatever the judgment says.
func TestCountersOfARealFallback(t *testing.T) {
	s := open(t, fastDir(t))
	for i, j := range []store.Judgment{
		{SkillID: "x", SkillApplied: true, Fallback: true}, {SkillID: "x", Fallback: true}, {SkillID: "x", SkillApplied: true},
	} {
		if _, err := s.RecordAnalysis(t.Context(), store.Analysis{TaskID: strconv.Itoa(i), TaskCompleted: true, SkillJudgments: []store.Judgment{j}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open(t, s.Home()).Counters("x")
	got.Last = time.Time{}
	if want := (store.Counters{Selections: 3, Applied: 2, Completions: 1, Fallbacks: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestToolForgetsOldCalls(t *testing.T) {
	s := open(t, fastDir(t))
	var calls []store.ToolSample
	for i := range 100 {
		calls = append(calls, store.ToolSample{Key: "mcp:a:b", OK: i >= 50})
	}
	if err := s.RecordTool(t.Context(), calls...); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, s.Home()).Tool("mcp:a:b")
	if want := (store.ToolStats{Calls: 100, OK: 50, Recent: 64, RecentOK: 50}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if rate := (store.ToolStats{}).RecentRate(); rate != 1 {
		t.Errorf("got rate %v of a tool without calls, want 1", rate)
	}
}
