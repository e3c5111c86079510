package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// found is what the search said.
type found struct {
	hits []wire.Hit
	err  error
}

// searchTime bounds a search, the registry's part included.
const searchTime = 30 * time.Second

// find searches for skills. It runs beside other preparations.
func (r *run) find(ctx context.Context) (f found) {
	if r.finder == nil {
		return f
	}
	f.hits, f.err = r.search(ctx, cut(r.t.Task, maxQuery), maxHits)
	return f
}

func (r *run) search(ctx context.Context, query string, limit int) ([]wire.Hit, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	q := wire.Query{Query: query, Limit: limit, Source: ScopeLocal}
	if r.t.SearchScope == ScopeAll {
		q.Source = ScopeAll
	}
	hits, err := r.finder.Find(ctx, q)
	if r.s.Repeatable {
		for i := range hits {
			hits[i].Quality = nil
		}
	}
	return hits, err
}

// choose takes what was found to the skills that the agent is shown. What goes wrong here costs the skills and not the task, unless the work would
// end in the same way.
func (r *run) choose(ctx context.Context, f found) error {
	sel := &Selection{Method: "none", Task: cut(r.t.Task, 500), Available: []string{}, Selected: []string{}}
	if f.err != nil && ctx.Err() == nil {
		sel.Method, sel.Error = "no_search", f.err.Error()
		r.warn("skills were not searched: " + f.err.Error())
	}
	for _, h := range f.hits {
		for _, w := range h.Warnings {
			r.warn(w)
		}
	}
	offered := candidates(f.hits, r.onProbation, sel)
	model, err := newGrowing(r.places(offered), func(p []llm.Place) (llm.Model, error) { return r.s.Model(r.t.Model, p) })
	if err != nil {
		return err
	}
	r.model = model
	r.set("model", model.Name())
	if len(offered) > 0 {
		err = r.ask(ctx, offered, sel)
	}
	for _, s := range r.skills {
		sel.Selected = append(sel.Selected, s.ID)
	}
	r.set("skill_selection", sel)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if hopeless(err) {
		return modelError(err)
	}
	return nil
}

// hopeless tells whether the next request would fail as this one did.
func hopeless(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && slices.Contains([]llm.Kind{llm.BadAuth, llm.NoQuota, llm.NotFound, llm.Diverged}, e.Kind)
}

// ask lets the model choose, imports what it chose from the registry, and loads it. The error is that of the model.
func (r *run) ask(ctx context.Context, offered []wire.Hit, sel *Selection) error {
	began := time.Now()
	chosen, usage, err := choose(ctx, r.model, r.t.Task, offered, r.maxSkills(), sel)
	phase := wire.Phase{Name: phaseSelect, Status: success, Reason: oneLine(sel.Plan, 300), ElapsedMS: time.Since(began).Milliseconds()}
	sel.Method = "llm"
	if err != nil {
		sel.Method, sel.Error = "llm_failed", err.Error()
		phase.Status, phase.Reason = failed, oneLine(err.Error(), 300)
		if ctx.Err() == nil && !hopeless(err) {
			r.warn(fmt.Sprintf("no skills were chosen: %v", err))
		}
	}
	r.used(usage, 0, phaseSelect, time.Since(began))
	here, imports := fetch(ctx, r.s.Commands, chosen)
	r.imports = imports
	for _, i := range imports {
		r.step("import", "", fmt.Sprintf("%s: %s", i.SkillID, i.ImportStatus))
		if i.Error != "" {
			r.warn(fmt.Sprintf("skill %s was not imported: %s", i.SkillID, i.Error))
		}
	}
	for _, h := range here {
		s, err := load(h, r.s.Policy)
		if err != nil {
			r.warn(fmt.Sprintf("skill %s is not used: %v", h.SkillID, err))
			continue
		}
		r.skills = append(r.skills, s)
		phase.Skills = append(phase.Skills, s.ID)
	}
	if len(phase.Skills) > 0 {
		r.step("skills", "", strings.Join(phase.Skills, ", "))
	}
	phase.Tokens, phase.Cost = tokens(usage), usage.Cost
	r.phases = append(r.phases, phase)
	return err
}

func (r *run) maxSkills() int {
	if r.s.MaxSkills > 0 {
		return r.s.MaxSkills
	}
	return 2
}
