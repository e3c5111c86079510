package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// DefaultIterations is the number of calls of the model when the budget names none.
const DefaultIterations = 30

// Budget limits a run. A limit of zero is none, but for Iterations.
type Budget struct {
	Iterations int           // calls of the model; 0: DefaultIterations
	Time       time.Duration // of the whole run
	Tokens     int64         // sent and received
	Cost       float64       // US dollars; calls without a known price count nothing
}

// Options are what a run works with.
type Options struct {
	Model   llm.Model
	Tools   *tools.Set    // nil: none
	System  []string      // the parts of the system message, see Prompt
	History []llm.Message // of the conversation before; only the texts of user and assistant are taken
	Task    string
	Budget  Budget

	Name        string    // of the agent in recordings; empty: "agent"
	Phase       string    // of the task, for recordings
	Sees        bool      // the model takes images, so those of results are shown to it
	Eyes        llm.Model // describes the pictures of results to a model that does not see; nil: nobody does
	MaxContext  int64     // tokens of a request at most, when the model's window is larger; 0: 160,000
	MaxOutput   int64     // tokens of a reply at most; 0: the model's own limit
	Temperature *float64  // nil: the model's own

	// OutputDir takes the whole text of results that are shortened later, where a tool can read them; empty:
	// it is not kept.
	OutputDir string

	Events   func(Event) // gets what happens, one event at a time; nil: nobody listens
	Recorder Recorder    // nil: nothing is recorded
}

// Recorder keeps what happens; *recording.Recording is one. Its errors become notices and never end a run.
type Recorder interface {
	Setup(recording.Setup) error
	Pending(recording.Iteration) error
	Iteration(recording.Iteration) error
	Step(recording.Step) error
	Action(recording.Action) error
}

// Status is how a run ended.
type Status string

// The statuses.
const (
	Success    Status = "success"
	Incomplete Status = "incomplete" // out of budget, or the model says that it cannot be done
	Errored    Status = "error"      // the model could not be reached or answered with nothing usable
	Canceled   Status = "canceled"
)

// Stop is why a run ended.
type Stop string

// The reasons.
const (
	Answered     Stop = "answered"   // with a text
	Finished     Stop = "finished"   // with the finish tool
	OutOfSteps   Stop = "iterations" // the budget's
	OutOfTime    Stop = "time"
	OutOfTokens  Stop = "tokens"
	OutOfMoney   Stop = "cost"
	Repeated     Stop = "repeated" // the same call failed again and again
	EmptyReplies Stop = "empty"
	CutReplies   Stop = "cut" // at the model's limit of output
	ByError      Stop = "error"
	ByCancel     Stop = "canceled"
)

// Outcome is what came of a run. Whatever the status, all of it is filled in.
type Outcome struct {
	Status     Status
	Stop       Stop
	Response   string // the answer; when there is none, what the model said last
	Warning    string // why the task is incomplete, in words
	Blocked    bool   // the model says that the task cannot be done
	Err        error  // of status error and canceled
	Iterations int    // calls of the model
	Usage      llm.Usage
	Calls      []Execution
	Messages   []llm.Message // the conversation as it was sent last, and what came after
	Compacted  int           // how often older messages were shortened
	Notices    []string      // what made the run less than it could be
	Elapsed    time.Duration
}

// Execution is one call of a tool.
type Execution struct {
	Iteration int // from 1
	ID        string
	Tool      string // its real name, whatever alias was called
	Backend   string // empty for a tool that does not exist
	Server    string
	Args      json.RawMessage // as sent; not JSON when the model sent none
	Result    tools.Result
}

// Kind is what an event tells of.
type Kind string

// The kinds.
const (
	StepEvent   Kind = "step"       // a call of the model begins
	TextEvent   Kind = "text"       // a piece of the reply
	ToolStart   Kind = "tool_start" // a call of a tool begins
	ToolEvent   Kind = "tool"       // it has ended
	UsageEvent  Kind = "usage"      // a call of the model has ended
	NoticeEvent Kind = "notice"     // something that people should know
)

// Event is something that happened in a run.
type Event struct {
	Kind      Kind
	Iteration int
	Last      bool          // of a step: the model is asked for its answer
	Text      string        // a piece, or a notice
	Reset     bool          // of text: what came before in this iteration is void
	Call      *Execution    // of tools; without a result at the start
	Usage     llm.Usage     // of this call
	Total     llm.Usage     // of the run
	Elapsed   time.Duration // of the call of the model
}

// Run works on a task until it is over. The error tells of options that cannot be used; whatever happens to
// the work is in the outcome, also when ctx ends.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	switch {
	case o.Model == nil:
		return nil, wire.Errorf(wire.Internal, "run agent: no model")
	case blank(o.Task):
		return nil, wire.Errorf(wire.Invalid, "run agent: the task is empty")
	case o.Budget.Iterations < 0, o.Budget.Time < 0, o.Budget.Tokens < 0, o.Budget.Cost < 0:
		return nil, wire.Errorf(wire.Invalid, "run agent: a limit of the budget is below zero")
	}
	r := newRun(o)
	if d := r.budget.deadline; !d.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, d, errTime)
		defer cancel()
	}
	r.recordSetup()
	for r.out.Stop == "" {
		r.iterate(ctx)
	}
	return r.close(), nil
}
