package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// learn lets the suite learn from the run, with what is left of the budget. Later tells that it will be done by another process.
func (r *run) learn(ctx context.Context) (later bool) {
	if r.s.Learn == nil || r.s.Replaying || r.status == canceled || errors.Is(ctx.Err(), context.Canceled) || r.model == nil || r.noAnswer() {
		return false
	}
	began := time.Now()
	l := Learning{
		Task: r.t, TaskID: r.recordID, Result: r.result(), Skills: r.skills, Asked: r.asked, Model: &bounded{Model: r.model, room: r.room}, Recording: r.rec,
		GuidedWell: r.guidedWell, Outcomes: r.outcomes, EmitStep: func(kind, message string) { r.step(kind, phaseLearn, message) },
	}
	if len(r.t.SkillDirs) > 0 {
		l.CaptureDir = r.t.SkillDirs[0]
	}
	learnt, err := r.s.Learn(ctx, l)
	if learnt.Later {
		return true
	}
	phase := wire.Phase{Name: phaseLearn, Status: success, Tokens: tokens(learnt.Usage), Cost: learnt.Usage.Cost, ElapsedMS: time.Since(began).Milliseconds()}
	if err != nil {
		phase.Status, phase.Reason = failed, oneLine(err.Error(), 300)
		r.warn(fmt.Sprintf("nothing was learnt from this run: %v", err))
	}
	r.used(learnt.Usage, 0, phaseLearn, time.Since(began))
	for _, s := range learnt.Skills {
		phase.Skills = append(phase.Skills, s.SkillID)
	}
	for _, w := range learnt.Waiting {
		r.warn(w)
	}
	r.evolved, r.phases = learnt.Skills, append(r.phases, phase)
	return false
}

// noAnswer tells whether the task ended since the model gave no answer: it would give none about the run either.
func (r *run) noAnswer() bool {
	var e *llm.Error
	return errors.As(r.err, &e) && e.Kind != llm.TooLarge
}

// room tells whether the budget of the task has room for one more request, beside what learning used.
func (r *run) room(used llm.Usage, next int64) error {
	r.mu.Lock()
	used.Add(r.total)
	r.mu.Unlock()
	switch {
	case r.t.MaxTokens > 0 && used.Tokens()+next >= r.t.MaxTokens:
		return fmt.Errorf("reached the limit of %d tokens", r.t.MaxTokens)
	case r.t.MaxCost > 0 && used.Cost >= r.t.MaxCost:
		return fmt.Errorf("reached the cost limit of $%.4g", r.t.MaxCost)
	}
	return nil
}

// bounded is a model that is asked only while there is room in a budget.
type bounded struct {
	llm.Model
	room func(used llm.Usage, next int64) error

	mu   sync.Mutex
	used llm.Usage
}

func (b *bounded) Chat(ctx context.Context, r llm.Request) (llm.Reply, error) {
	b.mu.Lock()
	used := b.used
	b.mu.Unlock()
	if err := b.room(used, llm.EstimateRequest(r)); err != nil {
		return llm.Reply{}, err
	}
	reply, err := b.Model.Chat(ctx, r)
	b.mu.Lock()
	b.used.Add(reply.Usage)
	b.mu.Unlock()
	return reply, err
}
