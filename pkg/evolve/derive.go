package evolve

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxParents is how many skills are made one.
const maxParents = 5

// derive makes a new skill beside the first of its parents.
func (w *work) derive(ctx context.Context) error {
	if err := w.loadParents(ctx); err != nil {
		return err
	}
	first := w.parents[0]
	unlock, err := w.lock(ctx, w.e.o.Wait, "derived "+first.Dir())
	if err != nil {
		return err
	}
	defer unlock()
	if w.req.Trigger != Manual {
		same := func(p review.Proposal) bool { return slices.Contains(p.ParentSkillIDs, first.SkillID) }
		if err := w.e.waiting(review.Derived, same); err != nil {
			return err
		}
	}
	j := job{question: w.deriveQuestion()}
	var ids, tools []string
	for _, p := range w.parents {
		j.taken, ids, tools = append(j.taken, p.Name), append(ids, p.SkillID), union(tools, p.ToolDependencies)
	}
	content, err := w.draft(ctx, j)
	if err != nil {
		return err
	}
	if err := w.unlike(ctx, content, ids); err != nil {
		return err
	}
	category := w.req.Category
	if category == "" {
		category = first.Category
	}
	return w.finish(ctx, review.Change{Kind: review.Derived, Dir: filepath.Dir(first.Dir()), Content: content, Record: store.Record{
		Name: mainSkill(content).Name, Category: category, Visibility: first.Visibility, CreatorID: first.CreatorID,
		ToolDependencies: union(tools, w.req.Tools), Lineage: store.Lineage{Origin: store.OriginDerived, ParentSkillIDs: ids},
	}})
}

// loadParents finds the parents, each once and as they are now. The edit is applied to a single parent; several are only shown.
func (w *work) loadParents(ctx context.Context) error {
	if n := len(union(w.req.Targets)); n == 0 || n > maxParents {
		return wire.Errorf(wire.Invalid, "a derived skill has 1 to %d parents, not %d", maxParents, n)
	}
	w.before = store.Content{}
	for _, id := range union(w.req.Targets) {
		one := &work{e: w.e, req: Request{Kind: review.Fix, Targets: []string{id}, DryRun: w.req.DryRun}}
		dir, err := one.folder()
		if err == nil {
			err = one.load(ctx, dir)
		}
		if err != nil {
			return err
		}
		if len(w.parents) > 0 && contains(w.parents, one.head) {
			continue
		}
		w.parents = append(w.parents, one.head)
		for name, b := range one.base {
			w.before[one.head.SkillID+"/"+name] = b
		}
		w.base = one.base
	}
	if len(w.parents) == 1 {
		w.before = w.base
	} else {
		w.base = store.Content{}
	}
	return nil
}

// parent is the content of one of several parents.
func (w *work) parent(p store.Record) store.Content {
	c := store.Content{}
	for name, blob := range w.before {
		if rest, ok := strings.CutPrefix(name, p.SkillID+"/"); ok {
			c[rest] = blob
		}
	}
	return c
}

func contains(recs []store.Record, rec store.Record) bool {
	for _, r := range recs {
		if r.SkillID == rec.SkillID {
			return true
		}
	}
	return false
}

func (w *work) deriveQuestion() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Derive a new skill from %d\n\n%s\n", len(w.parents), deriveTask)
	b.WriteString(fence("What it is to be:", w.req.Direction))
	b.WriteString(w.evidence(w.parents...))
	if len(w.parents) == 1 {
		b.WriteString("\n## The files of the parent; your edit changes a copy of them\n\n" + w.shownFiles(w.base))
		return b.String() + "\n## Your answer\n\n" + patchForm
	}
	for i, p := range w.parents {
		c := w.parent(p)
		b.WriteString(fence(fmt.Sprintf("## Parent %d: %s", i+1, p.Name), clip(string(c[mainFile(c)].Data), maxShown/len(w.parents))))
	}
	return b.String() + "\n## Your answer\n\n" + wholeForm
}
