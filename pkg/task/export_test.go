package task

import (
	"context"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The parts that are tested alone.
var (
	Probation = probation
	Body      = body
	Fetch     = fetch
	Load      = load
	Mendable  = mendable

	LessConfined = lessConfined
)

// ReadChoice finds the answer of the model that chooses.
func ReadChoice(text string) (plan string, ids []string, ok bool) {
	c, ok := readChoice(text)
	return c.plan, c.ids, ok
}

// Candidates returns the ids on offer.
func Candidates(hits []wire.Hit, bad func(wire.Hit) string) (ids []string, sel Selection) {
	for _, h := range candidates(hits, bad, &sel) {
		ids = append(ids, h.SkillID)
	}
	return ids, sel
}

// Choose returns the ids that a model chose.
func Choose(ctx context.Context, m llm.Model, task string, offered []wire.Hit, most int) (ids []string, sel Selection, err error) {
	chosen, _, err := choose(ctx, m, task, offered, most, &sel)
	for _, h := range chosen {
		ids = append(ids, h.SkillID)
	}
	return ids, sel, err
}

// Workspace is the folder of a task.
type Workspace struct{ w *workspace }

// OpenWorkspace opens one and notes what is in it.
func OpenWorkspace(dir, fresh, id string) (Workspace, error) {
	w, err := openWorkspace(dir, fresh, id)
	if err == nil {
		w.remember()
	}
	return Workspace{w}, err
}

func (w Workspace) Dir() string                { return w.w.dir }
func (w Workspace) Changes() []wire.FileChange { return w.w.changes() }
func (w Workspace) Names(task string) []string { return w.w.names(task) }
func (w Workspace) Close()                     { w.w.close() }
