package evolve

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// maxOffered is how much of an offered skill an analysis is shown, in characters.
const maxOffered = 8_000

// fewCalls is the number of calls below which a run that went well without skills has nothing to teach.
const fewCalls = 3

// Analyze judges a run and records the judgment; a run that was analysed before is not asked about again. Without a model, and when the model
// cannot be asked, the run is counted by what is known of it: the error then says why there are no suggestions.
func (e *Engine) Analyze(ctx context.Context, run Run) (store.Analysis, llm.Usage, error) {
	a, _, usage, err := e.analyze(ctx, run)
	return a, usage, err
}

// analyze is Analyze; fresh tells whether the judgment was recorded by this call.
func (e *Engine) analyze(ctx context.Context, run Run) (a store.Analysis, fresh bool, usage llm.Usage, failed error) {
	if a, ok, err := e.o.Store.Analysis(run.TaskID); ok || err != nil {
		return a, false, usage, err
	}
	a = e.known(run)
	if e.o.Model != nil && !run.trivial() {
		var v verdict
		if v, usage, failed = e.judge(ctx, run); failed == nil {
			v.into(&a)
			a.AnalyzedBy = e.o.Model.Name()
		}
	}
	if ctx.Err() != nil {
		return a, false, usage, ctx.Err()
	}
	fresh, err := e.o.Store.RecordAnalysis(ctx, a)
	if err != nil {
		return a, false, usage, fmt.Errorf("record the analysis of task %q: %w", run.TaskID, err)
	}
	if failed != nil {
		failed = fmt.Errorf("analyse task %q: %w", run.TaskID, failed)
	}
	return a, fresh, usage, failed
}

// trivial tells whether there is nothing to learn from a run.
func (r Run) trivial() bool {
	return len(r.Offered) == 0 && r.Status == "success" && len(r.Steps) < fewCalls
}

// known is the analysis of a run by what is known without a model: the skills of a first phase that failed were fallen back from, those of a run that
// went well are taken to have helped.
func (e *Engine) known(run Run) store.Analysis {
	figures := run.Figures
	figures.Status = run.Status
	a := store.Analysis{
		TaskID: run.TaskID, Timestamp: run.Ended, TaskCompleted: run.Status == "success", AnalyzedAt: e.o.Now().UTC(), RecDir: run.Dir, Run: &figures,
		ToolIssues: []string{}, SkillJudgments: []store.Judgment{}, EvolutionSuggestions: []store.Suggestion{},
	}
	if a.Timestamp.IsZero() {
		a.Timestamp = a.AnalyzedAt
	}
	for _, id := range run.ids() {
		a.SkillJudgments = append(a.SkillJudgments, store.Judgment{
			SkillID: id, SkillApplied: a.TaskCompleted && !run.Fellback, Fallback: run.fellBackFrom(id), Note: "counted from how the run ended",
		})
	}
	return a
}

// fellBackFrom tells whether a skill was of the phase that was given up. One that was found later is not known to have been.
func (r Run) fellBackFrom(id string) bool {
	for _, o := range r.Offered {
		if o.ID == id && !o.Late {
			return r.Fellback
		}
	}
	return false
}

// judge asks the model, once more if its answer has no object.
func (e *Engine) judge(ctx context.Context, run Run) (verdict, llm.Usage, error) {
	d := newDialogue("ExecutionAnalyzer", e.o.Model, analystRole, e.o.Observe)
	files := readable(run)
	defer files.close()
	if len(files) > 0 {
		d.files, d.mask = files, e.o.Mask
	}
	question := e.o.Mask(analysisQuestion(run, e.shown(run), files))
	for try := 1; ; try++ {
		answer, err := d.ask(ctx, question)
		if err != nil {
			return verdict{}, d.usage, err
		}
		v, err := parseVerdict(answer, run)
		if err == nil || try == 2 {
			v.hide(e.o.Mask)
			return v, d.usage, err
		}
		question = "That cannot be used: " + err.Error() + ". Answer again, with the JSON object alone."
	}
}

// shownSkill is an offered skill as an analysis sees it.
type shownSkill struct {
	Offered
	text string
}

// shown reads the offered skills: as the run saw them from the store, else as they are on disk.
func (e *Engine) shown(run Run) (out []shownSkill) {
	seen := map[string]bool{}
	for _, o := range run.Offered {
		if seen[o.ID] {
			continue
		}
		seen[o.ID] = true
		s := shownSkill{Offered: o}
		if rec, ok, err := e.o.Store.Record(o.ID); ok && err == nil {
			if c, err := e.o.Store.Content(rec); err == nil {
				s.text = string(c[path.Base(rec.Path)].Data)
			}
		}
		if s.text == "" {
			if file, _ := skill.Find(o.Dir); file != "" {
				data, _ := os.ReadFile(file)
				s.text = string(data)
			}
		}
		out = append(out, s)
	}
	return out
}

// readable is what an analysis may read: the recording, and the folders of the offered skills by their ids.
func readable(run Run) mounts {
	m := mounts{}
	m.mount("recording", run.Dir)
	for _, o := range run.Offered {
		m.mount(o.ID, o.Dir)
	}
	return m
}

// analysisQuestion is what a model is asked about a run.
func analysisQuestion(run Run, skills []shownSkill, files mounts) string {
	var b strings.Builder
	b.WriteString("# A finished run\n\n")
	b.WriteString(fence("Task, as the user put it:", clip(run.Task, 4000)))
	fmt.Fprintf(&b, "\nIt ended as %q after %d iterations. That is what the agent says about itself: success means that it said it was done, incomplete that its budget was used up.\n", run.Status, run.Figures.Iterations)
	if run.Fellback {
		b.WriteString("Phase 1, with the skills, did not succeed; in phase 2 the work was begun again without them. The skills get no credit for phase 2.\n")
	}
	b.WriteString("\n## Skills that were offered\n\n")
	if len(skills) == 0 {
		b.WriteString("None.\n")
	}
	for _, s := range skills {
		b.WriteString(fence("Skill "+s.ID+":", clip(s.text, maxOffered)))
	}
	b.WriteString("\n## Calls of tools\n\n" + fence("[tool key] command: outcome", timeline(run.Steps)))
	b.WriteString("\n## Conversation\n\n" + fence("[phase.iteration]", transcript(run.Said, conversationBudget)))
	if len(files) > 0 {
		b.WriteString("\nMore can be read with read_file in " + strings.Join(files.names(), ", ") + ". What is above is normally enough.\n")
	}
	return b.String() + "\n" + analysisTask
}
