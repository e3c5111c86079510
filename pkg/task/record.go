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

// register makes the skills that the task had known to the store, as they are now: what is counted and learnt is about a version.
func (r *run) register(ctx context.Context) {
	if r.s.Store == nil || r.s.Replaying || r.status == canceled {
		return
	}
	for _, s := range r.skills {
		r.folders[s.ID] = s.Dir
	}
	for id, dir := range r.folders {
		reg, err := r.s.Store.Register(ctx, dir, false)
		if err != nil {
			r.warn(fmt.Sprintf("skill %s was not recorded: %v", id, err))
			continue
		}
		r.versions[id] = reg.Record.SkillID
	}
}

// count writes down which skills the task had and whether they helped, unless the analysis of the run has done so. What decides is the phase with
// the skills: one that had to be done again without them is a fallback, however well that went.
func (r *run) count(ctx context.Context) {
	if len(r.guided) == 0 || len(r.versions) == 0 {
		return
	}
	a := store.Analysis{TaskID: r.recordID, TaskCompleted: r.guidedWell, AnalyzedBy: "openspace-execute", ExecutionNote: "counted from how the run ended"}
	if r.rec != nil {
		a.RecDir = r.rec.Dir()
	}
	for _, id := range r.guided {
		if version := r.versions[id]; version != "" {
			a.SkillJudgments = append(a.SkillJudgments, store.Judgment{SkillID: version, SkillApplied: r.guidedWell})
		}
	}
	if _, err := r.s.Store.RecordAnalysis(ctx, a); err != nil {
		r.warn(fmt.Sprintf("how the skills did was not counted: %v", err))
	}
}
