package evolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// What starts a change.
const (
	Manual     = "manual"
	ByAnalysis = "analysis"
	ByTool     = "tool_degradation"
	ByMetrics  = "metric_monitor"
)

// Request is a change that is to be made.
type Request struct {
	Kind      review.Kind
	Trigger   string
	Dir       string   // of a fix: the folder; may be empty when there is a target
	Targets   []string // of a fix: the version to repair; of derived: the parents. Superseded ones stand for the head of their folder
	Root      string   // of a captured skill: where it is made; "": Options.Root
	Direction string
	Category  string
	Tools     []string // that the new version is known to depend on
	Run       *Run     // that taught it; needed to capture
	Evidence  string   // what a trigger knows: numbers, errors
	DryRun    bool     // make it and show it; nothing is written
	Force     bool     // capture although there is a skill like it
}

// Result is what came of a request.
type Result struct {
	Outcome  string       // done, proposed or preview
	Record   store.Record // the new version, when it is done
	Head     store.Record // of a fix: the version that was repaired
	Kind     review.Kind
	Name     string
	Dir      string // of the skill; of one that is not made yet, where it would be
	Summary  string
	Diff     []store.FileDiff
	Proposal string // its id
	Answers  int    // that the model gave
	Usage    llm.Usage
	Warnings []string
}

// Evolve makes a change, or a proposal of it. Whatever comes of it, the try is journaled, unless it is a dry run. Errors match the sentinels of
// this package, of review and of store, or are those of the model.
func (e *Engine) Evolve(ctx context.Context, req Request) (Result, error) {
	start := time.Now()
	w := &work{e: e, req: req, res: Result{Kind: req.Kind}}
	err := w.run(ctx)
	if !req.DryRun && !errors.Is(err, ErrHeld) {
		a := store.Attempt{
			ID: skill.NewID("attempt", "x"), Trigger: w.req.Trigger, Type: string(req.Kind), Targets: w.targets(), Outcome: outcome(w.res, err),
			NewID: w.res.Record.SkillID, Tokens: w.res.Usage.Tokens(), CostUSD: w.res.Usage.Cost, MS: time.Since(start).Milliseconds(),
		}
		if err != nil {
			a.Error = line(e.o.Mask(err.Error()), 1000)
		}
		// A run that was interrupted is journaled, too.
		if jerr := e.o.Store.RecordAttempt(context.WithoutCancel(ctx), a); jerr != nil {
			e.o.Warn("note the attempt: %v", jerr)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s skill%s: %w", verbs[req.Kind], w.label(), err)
	}
	return w.res, err
}

var verbs = map[review.Kind]string{review.Fix: "fix", review.Derived: "derive", review.Captured: "capture"}

func outcome(r Result, err error) string {
	switch {
	case err == nil:
		return r.Outcome
	case errors.Is(err, ErrSimilar), errors.Is(err, review.ErrStale):
		return "superseded"
	case errors.Is(err, ErrDeclined), errors.Is(err, ErrUnwanted), errors.Is(err, review.ErrPinned):
		return "rejected"
	}
	return "failed"
}

// work is a change under way.
type work struct {
	e       *Engine
	req     Request
	res     Result
	head    store.Record   // of a fix; without an id in a dry run of a folder that the store does not know
	parents []store.Record // of derived
	base    store.Content  // what the edit is applied to
	before  store.Content  // what the result is compared with: the base, or all parents together
	like    string         // the skill that a new one was too much like
}

func (w *work) label() string {
	if w.req.Dir != "" {
		return fmt.Sprintf(" %q", w.req.Dir)
	}
	if len(w.req.Targets) > 0 {
		return fmt.Sprintf(" %q", w.req.Targets[0])
	}
	return ""
}

func (w *work) targets() []string {
	var ids []string
	for _, p := range w.parents {
		ids = append(ids, p.SkillID)
	}
	if w.head.SkillID != "" {
		ids = append(ids, w.head.SkillID)
	}
	if w.like != "" {
		ids = append(ids, w.like)
	}
	if ids == nil {
		ids = []string{}
	}
	return ids
}

func (w *work) run(ctx context.Context) error {
	if w.e.o.Model == nil {
		return wire.Errorf(wire.Usage, "%w", ErrNoModel).WithHint("name one with --model or OPENSPACE_MODEL")
	}
	if w.req.Trigger == "" {
		w.req.Trigger = Manual
	}
	if w.req.Direction = line(w.e.o.Mask(w.req.Direction), 4000); w.req.Direction == "" {
		return wire.Errorf(wire.Usage, "nothing says what is to be changed").WithHint("say it with --direction")
	}
	switch w.req.Kind {
	case review.Fix:
		return w.fix(ctx)
	case review.Derived:
		return w.derive(ctx)
	case review.Captured:
		return w.capture(ctx)
	}
	return wire.Errorf(wire.Usage, "unknown kind %q of a change", w.req.Kind)
}

// patience is how long is waited for what takes moments.
const patience = 30 * time.Second

// lock keeps others from changing the same thing. A dry run writes nothing, not even a lock.
func (w *work) lock(ctx context.Context, wait time.Duration, what string) (func(), error) {
	if w.req.DryRun {
		return func() {}, nil
	}
	return w.e.lock(ctx, wait, what)
}

// lock is held while the model is asked, so that no tokens are spent twice. It is not the lock of the store, which others need to look at the folder.
func (e *Engine) lock(ctx context.Context, wait time.Duration, what string) (func(), error) {
	dir := filepath.Join(e.o.Store.Home(), "store", "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(what))
	path := filepath.Join(dir, "evolve-"+hex.EncodeToString(sum[:8])+".lock")
	l, err := atomicfile.LockWait(ctx, path, max(wait, time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("another change is under way: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

// finish puts a change in place, proposes or shows it, as the request and the mode say.
func (w *work) finish(ctx context.Context, c review.Change) error {
	diff, err := store.Compare(w.before.Side(), c.Content.Side())
	if err != nil {
		return err
	}
	if w.req.Kind == review.Captured || len(w.parents) > 1 {
		diff, err = store.Compare(store.Content{}.Side(), c.Content.Side())
		if err != nil {
			return err
		}
	}
	c.Record.Lineage.CreatedBy, c.Record.Lineage.ChangeSummary = w.e.o.Model.Name(), w.res.Summary
	if w.req.Run != nil {
		c.Record.Lineage.SourceTaskID = w.req.Run.TaskID
	}
	w.res.Diff, w.res.Name = diff, w.name(c)
	if err := w.wanted(c); err != nil {
		return err
	}
	switch {
	case w.req.DryRun:
		w.res.Outcome, w.res.Dir = "preview", w.place(c)
		return nil
	case w.req.Trigger != Manual && w.e.waits(w.place(c)):
		p, err := review.Save(w.e.o.Store.Home(), c, review.Proposal{Trigger: w.req.Trigger, Direction: w.req.Direction, CreatedAt: w.e.o.Now().UTC(), Warnings: w.res.Warnings})
		if err != nil {
			return err
		}
		w.res.Outcome, w.res.Proposal, w.res.Dir = review.Proposed, p.ID, w.place(c)
		return nil
	}
	rec, err := review.Apply(ctx, w.e.o.Store, c)
	if err != nil {
		return err
	}
	w.res.Outcome, w.res.Record, w.res.Dir, w.res.Name = "done", rec, rec.Dir(), rec.Name
	return nil
}

// wanted refuses a new skill of a name that somebody rejected, unless a person asks for it.
func (w *work) wanted(c review.Change) error {
	if c.Kind == review.Fix || w.req.Trigger == Manual || w.req.Force {
		return nil
	}
	no, err := review.Unwanted(w.e.o.Store, c.Dir, c.Record.Name)
	if err == nil && no {
		err = wire.Errorf(wire.Exists, "%w: a proposal for %q in %q was rejected", ErrUnwanted, c.Record.Name, c.Dir)
	}
	return err
}

func (w *work) name(c review.Change) string {
	if s := mainSkill(c.Content); s != nil {
		return s.Name
	}
	return c.Record.Name
}

// place is where a change would be seen.
func (w *work) place(c review.Change) string {
	if c.Kind == review.Fix {
		return c.Dir
	}
	return filepath.Join(c.Dir, c.Record.Name)
}

// mainSkill reads the skill in a content; nil when there is none.
func mainSkill(c store.Content) *skill.Skill {
	s, _ := skill.Parse(c[mainFile(c)].Data, "")
	return s
}

// mainFile is the name of the skill file in a content.
func mainFile(c store.Content) string {
	if _, ok := c[skill.FileName]; !ok {
		if _, ok := c["skill.md"]; ok {
			return "skill.md"
		}
	}
	return skill.FileName
}
