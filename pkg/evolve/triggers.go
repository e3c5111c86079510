package evolve

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/store"
)

// Kinds of marks: what the triggers remember.
const (
	lookMark   = "tool-look"  // key: tool; state: calls when it was last looked at
	brokenMark = "tool-state" // key: tool; state: "bad N" or "ok N", N counts how often it broke
	seenMark   = "tool-seen"  // key: tool, skill: first of the line; state: N of the break that it was looked at for
	runsMark   = "metric-runs"
	askedMark  = "metric-asked" // key: rule, skill: version; state: selections when it was asked about
)

// Thresholds; docs/evolution.md explains them.
const (
	fewSamples  = 5
	brokenRate  = 0.5
	lookEvery   = 5 // calls of a tool, and runs
	maxLooks    = 3 // skills that one look asks about
	enoughUses  = 5
	fewUses     = 3
	worseBy     = 0.3
	goodEnough  = 0.5
	maxFallback = 0.4
	minApplied  = 0.4
	minDone     = 0.35
	minEffect   = 0.55
	minUsed     = 0.25
)

// lookAtTools repairs skills whose tools broke.
func (l *lesson) lookAtTools(ctx context.Context) error {
	for _, key := range l.run.keys() {
		epoch, stats, err := l.broken(ctx, key)
		if err != nil {
			return err
		}
		if epoch == "" {
			continue
		}
		if err := l.dependents(ctx, key, epoch, stats); err != nil {
			return err
		}
	}
	return nil
}

// broken tells whether a tool is to be looked at and no longer works; epoch is which of its breaks this is.
func (l *lesson) broken(ctx context.Context, key string) (epoch string, stats store.ToolStats, err error) {
	st := l.e.o.Store
	if stats, err = st.Tool(key); err != nil {
		return "", stats, err
	}
	last, err := l.number(store.Mark{Kind: lookMark, Key: key})
	if err != nil || stats.Calls-last < lookEvery {
		return "", stats, err
	}
	if err := st.RecordMark(ctx, store.Mark{Kind: lookMark, Key: key, State: strconv.Itoa(stats.Calls)}); err != nil {
		return "", stats, err
	}
	was, _, err := st.MarkState(store.Mark{Kind: brokenMark, Key: key})
	if err != nil {
		return "", stats, err
	}
	word, n, _ := strings.Cut(was, " ")
	times, _ := strconv.Atoi(n)
	now := "ok"
	if stats.Recent >= fewSamples && stats.RecentRate() < brokenRate {
		now = "bad"
	}
	if now == "bad" && word != "bad" {
		times++
	}
	if now != word && (now == "bad" || word != "") {
		if err := st.RecordMark(ctx, store.Mark{Kind: brokenMark, Key: key, State: now + " " + strconv.Itoa(times)}); err != nil {
			return "", stats, err
		}
	}
	if now == "ok" {
		return "", stats, nil
	}
	return strconv.Itoa(times), stats, nil
}

// dependents looks at the skills that depend on a broken tool, each line of versions once for each break.
func (l *lesson) dependents(ctx context.Context, key, epoch string, stats store.ToolStats) error {
	st, looks := l.e.o.Store, 0
	for rec, err := range st.All(true) {
		if err != nil {
			return err
		}
		if !slices.Contains(rec.ToolDependencies, key) || looks == maxLooks || l.spent() || ctx.Err() != nil {
			continue
		}
		line, err := st.Line(rec.SkillID)
		if err != nil || len(line) == 0 {
			return err
		}
		mark := store.Mark{Kind: seenMark, Key: key, SkillID: line[0].SkillID}
		if state, _, err := st.MarkState(mark); err != nil || state == epoch {
			continue
		}
		looks++
		mark.State = epoch
		if err := st.RecordMark(ctx, mark); err != nil {
			return err
		}
		evidence := fmt.Sprintf("The tool %s fails: of its last %d calls %s went well, of %d in all %d.", key, stats.Recent, percent(stats.RecentRate()), stats.Calls, stats.OK)
		l.confirmed(ctx, Request{
			Kind: review.Fix, Trigger: ByTool, Targets: []string{rec.SkillID}, Evidence: evidence,
			Direction: "The tool " + key + " often fails now. Say how to notice it and what to do then, or name another way.",
		})
	}
	return nil
}

// need is a skill whose counters ask for a change.
type need struct {
	rec      store.Record
	counters store.Counters
	rule     string
	kind     review.Kind
}

// rules are looked at in order; the first that holds counts.
var rules = []struct {
	name      string
	kind      review.Kind
	least     int // selections
	holds     func(c store.Counters) bool
	direction string
}{
	{"never-completed", review.Fix, 2, func(c store.Counters) bool { return c.Completions == 0 },
		"No task was completed with it. Find out why it misleads or is not followed, and mend that."},
	{"fallbacks", review.Fix, enoughUses, func(c store.Counters) bool { return c.FallbackRate() > maxFallback },
		"It is often given up or passed over in runs that fail. Say more clearly when it applies, and make its steps work."},
	{"incomplete", review.Fix, enoughUses, func(c store.Counters) bool { return c.AppliedRate() > minApplied && c.CompletionRate() < minDone },
		"It is followed, and the tasks are not completed. Mend or complete the steps."},
	{"ineffective", review.Derived, enoughUses, func(c store.Counters) bool { return c.EffectiveRate() < minEffect && c.AppliedRate() > minUsed },
		"It works in too few of the tasks that it is used for. Derive one that covers what it misses."},
}

// diagnose returns what the counters of a version ask for.
func diagnose(rec store.Record, c store.Counters) (need, bool) {
	for _, r := range rules {
		if c.Selections >= r.least && r.holds(c) {
			return need{rec, c, r.name, r.kind}, true
		}
	}
	return need{}, false
}

// lookAtCounters looks at all active skills with every fifth run.
func (l *lesson) lookAtCounters(ctx context.Context) error {
	st := l.e.o.Store
	runs, err := l.number(store.Mark{Kind: runsMark})
	if err != nil {
		return err
	}
	runs++
	if err := st.RecordMark(ctx, store.Mark{Kind: runsMark, State: strconv.Itoa(runs)}); err != nil || runs%lookEvery != 0 {
		return err
	}
	var found []need
	for rec, err := range st.All(true) {
		if err != nil {
			return err
		}
		c, err := st.Counters(rec.SkillID)
		if err != nil {
			return err
		}
		if n, ok := diagnose(rec, c); ok {
			found = append(found, n)
		}
	}
	byNeed(found)
	asked := 0
	for _, n := range found {
		if asked == maxLooks || l.spent() || ctx.Err() != nil {
			break
		}
		open, err := l.unanswered(n)
		if err != nil {
			return err
		}
		if !open {
			continue
		}
		asked++
		if err := l.act(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// unanswered tells whether a version was not asked about yet, or has been used enough since, and was not derived from.
func (l *lesson) unanswered(n need) (bool, error) {
	at, ok, err := l.e.o.Store.MarkState(store.Mark{Kind: askedMark, Key: n.rule, SkillID: n.rec.SkillID})
	if then, _ := strconv.Atoi(at); err != nil || ok && n.counters.Selections-then < enoughUses {
		return false, err
	}
	if n.kind != review.Derived {
		return true, nil
	}
	children, err := l.e.o.Store.Children(n.rec.SkillID)
	return !slices.ContainsFunc(children, func(c store.Record) bool { return c.Lineage.Origin == store.OriginDerived }), err
}

// act asks about a version, and changes it if that is confirmed.
func (l *lesson) act(ctx context.Context, n need) error {
	mark := store.Mark{Kind: askedMark, Key: n.rule, SkillID: n.rec.SkillID, State: strconv.Itoa(n.counters.Selections)}
	if err := l.e.o.Store.RecordMark(ctx, mark); err != nil {
		return err
	}
	c := n.counters
	evidence := fmt.Sprintf("It was offered in %d runs, applied in %s of them; of those in which it was applied %s were completed, of all %s; fallbacks %s.",
		c.Selections, percent(c.AppliedRate()), percent(c.CompletionRate()), percent(c.EffectiveRate()), percent(c.FallbackRate()))
	direction := ""
	for _, r := range rules {
		if r.name == n.rule {
			direction = r.direction
		}
	}
	l.confirmed(ctx, Request{Kind: n.kind, Trigger: ByMetrics, Targets: []string{n.rec.SkillID}, Evidence: evidence, Direction: direction})
	return nil
}

// confirmed makes a change if the model says that it is worth it. A change that would be held back is not asked about.
func (l *lesson) confirmed(ctx context.Context, req Request) {
	rec, ok, err := l.e.o.Store.Record(req.Targets[0])
	if err == nil && ok {
		err = review.CheckPin(l.e.o.Store, rec.Dir())
	}
	if err == nil && ok {
		err = l.e.held(rec)
	}
	if err != nil || !ok {
		l.note("look at "+req.Targets[0], err)
		return
	}
	yes, direction, err := l.confirm(ctx, req, rec)
	if err != nil {
		l.note("confirm the change of "+rec.SkillID, err)
		return
	}
	if !yes {
		a := store.Attempt{ID: "confirm-" + rec.SkillID, Trigger: req.Trigger, Type: string(req.Kind), Targets: req.Targets, Outcome: "rejected", Error: line(l.e.o.Mask(direction), 300)}
		l.note("note the attempt", l.e.o.Store.RecordAttempt(ctx, a))
		return
	}
	if direction != "" {
		req.Direction = direction
	}
	_, _ = l.evolve(ctx, req) // its error is a note
}

// maxConfirmed is how much of a skill is shown to confirm a change, in characters.
const maxConfirmed = 6_000

// confirm asks whether a change is worth it. With a yes comes another direction or none, with a no the reason.
func (l *lesson) confirm(ctx context.Context, req Request, rec store.Record) (yes bool, text string, err error) {
	content, err := l.e.o.Store.Content(rec)
	if err != nil {
		return false, "", err
	}
	analyses, err := l.e.o.Store.Analyses(rec.SkillID, shownHistory)
	if err != nil {
		return false, "", err
	}
	d := newDialogue("SkillEvolver.confirm", l.e.o.Model, editorRole, l.e.o.Observe)
	d.json = true
	question := fmt.Sprintf("# Is this change of the skill %s needed: %s?\n\n", rec.SkillID, req.Kind) +
		fence("What is proposed:", req.Direction) + fence("Why:", req.Evidence) + fence("Recent runs:", histories(analyses, rec.SkillID)) +
		fence("The skill:", clip(string(content[path.Base(rec.Path)].Data), maxConfirmed)) + "\n" + confirmTask
	answer, err := d.ask(ctx, l.e.o.Mask(question))
	l.out.Usage.Add(d.usage)
	if err != nil {
		return false, "", err
	}
	yes, text = parseConfirmation(answer)
	return yes, text, nil
}

// parseConfirmation reads an answer: yes only if it says so in an object.
func parseConfirmation(answer string) (yes bool, text string) {
	obj, ok := object(answer, "proceed")
	if !ok || !truth(obj["proceed"]) {
		return false, words(obj["reason"])
	}
	for _, key := range []string{"direction", "adjusted_direction"} {
		if d := words(obj[key]); d != "" {
			return true, d
		}
	}
	return true, ""
}

// number is the state of a mark that is a number, 0 without one.
func (l *lesson) number(m store.Mark) (int, error) {
	state, _, err := l.e.o.Store.MarkState(m)
	n, _ := strconv.Atoi(state)
	return n, err
}
