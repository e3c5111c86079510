package evolve

import (
	"context"
	"fmt"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// taker is who made the versions that put earlier files back.
const taker = "openspace"

// takeBack puts earlier versions back in the place of those that do worse.
func (l *lesson) takeBack(ctx context.Context) error {
	for _, j := range l.out.Analysis.SkillJudgments {
		rec, ok, err := l.e.o.Store.Record(j.SkillID)
		if err != nil {
			return err
		}
		if !ok || !rec.IsActive {
			continue
		}
		better, why, err := l.e.worse(rec)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		if err := l.restore(ctx, rec, better, why); err != nil {
			l.note("take back "+rec.SkillID, err)
		}
	}
	return nil
}

// worse compares a version that was made without a person with the nearest earlier one that was used enough. Why is "" when it stays.
func (e *Engine) worse(rec store.Record) (better store.Record, why string, err error) {
	if rec.Lineage.Origin != store.OriginFixed || rec.Lineage.Restores != "" {
		return better, "", nil
	}
	own, err := e.byItself(rec)
	if err != nil || !own {
		return better, "", err
	}
	now, err := e.o.Store.Counters(rec.SkillID)
	if err != nil || now.Selections < fewUses {
		return better, "", err
	}
	better = rec
	for range maxGenerations {
		if len(better.Lineage.ParentSkillIDs) != 1 {
			return better, "", nil
		}
		before := better.Lineage.ParentSkillIDs[0]
		if better.Lineage.Restores != "" {
			before = better.Lineage.Restores // its parent is what was taken back
		}
		parent, ok, err := e.o.Store.Record(before)
		if err != nil || !ok || parent.Dir() != rec.Dir() {
			return better, "", err
		}
		better = parent
		then, err := e.o.Store.Counters(parent.SkillID)
		if err != nil {
			return better, "", err
		}
		if then.Selections >= enoughUses {
			return better, verdictOn(now, then, parent.SkillID), nil
		}
	}
	return better, "", nil
}

// takenBack lists the versions of a folder that were taken back, each with the reason.
func (e *Engine) takenBack(dir string) (bad []store.Record, why []string, err error) {
	versions, err := e.o.Store.Versions(dir)
	for _, v := range versions {
		if v.Lineage.Restores == "" || v.Lineage.CreatedBy == store.Human || len(v.Lineage.ParentSkillIDs) != 1 {
			continue
		}
		if rec, ok, err := e.o.Store.Record(v.Lineage.ParentSkillIDs[0]); err == nil && ok {
			bad, why = append(bad, rec), append(why, v.Lineage.ChangeSummary)
		}
	}
	return bad, why, err
}

// again refuses what was taken back before, unless a person asks for the change.
func (w *work) again(next store.Content) (out []string) {
	if w.isNew() || w.req.Trigger == Manual {
		return nil
	}
	bad, why, _ := w.e.takenBack(w.head.Dir()) // what cannot be read does not hold a change back
	for i, rec := range bad {
		if c, err := w.e.o.Store.Content(rec); err == nil && sameButBlanks(c, next) {
			out = append(out, "this version was there before and was "+line(why[i], 200))
		}
	}
	return out
}

// maxGenerations is how far back a version with enough uses is looked for.
const maxGenerations = 10

// verdictOn says why a version is taken back, "" if it is not.
func verdictOn(now, then store.Counters, id string) string {
	drop := then.EffectiveRate()-now.EffectiveRate() >= worseBy && now.Selections >= enoughUses
	none := now.Completions == 0 && then.EffectiveRate() >= goodEnough
	if !drop && !none {
		return ""
	}
	return fmt.Sprintf("taken back: %d of %d tasks completed, before %d of %d (%s)", now.Completions, now.Selections, then.Completions, then.Selections, id)
}

// restore puts the files of an earlier version back as a new version.
func (l *lesson) restore(ctx context.Context, rec, better store.Record, why string) error {
	st := l.e.o.Store
	content, err := st.Content(better)
	if err != nil {
		return err
	}
	made, err := review.Apply(ctx, st, review.Change{Kind: review.Fix, Dir: rec.Dir(), Head: rec.SkillID, Content: content, Record: store.Record{
		Lineage: store.Lineage{ChangeSummary: why, CreatedBy: taker, Restores: better.SkillID, SourceTaskID: l.run.TaskID},
	}})
	if err != nil {
		return err
	}
	l.out.Changes = append(l.out.Changes, Result{Outcome: "done", Kind: review.Fix, Record: made, Head: rec, Name: made.Name, Dir: made.Dir(), Summary: why})
	return st.RecordAttempt(ctx, store.Attempt{
		ID: skill.NewID("attempt", "x"), Trigger: ByMetrics, Type: string(review.Fix), Targets: []string{rec.SkillID}, Outcome: "done", NewID: made.SkillID,
	})
}
