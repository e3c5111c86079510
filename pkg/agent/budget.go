package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
)

// errTime is the cause of a context that ended with the budget's time.
var errTime = errors.New("the time limit of the run")

// outOfTime tells whether ctx ended with a limit of time: the budget's, or one of the caller's that comes a moment before it.
func outOfTime(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// plan is what is to be done next: the run ends, or the model is called, perhaps for its answer.
type plan struct {
	stop Stop   // end at once
	last Stop   // call the model without tools, for the answer; the run ends for this reason
	note string // that tells the model so
	err  error  // why, of a run that was canceled
}

// budget knows the limits and what calls took so far.
type budget struct {
	Budget
	deadline time.Time // zero: none

	lastCall time.Duration
	longest  time.Duration // call of the model
	lastUse  llm.Usage     // of the last call
}

func newBudget(b Budget, start time.Time) budget {
	res := budget{Budget: b}
	if b.Time > 0 {
		res.deadline = start.Add(b.Time)
	}
	return res
}

func (b *budget) called(took time.Duration, u llm.Usage) {
	b.lastCall, b.longest = took, max(b.longest, took)
	if u != (llm.Usage{}) {
		b.lastUse = u
	}
}

// plan decides whether there is room for a call, and for another one after it. When there is not, this one is
// the last.
func (r *run) plan(ctx context.Context) plan {
	if ctx.Err() != nil {
		if outOfTime(ctx) {
			return plan{stop: OutOfTime}
		}
		return plan{stop: ByCancel, err: context.Cause(ctx)}
	}
	next := r.gauge.tokens(r.talk.size())
	if stop := r.budget.spent(r.out.Usage, next); stop != "" {
		return plan{stop: stop}
	}
	if r.looping {
		return lastCall(Repeated, "You repeat a call that keeps failing.")
	}
	return r.budget.nearEnd(r.out, next)
}

func lastCall(why Stop, reason string) plan {
	return plan{last: why, note: reason + " Tools are off now. Answer the user with what you have: " +
		"what is done, what was found, which files hold it, and what is still missing."}
}

// spent tells whether a limit is reached, or would be by a request of next tokens.
func (b *budget) spent(u llm.Usage, next int64) Stop {
	switch {
	case b.Tokens > 0 && u.Tokens()+next >= b.Tokens:
		return OutOfTokens
	case b.Cost > 0 && u.Cost >= b.Cost:
		return OutOfMoney
	}
	return ""
}

// minAnswer is how many tokens an answer may take at least before a limit on tokens asks for it.
const minAnswer = 1000

// nearEnd asks for the answer when there is room for one more call, but not for two.
func (b *budget) nearEnd(out Outcome, next int64) plan {
	output := max(b.lastUse.Output, minAnswer)
	left := time.Until(b.deadline)
	switch {
	case out.Iterations+1 >= b.Iterations:
		return lastCall(OutOfSteps, fmt.Sprintf("This is the last of %d steps.", b.Iterations))
	case b.Tokens > 0 && out.Usage.Tokens()+2*(next+output) > b.Tokens:
		return lastCall(OutOfTokens, "The limit on tokens is nearly reached.")
	case b.Cost > 0 && out.Usage.Cost+2*b.lastUse.Cost > b.Cost:
		return lastCall(OutOfMoney, "The limit on cost is nearly reached.")
	case b.Time > 0 && out.Iterations > 0 && left < b.reserve():
		return lastCall(OutOfTime, "The time limit is nearly reached.")
	}
	return plan{}
}

// reserve is the time that is kept for the answer: what the longest call of the model took and half as much
// again, at least a twentieth of the limit, at most a quarter.
func (b *budget) reserve() time.Duration {
	return min(max(b.longest*3/2, b.Time/20), b.Time/4)
}

// tools returns a context for calls of tools, which end early enough for an answer.
func (b *budget) tools(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Time == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, b.deadline.Add(-b.reserve()), errTime)
}

// output returns the limit of a reply to a request of next tokens: the given one, or what is left of a limit
// on tokens when that is less than any reply takes.
func (b *budget) output(limit, next int64, used llm.Usage) int64 {
	if b.Tokens == 0 {
		return limit
	}
	const near = 16_000
	left := max(b.Tokens-used.Tokens()-next, 1)
	switch {
	case limit > 0:
		return min(limit, left)
	case left < near:
		return left
	}
	return 0
}
