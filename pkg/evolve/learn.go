package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Learned is what came of a run.
type Learned struct {
	Analysis store.Analysis
	Changes  []Result // that were made or proposed
	Notes    []string // what came to nothing, and why
	Usage    llm.Usage
}

// Learn analyses a run and changes skills by it, then by what tools and counters say, as far as the mode and the tokens allow. What goes wrong on the
// way is a note; the error is about the analysis itself. A run that was learnt from before is left alone.
func (e *Engine) Learn(ctx context.Context, run Run) (Learned, error) {
	l := &lesson{e: e, run: run}
	var fresh bool
	var failed error
	l.out.Analysis, fresh, l.out.Usage, failed = e.analyze(ctx, run)
	if !fresh {
		if failed == nil && run.Again && e.o.Model != nil && e.o.Mode != Off {
			failed = l.again(ctx)
		}
		return l.out, failed
	}
	l.note("count the tools", l.countTools(ctx))
	l.note("note the tools", l.dependencies(ctx))
	if e.o.Mode != Off {
		l.note("compare versions", l.takeBack(ctx))
	}
	l.suggestions(ctx, l.out.Analysis, &run)
	if e.o.Mode != Off && e.o.Model != nil {
		l.note("resume", l.resume(ctx))
		l.note("look at tools", l.lookAtTools(ctx))
		l.note("look at counters", l.lookAtCounters(ctx))
	}
	return l.out, failed
}

// again judges a run that was only counted before, and makes the changes that it suggests. Of one that was judged they are made again only by force.
func (l *lesson) again(ctx context.Context) error {
	if l.out.Analysis.AnalyzedBy != l.e.o.Model.Name() {
		v, usage, err := l.e.judge(ctx, l.run)
		l.out.Usage.Add(usage)
		if err != nil {
			return fmt.Errorf("analyse task %q: %w", l.run.TaskID, err)
		}
		v.into(&l.out.Analysis)
	} else if !l.e.o.Force {
		return nil
	}
	l.suggestions(ctx, l.out.Analysis, &l.run)
	return nil
}

// lesson is a Learn under way.
type lesson struct {
	e   *Engine
	run Run
	out Learned
}

func (l *lesson) note(what string, err error) {
	if err != nil {
		l.out.Notes = append(l.out.Notes, what+": "+l.e.o.Mask(err.Error()))
	}
}

// spent tells whether no more tokens may be used.
func (l *lesson) spent() bool { return l.out.Usage.Tokens() >= l.e.o.Tokens }

var errSpent = errors.New("the tokens for learning are used up")

// evolve makes one change.
func (l *lesson) evolve(ctx context.Context, req Request) (Result, error) {
	if l.spent() {
		return Result{}, errSpent
	}
	res, err := l.e.Evolve(ctx, req)
	l.out.Usage.Add(res.Usage)
	if err != nil {
		note := err.Error()
		if e := (*wire.Error)(nil); errors.As(err, &e) && e.Hint != "" {
			note += "; " + e.Hint
		}
		l.out.Notes = append(l.out.Notes, l.e.o.Mask(note))
		return res, err
	}
	l.out.Changes = append(l.out.Changes, res)
	return res, nil
}

// suggestions makes the changes that an analysis suggests, one after the other, and notes what became of each. Run is nil when nothing of it is
// left but the analysis.
func (l *lesson) suggestions(ctx context.Context, a store.Analysis, run *Run) {
	if len(a.EvolutionSuggestions) == 0 {
		return
	}
	done := store.Processed{TaskID: a.TaskID}
	for _, s := range a.EvolutionSuggestions {
		if ctx.Err() != nil {
			return // it stays pending
		}
		o := store.Outcome{Outcome: "rejected", Targets: s.TargetSkills}
		if l.e.o.Mode != Off {
			res, err := l.evolve(ctx, Request{
				Kind: review.Kind(s.Type), Trigger: ByAnalysis, Targets: s.TargetSkills, Direction: s.Direction, Category: s.Category,
				Run: run, Tools: usedBy(run, s), Evidence: a.ExecutionNote, Force: l.e.o.Force,
			})
			if o.Outcome = outcomeOf(res, err); res.Record.SkillID != "" {
				o.NewIDs = []string{res.Record.SkillID}
			}
		}
		done.Outcomes = append(done.Outcomes, o)
	}
	l.note("note what was processed", l.e.o.Store.RecordProcessed(context.WithoutCancel(ctx), done))
}

// outcomeOf is an outcome as the journal has it for suggestions.
func outcomeOf(r Result, err error) string {
	switch o := outcome(r, err); {
	case err == nil:
		return "done"
	case errors.Is(err, ErrHeld):
		return "rejected"
	default:
		return o
	}
}

// usedBy are the tools that the changed skill depends on, as far as the run tells.
func usedBy(run *Run, s store.Suggestion) []string {
	if run == nil || s.Type == fixType {
		return nil // a fix has those of its skill
	}
	return run.keys()
}

// countTools counts the calls of the run, and as one failed call more what the analysis says about a tool that looked well.
func (l *lesson) countTools(ctx context.Context) error {
	var samples []store.ToolSample
	well := map[string]bool{}
	for _, s := range l.run.Steps {
		ok := s.OK || s.Exit
		well[s.Key()] = well[s.Key()] || ok
		sample := store.ToolSample{Key: s.Key(), OK: ok, MS: s.MS}
		if !ok {
			sample.Error = line(l.e.o.Mask(s.Error), 300)
		}
		samples = append(samples, sample)
	}
	for _, issue := range l.out.Analysis.ToolIssues {
		key, text, ok := strings.Cut(issue, " — ")
		if !ok {
			key, text, ok = strings.Cut(issue, " - ")
		}
		if key = strings.TrimSpace(key); ok && well[key] {
			samples = append(samples, store.ToolSample{Key: key, Error: line("by the analysis: "+text, 300)})
		}
	}
	return l.e.o.Store.RecordTool(ctx, samples...)
}

// maxTools is how many tools a skill is noted to depend on.
const maxTools = 30

// dependencies notes for each skill that was applied which tools the run used.
func (l *lesson) dependencies(ctx context.Context) error {
	keys := l.run.keys()
	for _, j := range l.out.Analysis.SkillJudgments {
		rec, ok, err := l.e.o.Store.Record(j.SkillID)
		if err != nil {
			return err
		}
		if !ok || !rec.IsActive || !j.SkillApplied || j.Fallback {
			continue
		}
		now := union(rec.ToolDependencies, keys)
		if now = now[:min(len(now), maxTools)]; len(now) == len(rec.ToolDependencies) {
			continue
		}
		rec.ToolDependencies = now
		if err := l.e.o.Store.Commit(ctx, store.Expect{rec.Dir(): rec.SkillID}, store.Put(rec)); err != nil && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}

// What is taken up that another process did not get to.
const (
	maxResumed  = 3
	resumeAfter = 15 * time.Minute
)

// resume makes the changes of earlier analyses that nobody has made. One process at a time does it.
func (l *lesson) resume(ctx context.Context) error {
	unlock, err := l.e.lock(ctx, 0, "pending")
	if errors.Is(err, store.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	pending, err := l.e.o.Store.Pending(maxResumed + 1)
	if err != nil {
		return err
	}
	for _, a := range pending {
		if a.TaskID == l.run.TaskID || l.e.o.Now().Sub(a.AnalyzedAt) < resumeAfter || l.spent() {
			continue
		}
		run, err := l.e.recalled(a)
		if err != nil {
			l.note("read the recording of "+a.TaskID, err)
		}
		l.suggestions(ctx, a, run)
	}
	return nil
}

// byNeed sorts what is to be looked at: the worst first.
func byNeed(found []need) {
	slices.SortFunc(found, func(a, b need) int {
		return cmp.Or(cmp.Compare(a.counters.EffectiveRate(), b.counters.EffectiveRate()), cmp.Compare(b.counters.Selections, a.counters.Selections),
			cmp.Compare(a.rec.SkillID, b.rec.SkillID))
	})
}

// percent writes a rate.
func percent(rate float64) string { return fmt.Sprintf("%.0f%%", 100*rate) }
