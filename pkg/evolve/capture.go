package evolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// captureBudget bounds the conversation that a skill is made from, in characters.
const captureBudget = 16_000

// capture writes down what a run found out.
func (w *work) capture(ctx context.Context) error {
	root := w.req.Root
	if root == "" {
		root = w.e.o.Root
	}
	if root == "" {
		return wire.Errorf(wire.Usage, "nothing says where the skill is to be made")
	}
	if w.req.Run == nil {
		return wire.Errorf(wire.Invalid, "there is no run to capture a skill from")
	}
	root, err := store.Canonical(root)
	if err != nil {
		return err
	}
	w.base, w.before = store.Content{}, store.Content{}
	if w.req.Category == "" {
		w.req.Category = "workflow"
	}
	content, err := w.draft(ctx, job{question: w.captureQuestion()})
	if err != nil {
		return err
	}
	// Two runs that learnt the same must not both make it.
	unlock, err := w.lock(ctx, patience, "captured "+root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := w.unlike(ctx, content, nil); err != nil {
		return err
	}
	return w.finish(ctx, review.Change{Kind: review.Captured, Dir: root, Content: content, Record: store.Record{
		Name: mainSkill(content).Name, Category: w.req.Category, ToolDependencies: union(w.req.Run.keys(), w.req.Tools),
		Lineage: store.Lineage{Origin: store.OriginCaptured},
	}})
}

// meanings says what the categories are.
var meanings = map[string]string{
	"workflow":   "a procedure from beginning to end",
	"tool_guide": "how to use one tool",
	"reference":  "knowledge that decisions need",
}

func (w *work) captureQuestion() string {
	run := w.req.Run
	var b strings.Builder
	fmt.Fprintf(&b, "# Capture a skill of the category %s: %s\n\n%s\n", w.req.Category, meanings[w.req.Category], captureTask)
	b.WriteString(fence("What is worth keeping:", w.req.Direction))
	if w.req.Evidence != "" {
		b.WriteString(fence("How the run went:", w.req.Evidence))
	}
	b.WriteString(fence("The task of the run:", clip(run.Task, 2000)))
	b.WriteString(fence("Calls of tools, [tool key] command: outcome", timeline(run.Steps)))
	b.WriteString(fence("Conversation, [phase.iteration]", transcript(run.Said, captureBudget)))
	return b.String() + "\n## Your answer\n\n" + wholeForm
}
