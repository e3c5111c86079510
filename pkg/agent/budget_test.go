package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// worker is a model that calls a tool until it is told to answer.
func worker(name string, u llm.Usage) *script {
	return &script{replies: []any{func(_ context.Context, r llm.Request) any {
		reply := calls(name, "{}")
		if r.ToolChoice == llm.None {
			reply = says("so far")
		}
		reply.Usage = u
		return reply
	}}}
}

// A caller can lower and raise the number of iterations (B18), and a run that reaches it still has an answer.
func TestIterationBudget(t *testing.T) {
	for limit, want_ := range map[int]int{0: 30, 1: 1, 2: 2, 7: 7, 60: 60} {
		m := worker("run_shell", llm.Usage{Calls: 1, Input: 10, Output: 1})
		out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Budget: agent.Budget{Iterations: limit}})
		want(t, out, agent.Incomplete, agent.OutOfSteps, "so far")
		if out.Iterations != want_ || len(m.requests) != want_ || out.Warning == "" {
			t.Errorf("limit %d: got %d iterations, %d requests, warning %q, want %d", limit, out.Iterations, len(m.requests), out.Warning, want_)
		}
		last := m.requests[len(m.requests)-1]
		if note := last.Messages[len(last.Messages)-1]; note.Role != llm.User || !strings.Contains(note.Content, "Answer the user") || len(last.Tools) != 1 {
			t.Errorf("limit %d: the last request ends with %+v and has %d tools", limit, note, len(last.Tools))
		}
	}
}

// A model that calls tools although it must not ends the run all the same.
func TestCallsInTheLastIteration(t *testing.T) {
	r := calls("run_shell", "{}")
	r.Message.Content = "one more look"
	out := run(t, agent.Options{Model: &script{replies: []any{r}}, Tools: set(t, returns("run_shell", ok("x"))), Budget: agent.Budget{Iterations: 2}})
	want(t, out, agent.Incomplete, agent.OutOfSteps, "one more look")
	if len(out.Calls) != 1 {
		t.Errorf("got %d calls, want 1", len(out.Calls))
	}
}

func TestTokenBudget(t *testing.T) {
	all := set(t, returns("run_shell", ok("x")))
	m := worker("run_shell", llm.Usage{Calls: 1, Input: 1000, Output: 100})
	out := run(t, agent.Options{Model: m, Tools: all, Budget: agent.Budget{Tokens: 10_000}})
	want(t, out, agent.Incomplete, agent.OutOfTokens, "so far")
	if used := out.Usage.Tokens(); used > 10_000 || used < 5000 {
		t.Errorf("used %d tokens of 10,000", used)
	}
	last := m.requests[len(m.requests)-1]
	if last.MaxOutput <= 0 || last.MaxOutput > 10_000 {
		t.Errorf("the last reply may have %d tokens", last.MaxOutput)
	}
	t.Run("less than one request", func(t *testing.T) {
		m := worker("run_shell", llm.Usage{})
		out := run(t, agent.Options{Model: m, Task: strings.Repeat("long ", 1000), Budget: agent.Budget{Tokens: 500}})
		want(t, out, agent.Incomplete, agent.OutOfTokens, "")
		if len(m.requests) != 0 {
			t.Errorf("got %d requests, want none", len(m.requests))
		}
	})
}

func TestCostBudget(t *testing.T) {
	m := worker("run_shell", llm.Usage{Calls: 1, Input: 10, Output: 10, Cost: 0.3})
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Budget: agent.Budget{Cost: 1}})
	want(t, out, agent.Incomplete, agent.OutOfMoney, "so far")
	if out.Usage.Cost > 1 || out.Iterations != 3 {
		t.Errorf("spent %g in %d iterations, want at most 1 in 3", out.Usage.Cost, out.Iterations)
	}
	t.Run("price not known", func(t *testing.T) {
		m := worker("run_shell", llm.Usage{Calls: 1, Input: 10, Output: 10, Unpriced: 1})
		out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Budget: agent.Budget{Cost: 1, Iterations: 5}})
		want(t, out, agent.Incomplete, agent.OutOfSteps, "so far")
		if len(out.Notices) != 1 || !strings.Contains(out.Notices[0], "price") {
			t.Errorf("got %q, want one notice", out.Notices)
		}
	})
}

// A tool that would take all the time is ended early enough for an answer.
func TestTimeBudget(t *testing.T) {
	t.Parallel() // it mostly waits
	sleep := tool{spec: tools.Spec{Name: "sleep"}, run: func(ctx context.Context, _ map[string]any) tools.Result {
		<-ctx.Done()
		return broken("interrupted")
	}}
	m := worker("sleep", llm.Usage{Calls: 1})
	answer := m.replies[0].(func(context.Context, llm.Request) any)
	m.replies[0] = func(ctx context.Context, r llm.Request) any {
		if r.ToolChoice != llm.None {
			time.Sleep(1400 * time.Millisecond) // so that a quarter of the time is kept for the answer, which a busy machine may need
		}
		return answer(ctx, r)
	}
	out := run(t, agent.Options{Model: m, Tools: set(t, sleep), Budget: agent.Budget{Time: 8 * time.Second}})
	want(t, out, agent.Incomplete, agent.OutOfTime, "so far")
	if len(m.requests) != 2 || !strings.Contains(out.Calls[0].Result.Content, "nearly up") {
		t.Errorf("got %d requests, %+v", len(m.requests), out.Calls)
	}
	t.Run("a model that never answers", func(t *testing.T) {
		m := &script{replies: []any{func(ctx context.Context, _ llm.Request) any {
			<-ctx.Done()
			return ctx.Err()
		}}}
		want(t, run(t, agent.Options{Model: m, Budget: agent.Budget{Time: 50 * time.Millisecond}}), agent.Incomplete, agent.OutOfTime, "")
	})
	t.Run("a limit of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errors.New("the caller's limit"))
		defer cancel()
		m := &script{replies: []any{func(ctx context.Context, _ llm.Request) any {
			<-ctx.Done()
			return ctx.Err()
		}}}
		out := runWith(t, ctx, agent.Options{Model: m})
		want(t, out, agent.Incomplete, agent.OutOfTime, "")
		if out.Warning != "reached the time limit" {
			t.Errorf("got %q", out.Warning)
		}
	})
	t.Run("canceled before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("gone")
		cancel(reason)
		out := runWith(t, ctx, agent.Options{Model: m, Budget: agent.Budget{Time: time.Hour}})
		want(t, out, agent.Canceled, agent.ByCancel, "")
		if !errors.Is(out.Err, reason) {
			t.Errorf("got %v, want %v", out.Err, reason)
		}
	})
}
