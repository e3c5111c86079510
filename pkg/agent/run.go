package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
)

// run is the state of one run.
type run struct {
	o      Options
	offer  []llm.ToolSpec
	talk   *conversation
	gauge  gauge
	budget budget
	out    Outcome
	start  time.Time

	emitting sync.Mutex
	lastText string             // what the model said last
	empty    int                // empty replies in a row
	cut      int                // replies in a row that were cut
	failures map[string]failure // the same call with the same failure, since something last succeeded
	looping  bool               // one of them is over its limit
	grown    *recording.Compaction
	noted    map[string]bool
}

func newRun(o Options) *run {
	if o.Budget.Iterations == 0 {
		o.Budget.Iterations = DefaultIterations
	}
	o.Name = cmp.Or(o.Name, "agent")
	r := &run{o: o, start: time.Now(), failures: map[string]failure{}, noted: map[string]bool{}}
	if o.Tools != nil {
		for _, s := range o.Tools.Specs() {
			r.offer = append(r.offer, llm.ToolSpec{Name: s.Name, Description: s.Description, Parameters: s.Parameters})
		}
	}
	r.talk = newConversation(o)
	r.gauge = newGauge(o, r.offer)
	r.budget = newBudget(o.Budget, r.start)
	return r
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// iterate is one call of the model and what follows from it.
func (r *run) iterate(ctx context.Context) {
	plan := r.plan(ctx)
	if plan.stop != "" {
		r.end(plan.stop, plan.err)
		return
	}
	r.out.Iterations++
	if plan.last != "" {
		r.talk.note(plan.note)
	}
	r.emit(Event{Kind: StepEvent, Last: plan.last != ""})
	reply, info, err := r.ask(ctx, plan)
	if err != nil {
		info.Error = err.Error()
		r.recordIteration(info)
		r.failed(ctx, err)
		return
	}
	r.take(ctx, reply, plan)
	r.recordIteration(info)
}

// ask calls the model. A request that is too large for it is made smaller once and sent again.
func (r *run) ask(ctx context.Context, plan plan) (llm.Reply, recording.Response, error) {
	r.shrink(false)
	reply, err := r.call(ctx, plan)
	var problem *llm.Error
	if errors.As(err, &problem) && problem.Kind == llm.TooLarge && ctx.Err() == nil {
		r.gauge.tooLarge(r.talk.size())
		if r.shrink(true) {
			reply, err = r.call(ctx, plan)
		}
	}
	info := responseInfo(reply, r.grown)
	info.ElapsedMS = r.budget.lastCall.Milliseconds()
	r.grown = nil
	return reply, info, err
}

func (r *run) call(ctx context.Context, plan plan) (llm.Reply, error) {
	size := r.talk.size()
	req := llm.Request{
		Messages: r.talk.messages(), Tools: r.offer, Temperature: r.o.Temperature,
		MaxOutput: r.budget.output(r.o.MaxOutput, r.gauge.tokens(size), r.out.Usage),
		OnText: func(piece string) {
			if piece == "" {
				r.emit(Event{Kind: TextEvent, Reset: true})
				return
			}
			r.emit(Event{Kind: TextEvent, Text: piece})
		},
	}
	if plan.last != "" && len(r.offer) > 0 {
		req.ToolChoice = llm.None
	}
	if r.o.Events == nil {
		req.OnText = nil
	}
	began := time.Now()
	reply, err := r.o.Model.Chat(ctx, req)
	took := time.Since(began)
	r.budget.called(took, reply.Usage)
	r.out.Usage.Add(reply.Usage)
	if err == nil {
		r.gauge.learn(size, reply.Usage)
		r.unpriced(reply.Usage)
	}
	if reply.Usage != (llm.Usage{}) {
		r.emit(Event{Kind: UsageEvent, Usage: reply.Usage, Total: r.out.Usage, Elapsed: took})
	}
	return reply, err
}

// unpriced says once that a limit on cost cannot be held.
func (r *run) unpriced(u llm.Usage) {
	if u.Unpriced > 0 && r.o.Budget.Cost > 0 {
		r.notice(fmt.Sprintf("the price of %s is not known, so the limit on cost does not hold", r.o.Model.Name()))
	}
}

// failed ends the run after a call of the model came to nothing.
func (r *run) failed(ctx context.Context, err error) {
	switch {
	case outOfTime(ctx):
		r.end(OutOfTime, nil)
	case ctx.Err() != nil:
		r.end(ByCancel, context.Cause(ctx))
	default:
		r.end(ByError, fmt.Errorf("iteration %d: %w", r.out.Iterations, err))
	}
}

// take decides what a reply means.
func (r *run) take(ctx context.Context, reply llm.Reply, plan plan) {
	m := reply.Message
	m.Role = llm.Assistant
	said := sentinel().ReplaceAllString(m.Content, "")
	if !blank(said) {
		r.lastText = said
	}
	switch {
	case reply.Finish == llm.Cut:
		r.takeCut(m, plan)
	case len(m.ToolCalls) > 0 && plan.last == "":
		r.empty, r.cut = 0, 0
		r.work(ctx, m)
	case !blank(said):
		m.ToolCalls = nil
		r.talk.begin(m)
		r.end(cmp.Or(plan.last, Answered), nil)
	case reply.Finish == llm.Filtered:
		r.end(ByError, fmt.Errorf("ask model %s: the provider's content filter held the reply back", r.o.Model.Name()))
	case plan.last != "":
		r.end(plan.last, nil)
	default:
		r.takeEmpty()
	}
}

// sentinel is the line that older prompts and skills made models end their answer with.
var sentinel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\n)[ \t]*<COMPLETE>\s*$`) })

const (
	maxEmpty = 3
	maxCut   = 3

	emptyNote = "Your reply was empty. Go on with a tool call, or give your answer as text."
)

// takeEmpty asks again. The empty reply itself is not sent back: several providers refuse such a message.
func (r *run) takeEmpty() {
	r.empty++
	if r.empty == maxEmpty {
		r.end(EmptyReplies, nil)
		return
	}
	r.talk.note(emptyNote)
}

// takeCut keeps the text of a reply that broke off at the model's limit. Its calls are not run, however whole
// they look: what is written by half of a call may be worse than nothing (LT-10).
func (r *run) takeCut(m llm.Message, plan plan) {
	r.cut++
	calls := m.ToolCalls
	if !blank(m.Content) {
		r.talk.begin(llm.Message{Role: llm.Assistant, Content: m.Content})
	}
	switch {
	case plan.last != "":
		r.end(plan.last, nil)
	case r.cut == maxCut:
		r.end(CutReplies, nil)
	case len(calls) > 0:
		r.talk.note("Your reply was cut off at the output limit, in a call of " + calls[len(calls)-1].Name + ". None of its calls was run. " +
			"Use smaller steps: write a long file in several parts, each in a reply of its own.")
	default:
		r.talk.note("Your reply was cut off at the output limit. Say it again much shorter, or put long text into a file in several steps.")
	}
}

// end sets how the run ended.
func (r *run) end(stop Stop, err error) {
	r.out.Stop, r.out.Err = stop, err
	r.out.Response = strings.TrimSpace(r.lastText)
	r.out.Warning = r.warning(stop)
	switch stop {
	case Answered, Finished:
		r.out.Status = Success
	case ByError, EmptyReplies:
		r.out.Status = Errored
	case ByCancel:
		r.out.Status = Canceled
	default:
		r.out.Status = Incomplete
	}
	if stop == EmptyReplies {
		r.out.Err = fmt.Errorf("model %s replied with nothing %d times in a row", r.o.Model.Name(), maxEmpty)
	}
	if mark := blockedMark().FindString(r.out.Response); stop == Answered && mark != "" {
		r.out.Response = strings.TrimSpace(strings.TrimPrefix(r.out.Response, mark))
		r.blocked()
	}
}

// blockedMark begins an answer that says that the task cannot be done, as the rules ask for.
var blockedMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[*_]*BLOCKED[*_]*:[*_]*`) })

// blocked takes into the outcome that the model says that the task cannot be done.
func (r *run) blocked() {
	r.out.Status, r.out.Blocked = Incomplete, true
	r.out.Warning = "the agent reports that the task cannot be done"
}

// warning says why a task is incomplete and what may help.
func (r *run) warning(stop Stop) string {
	b := r.o.Budget
	switch stop {
	case OutOfSteps:
		return fmt.Sprintf("reached the limit of %d iterations; the task may need more of them, or a clearer description", b.Iterations)
	case OutOfTime:
		return strings.TrimSuffix(fmt.Sprintf("reached the time limit of %s", b.Time), " of 0s") // of the caller
	case OutOfTokens:
		return fmt.Sprintf("reached the limit of %d tokens: %d are used", b.Tokens, r.out.Usage.Tokens())
	case OutOfMoney:
		return fmt.Sprintf("reached the cost limit of $%.4g: $%.4g are spent", b.Cost, r.out.Usage.Cost)
	case Repeated:
		return fmt.Sprintf("the same call failed %d times in the same way", maxSame)
	case CutReplies:
		return fmt.Sprintf("%d replies in a row were cut off at the model's output limit; a higher limit may help", maxCut)
	}
	return ""
}

func (r *run) close() *Outcome {
	r.out.Messages = r.talk.messages()
	r.out.Elapsed = time.Since(r.start)
	r.recordAction()
	return &r.out
}

// emit hands an event on, one at a time: read-only calls run side by side.
func (r *run) emit(e Event) {
	if r.o.Events == nil {
		return
	}
	r.emitting.Lock()
	defer r.emitting.Unlock()
	e.Iteration = r.out.Iterations
	r.o.Events(e)
}

// notice tells people something, once.
func (r *run) notice(text string) {
	if r.noted[text] {
		return
	}
	r.noted[text] = true
	r.out.Notices = append(r.out.Notices, text)
	r.emit(Event{Kind: NoticeEvent, Text: text})
}
