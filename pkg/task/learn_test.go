package task_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Learning has what the work left of the budget.
func TestLearnWithinBudget(t *testing.T) {
	t.Parallel() // it mostly waits
	asks := func(ctx context.Context, l task.Learning) (learnt task.Learnt, err error) {
		for err == nil && learnt.Usage.Calls < 50 {
			var reply llm.Reply
			reply, err = l.Model.Chat(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "what was learnt?"}}})
			learnt.Usage.Add(reply.Usage)
		}
		return learnt, err
	}
	for name, tt := range map[string]struct {
		limits wire.Task
		calls  int64 // of learning
		words  string
	}{
		"none":   {wire.Task{}, 50, ""},
		"tokens": {wire.Task{MaxTokens: 5000}, 45, "reached the limit of 5000 tokens"},
		"cost":   {wire.Task{MaxCost: 0.0025}, 2, "reached the cost limit of $0.0025"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &scripted{work: answers("Done.")}
			s := suite(t, m, false)
			s.Learn = asks
			limits := tt.limits
			limits.Task = "do it"
			res, _ := run(t, s, limits)
			if res.Status != "success" || res.Tokens.Calls != 1+tt.calls || (len(res.Warnings) > 0) != (tt.words != "") || !strings.Contains(strings.Join(res.Warnings, "\n"), tt.words) {
				t.Errorf("got %s, %+v, %q", res.Status, res.Tokens, res.Warnings)
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		s := suite(t, &scripted{work: answers("Done.")}, false)
		s.Learn = func(ctx context.Context, l task.Learning) (task.Learnt, error) {
			<-ctx.Done()
			return task.Learnt{}, context.Cause(ctx)
		}
		res, _ := run(t, s, wire.Task{Task: "do it", TimeoutMS: 6000})
		if res.Status != "success" || !slices.Contains(phases(res), "learn error") || !strings.Contains(strings.Join(res.Warnings, "\n"), "time limit") {
			t.Errorf("got %s, %q, %q", res.Status, phases(res), res.Warnings)
		}
	})
}

// A model that did not answer the task is not asked about it.
func TestNothingIsLearntFromSilence(t *testing.T) {
	for kind, want := range map[llm.Kind]bool{llm.BadAuth: false, llm.Limited: false, llm.Unreachable: false, llm.TooLarge: true} {
		s := suite(t, &scripted{work: func(int, llm.Request) llm.Reply { return fails(kind) }}, false)
		asked := false
		s.Learn = func(context.Context, task.Learning) (task.Learnt, error) {
			asked = true
			return task.Learnt{}, nil
		}
		if res, _ := run(t, s, wire.Task{Task: "do it"}); res.Status != "error" || asked != want {
			t.Errorf("%s: got %s, learning %t, want %t", kind, res.Status, asked, want)
		}
	}
}
