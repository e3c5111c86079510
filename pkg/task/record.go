package task

import (
	"context"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// How long a skill of bad record is left out of the choice: for a day after its second failure, then twice as long each time. It is never
// left out for good: a run that failed says little about a skill, and its next version starts anew.
const (
	firstPause = 24 * time.Hour
	longest    = 30 * 24 * time.Hour
	fewest     = 2 // selections, or applications, before a record counts
)

// probation says why a skill is left out of the choice for now; it is empty for one that is on offer.
func probation(c store.Counters, now time.Time) string {
	failures := 0
	switch {
	case c.Selections >= fewest && c.Completions == 0:
		failures = c.Selections
	case c.Applied >= fewest && 2*c.Fallbacks > c.Applied:
		failures = c.Fallbacks
	default:
		return ""
	}
	pause := longest
	if n := failures - fewest; n >= 0 && n < 5 {
		pause = firstPause << n
	}
	if until := c.Last.Add(pause); now.Before(until) {
		return fmt.Sprintf("chosen %d times, completed %d, fallbacks %d: left out until %s", c.Selections, c.Completions, c.Fallbacks, until.UTC().Format(time.RFC3339))
	}
	return ""
}

// onProbation judges a hit by what the store knows of it.
func (r *run) onProbation(h wire.Hit) string {
	if r.s.Store == nil || r.s.Repeatable || h.Quality == nil || h.Quality.TotalSelections < fewest {
		return ""
	}
	c, err := r.s.Store.Counters(h.SkillID)
	if err != nil {
		return ""
	}
	return probation(c, time.Now())
}

// count writes down which skills the task had and whether they helped, unless the analysis of the run has done so. What decides is the phase with
// the skills: one that had to be done again without them is a fallback, however well that went.
func (r *run) count(ctx context.Context) {
	if r.s.Store == nil || r.s.Replaying || len(r.guided) == 0 && len(r.asked) == 0 || r.status == canceled {
		return
	}
	a := store.Analysis{TaskID: r.recordID, TaskCompleted: r.guidedWell, AnalyzedBy: "openspace-execute", ExecutionNote: "counted from how the run ended"}
	if r.rec != nil {
		a.RecDir = r.rec.Dir()
	}
	for _, id := range r.guided {
		a.SkillJudgments = append(a.SkillJudgments, store.Judgment{SkillID: id, SkillApplied: r.guidedWell, Note: "chosen before the task"})
	}
	for _, id := range r.asked {
		a.SkillJudgments = append(a.SkillJudgments, store.Judgment{SkillID: id, SkillApplied: r.guidedWell, Note: "asked for on the way"})
	}
	if _, err := r.s.Store.RecordAnalysis(ctx, a); err != nil {
		r.warn(fmt.Sprintf("how the skills did was not counted: %v", err))
	}
}
