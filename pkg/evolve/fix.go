package evolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// fix repairs the skill in a folder.
func (w *work) fix(ctx context.Context) error {
	dir, err := w.folder()
	if err != nil {
		return err
	}
	w.res.Dir = dir
	if err := review.CheckPin(w.e.o.Store, dir); err != nil {
		return err
	}
	unlock, err := w.lock(ctx, w.e.o.Wait, dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := w.load(ctx, dir); err != nil {
		return err
	}
	if w.req.Trigger != Manual {
		if err := w.e.held(w.head); err != nil {
			return err
		}
	}
	content, err := w.draft(ctx, job{folder: dir, question: w.fixQuestion(), name: mainSkill(w.base).Name})
	if err != nil {
		return err
	}
	return w.finish(ctx, review.Change{Kind: review.Fix, Dir: dir, Head: w.head.SkillID, Content: content, Record: store.Record{
		Category: w.req.Category, ToolDependencies: union(w.head.ToolDependencies, w.req.Tools),
	}})
}

// folder returns the canonical folder of a fix. A version that was superseded stands for the head of its folder (B5).
func (w *work) folder() (string, error) {
	dir := w.req.Dir
	if dir == "" {
		if len(w.req.Targets) != 1 {
			return "", wire.Errorf(wire.Invalid, "a fix has one target, not %d", len(w.req.Targets))
		}
		rec, ok, err := w.e.o.Store.Record(w.req.Targets[0])
		if err != nil {
			return "", err
		}
		if !ok {
			return "", fmt.Errorf("skill %q: %w", w.req.Targets[0], store.ErrNotFound)
		}
		dir = rec.Dir()
	}
	return store.Canonical(dir)
}

// load brings the store up to date with the folder and reads its head. A dry run reads the folder and writes nothing.
func (w *work) load(ctx context.Context, dir string) (err error) {
	st := w.e.o.Store
	if w.req.DryRun {
		if w.head, _, err = st.HeadAt(dir); err != nil {
			return err
		}
		var side store.Side
		if side, err = store.DiskSide(dir); err == nil {
			w.base, err = side.Content()
		}
	} else {
		var reg store.Registered
		if reg, err = st.Register(ctx, dir, true); err == nil {
			w.head = reg.Record
			w.base, err = st.Content(reg.Record)
		}
	}
	if err != nil {
		return err
	}
	if mainSkill(w.base) == nil {
		return wire.Errorf(wire.NotFound, "there is no skill in %q", dir).WithHint("a skill folder holds a %s", skill.FileName)
	}
	w.res.Head, w.before = w.head, w.base
	return nil
}

// Limits of changes that nobody asked for.
const (
	maxChanges   = 3
	changesSpan  = 24 * time.Hour
	lookBack     = 20 // attempts that are looked at
	shownTries   = 3
	shownHistory = 5
)

// held tells what is remembered against changing a version without being asked.
func (e *Engine) held(head store.Record) error {
	attempts, err := e.o.Store.Attempts(head.SkillID, lookBack)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		if a.Outcome == review.Rejected && a.Type == string(review.Fix) && a.NewID == "" && strings.HasPrefix(a.ID, "p") {
			return wire.Errorf(wire.Exists, "%w: a proposal for this version was rejected", ErrHeld)
		}
	}
	if err := e.waiting(review.Fix, func(p review.Proposal) bool { return p.SkillDir == head.Dir() }); err != nil {
		return err
	}
	made, err := e.madeLately(head.Dir())
	if err == nil && made >= maxChanges {
		err = wire.Errorf(wire.RateLimited, "%w: it was changed %d times in %d hours", ErrHeld, made, changesSpan/time.Hour)
	}
	return err
}

// waiting refuses what waits for somebody's yes already.
func (e *Engine) waiting(kind review.Kind, same func(review.Proposal) bool) error {
	all, err := review.List(e.o.Store.Home())
	for _, p := range all {
		if p.Problem == "" && p.Kind == kind && same(p) {
			return wire.Errorf(wire.Exists, "%w: proposal %s waits", ErrHeld, p.ID).WithHint("openspace-skills approve or reject it")
		}
	}
	return err
}

// madeLately counts the versions of a folder that were made lately without anybody asking.
func (e *Engine) madeLately(dir string) (n int, err error) {
	versions, err := e.o.Store.Versions(dir)
	for _, v := range versions {
		if e.o.Now().Sub(v.Lineage.CreatedAt) > changesSpan || v.Lineage.Restores != "" {
			continue
		}
		byItself, err := e.byItself(v)
		if err != nil {
			return 0, err
		}
		if byItself {
			n++
		}
	}
	return n, err
}

// byItself tells whether a version was made without anybody asking for it or agreeing to it.
func (e *Engine) byItself(v store.Record) (bool, error) {
	for _, parent := range v.Lineage.ParentSkillIDs {
		attempts, err := e.o.Store.Attempts(parent, lookBack)
		if err != nil {
			return false, err
		}
		for _, a := range attempts {
			if a.NewID == v.SkillID {
				return a.Trigger != Manual && a.Outcome == "done", nil
			}
		}
	}
	return false, nil
}

// fixQuestion is what the model is asked.
func (w *work) fixQuestion() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Repair the skill %q\n\n%s\n", mainSkill(w.base).Name, fixTask)
	b.WriteString(fence("What is to be done:", w.req.Direction))
	b.WriteString(w.evidence(w.head))
	b.WriteString("\n## The files\n\n" + w.shownFiles(w.base) + "\n## Your answer\n\n" + patchForm)
	return b.String()
}

// evidence tells what is known of the uses of a version and of earlier tries to change it.
func (w *work) evidence(recs ...store.Record) string {
	var b strings.Builder
	if w.req.Evidence != "" {
		b.WriteString(fence("Why:", w.req.Evidence))
	}
	for _, rec := range recs {
		if rec.SkillID == "" {
			continue
		}
		// What cannot be read is only missing from the question.
		analyses, _ := w.e.o.Store.Analyses(rec.SkillID, shownHistory)
		if text := histories(analyses, rec.SkillID); text != "" {
			b.WriteString(fence("Recent runs with "+rec.SkillID+":", text))
		}
		if text := w.tries(rec); text != "" {
			b.WriteString(fence("Earlier changes of it that did not work out:", text))
		}
	}
	return b.String()
}

func histories(analyses []store.Analysis, id string) string {
	var b strings.Builder
	for _, a := range analyses {
		state := "failed"
		if a.TaskCompleted {
			state = "completed"
		}
		fmt.Fprintf(&b, "- %s: %s\n", state, line(a.ExecutionNote, 500))
		for _, j := range a.SkillJudgments {
			if j.SkillID != id {
				continue
			}
			used := "not applied"
			if j.SkillApplied {
				used = "applied"
			}
			if j.Fallback {
				used += ", then given up for a run without it"
			}
			fmt.Fprintf(&b, "  skill %s: %s\n", used, line(j.Note, 500))
		}
		for _, issue := range a.ToolIssues[:min(len(a.ToolIssues), 3)] {
			fmt.Fprintf(&b, "  tool: %s\n", line(issue, 200))
		}
	}
	return b.String()
}

// tries lists what was tried with a version and came to nothing, and the versions of its folder that were taken back.
func (w *work) tries(rec store.Record) string {
	var out []string
	attempts, _ := w.e.o.Store.Attempts(rec.SkillID, lookBack)
	for _, a := range attempts {
		if a.Error != "" {
			out = append(out, "- "+a.Outcome+": "+line(a.Error, 200))
		}
	}
	bad, why, _ := w.e.takenBack(rec.Dir())
	for i, b := range bad {
		out = append(out, "- "+line(b.Lineage.ChangeSummary, 200)+": "+line(why[i], 200))
	}
	return strings.Join(out[max(len(out)-shownTries, 0):], "\n")
}

// maxShown is how much of the files a question holds, in characters.
const maxShown = 24_000

// shownFiles shows the files of a skill, the skill file first. What has no room is only named, and can be read.
func (w *work) shownFiles(c store.Content) string {
	names := sortedNames(c)
	var b strings.Builder
	left, cut := maxShown, false
	for _, name := range names {
		data := c[name].Data
		switch text := string(data); {
		case !isText(data):
			fmt.Fprintf(&b, "%s: %d bytes, not text\n", name, len(data))
		case len([]rune(text)) <= left:
			left -= len([]rune(text))
			b.WriteString(fence("File "+name+":", text))
		case left > 1000 && name == mainFile(c):
			cut = true
			b.WriteString(fence("File "+name+" (its beginning):", clip(text, left)))
			left = 0
		default:
			cut = true
			fmt.Fprintf(&b, "File %s: %d bytes, not shown\n", name, len(data))
		}
	}
	if cut && w.req.Kind == review.Fix || cut && len(w.parents) == 1 {
		b.WriteString("What is not shown can be read with read_file.\n")
		w.res.Warnings = append(w.res.Warnings, "the files are too long to be shown to the model at once")
	}
	return b.String()
}

// sortedNames lists the files, the skill file first.
func sortedNames(c store.Content) []string {
	main := mainFile(c)
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == main) != (b == main) {
			return map[bool]int{true: -1, false: 1}[a == main]
		}
		return cmp.Compare(a, b)
	})
	return names
}

// union joins lists, each entry once, in order.
func union(lists ...[]string) (out []string) {
	for _, l := range lists {
		for _, s := range l {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
