package task

import (
	"slices"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// step tells that something happened.
func (r *run) step(kind, phase, message string) {
	r.mu.Lock()
	r.steps++
	n := r.steps
	r.mu.Unlock()
	r.emit(wire.Step{
		ID: r.t.ID, Step: n, Kind: kind, Phase: phase, Message: message, Time: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		ElapsedMS: time.Since(r.start).Milliseconds(),
	})
}

// warn tells what makes the run less than it could be, once.
func (r *run) warn(message string) {
	message = r.mask(message)
	r.mu.Lock()
	known := slices.Contains(r.warnings, message)
	if !known {
		r.warnings = append(r.warnings, message)
	}
	r.mu.Unlock()
	if !known {
		r.step("warning", "", message)
	}
}

// set notes something in the recording.
func (r *run) set(key string, value any) {
	if r.rec == nil {
		return
	}
	if err := r.rec.Set(key, value); err != nil {
		r.warn(err.Error())
	}
}

// used adds what a call of the model took and tells it.
func (r *run) used(u llm.Usage, iteration int, phase string, took time.Duration) {
	if u == (llm.Usage{}) {
		return
	}
	r.mu.Lock()
	r.total.Add(u)
	total := r.total
	r.mu.Unlock()
	r.emit(wire.Spent{
		ID: r.t.ID, Iteration: iteration, Phase: phase, Tokens: *tokens(u), Cost: u.Cost, Total: *tokens(total), TotalCost: total.Cost,
		ElapsedMS: took.Milliseconds(),
	})
}

// tokens is a usage as records have it; nil when there was none.
func tokens(u llm.Usage) *wire.Tokens {
	if u == (llm.Usage{}) {
		return nil
	}
	return &wire.Tokens{
		Calls: u.Calls, Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Total: u.Tokens(), Unpriced: u.Unpriced,
		Estimated: u.Estimated,
	}
}

// events turns what the agent tells into records. Iterations count on from the phase before.
func (r *run) events(phase string) func(agent.Event) {
	before := r.iterations
	return func(e agent.Event) {
		n := before + e.Iteration
		switch e.Kind {
		case agent.StepEvent:
			message := ""
			if e.Last {
				message = "the model is asked for its answer"
			}
			r.step("model", phase, message)
		case agent.TextEvent:
			r.emit(wire.Text{ID: r.t.ID, Iteration: n, Piece: e.Text, Reset: e.Reset})
		case agent.ToolStart:
			r.emit(r.tool(n, e.Call, false))
		case agent.ToolEvent:
			r.emit(r.tool(n, e.Call, true))
		case agent.UsageEvent:
			r.used(e.Usage, n, phase, e.Elapsed)
		case agent.NoticeEvent:
			r.step("notice", phase, e.Text)
		}
	}
}

// maxSummary is how many characters of a call or of its result a record has.
const maxSummary = 200

// tool is a call as a record.
func (r *run) tool(iteration int, c *agent.Execution, ended bool) wire.Tool {
	t := wire.Tool{ID: r.t.ID, Iteration: iteration, CallID: c.ID, Name: c.Tool, Backend: c.Backend, Server: c.Server, Status: "started"}
	if !ended {
		t.Summary = oneLine(r.mask(about(c)), maxSummary)
		return t
	}
	t.Status, t.Summary, t.ElapsedMS = success, oneLine(c.Result.Content, maxSummary), c.Result.Elapsed.Milliseconds()
	if c.Result.Failed() {
		t.Status, t.Error, t.Code = failed, oneLine(c.Result.Error, maxSummary), c.Result.Code
	}
	if c.Result.Shell != nil && c.Result.Shell.Job == "" && !c.Result.Shell.Denied {
		exit := c.Result.Shell.ExitCode
		t.ExitCode = &exit
	}
	return t
}

func (r *run) mask(s string) string { return r.s.Mask.Text(s) }

// answer tells the answer, as soon as there is one. What the model said before an error is none.
func (r *run) answer() {
	if r.answered = time.Since(r.start); r.status != success && (r.status != incomplete || r.response == "") {
		return
	}
	r.emit(wire.Answer{ID: r.t.ID, TaskID: r.id, Status: r.status, Response: r.response})
}
