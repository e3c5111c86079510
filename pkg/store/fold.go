package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// First letters of the keys of the fold; docs/format-store.md has the table.
const (
	keyRecord   = "r"
	keyDir      = "d"
	keyChild    = "k"
	keyTree     = "t"
	keyCounters = "c"
	keyTask     = "a"
	keyJudged   = "j"
	keyPending  = "p"
	keyMark     = "m"
	keyTool     = "o"
	keyAttempt  = "e"

	nul = "\x00"
	// overLimit is how many changed keys are kept beside a table before they
	// are merged into a new one; it bounds the memory of a first reading.
	overLimit = 1 << 17
	// idleLimit is how many may stay beside it when all has been read: looking
	// for a prefix looks at each.
	idleLimit = 1 << 12
)

// view is the journal folded into keys and values: a table and what has
// changed since. It is not safe for concurrent use.
type view struct {
	base *table            // may be nil
	over map[string][]byte // nil value: removed
	tx   map[string][]byte // changes that may still be dropped
	inTx bool
	mark watermark
	err  error // errDamaged when the table turned out to be
}

func newView(base *table) *view {
	v := &view{base: base, over: map[string][]byte{}, tx: map[string][]byte{}}
	if base != nil {
		v.mark = base.mark
	}
	return v
}

func (v *view) get(key string) ([]byte, bool) {
	if value, ok := v.tx[key]; ok {
		return value, value != nil
	}
	if value, ok := v.over[key]; ok {
		return value, value != nil
	}
	if v.base == nil {
		return nil, false
	}
	value, ok, err := v.base.get([]byte(key))
	if err != nil {
		v.err = err
	}
	return value, ok
}

func (v *view) set(key string, value []byte) {
	if value == nil {
		value = []byte{}
	}
	v.put(key, value)
}

func (v *view) remove(key string) { v.put(key, nil) }

func (v *view) put(key string, value []byte) {
	if v.inTx {
		v.tx[key] = value
		return
	}
	v.over[key] = value
}

// begin starts a change that end keeps or drops.
func (v *view) begin() { v.inTx = true }

func (v *view) end(keep bool) {
	if keep {
		maps.Copy(v.over, v.tx)
	}
	clear(v.tx)
	v.inTx = false
}

// scan calls fn for the keys that start with prefix, ascending, until it
// returns false. The value is valid during the call only.
func (v *view) scan(prefix string, fn func(key string, value []byte) bool) {
	var changed []string
	for key := range v.over {
		if strings.HasPrefix(key, prefix) {
			changed = append(changed, key)
		}
	}
	slices.Sort(changed)
	err := merge(v.base, changed, v.over, prefix, func(key string, value []byte) error {
		if !fn(key, value) {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		v.err = err
	}
}

var errStop = errors.New("stop")

// merge walks the entries of base and of over (whose keys are given sorted)
// that start with prefix in one ascending sequence; over wins.
func merge(base *table, keys []string, over map[string][]byte, prefix string, fn func(key string, value []byte) error) error {
	// upTo emits what has changed below a key, or at it.
	upTo := func(key string, all bool) (hidden bool, err error) {
		for len(keys) > 0 && (all || keys[0] <= key) && err == nil {
			hidden = keys[0] == key
			if value := over[keys[0]]; value != nil {
				err = fn(keys[0], value)
			}
			keys = keys[1:]
		}
		return hidden, err
	}
	err := base.scan([]byte(prefix), func(key, value []byte) error {
		hidden, err := upTo(string(key), false)
		if err != nil || hidden {
			return err
		}
		return fn(string(key), value)
	})
	if err == nil {
		_, err = upTo("", true)
	}
	return err
}

// writeTo writes the whole fold as a table.
func (v *view) writeTo(w *tableWriter) error {
	if err := merge(v.base, slices.Sorted(maps.Keys(v.over)), v.over, "", w.add); err != nil {
		return err
	}
	return w.finish(v.mark)
}

// compact merges what has changed into a new table in memory.
func (v *view) compact() error {
	var buf bytes.Buffer
	if v.base != nil {
		buf.Grow(len(v.base.data) + 128*len(v.over))
	}
	w, err := newTableWriter(&buf)
	if err != nil {
		return err
	}
	if err := v.writeTo(w); err != nil {
		return err
	}
	base, err := openTable(buf.Bytes())
	if err != nil {
		return err
	}
	v.base, v.over = base, map[string][]byte{}
	return nil
}

// line folds one journal line.
func (v *view) line(at place, line []byte) {
	var e event
	if line == nil || decode(line, &e) != nil {
		v.mark.bad++
		return
	}
	v.mark.seq = max(v.mark.seq, e.Seq)
	if e.V <= eventVersion {
		v.apply(&e, at)
	}
	if len(v.over) > overLimit {
		if err := v.compact(); err != nil {
			v.err = err
		}
	}
}

func (v *view) apply(e *event, at place) {
	switch {
	case e.Commit != nil:
		v.begin()
		err := v.commit(e.Commit, at, e.T, false)
		if err != nil {
			v.mark.conflicts++
		}
		v.end(err == nil)
	case e.Analysis != nil:
		v.analysis(e.Analysis, e, at)
	case e.Processed != nil:
		if t, ok := v.task(e.Processed.TaskID); ok {
			v.remove(keyPending + number(t.seq))
		}
	case e.Mark != nil:
		v.set(markKey(*e.Mark), []byte(e.Mark.State))
	case e.Tool != nil:
		v.tool(e.Tool)
	case e.Attempt != nil:
		for _, target := range e.Attempt.Targets {
			v.set(keyAttempt+target+nul+number(^e.Seq), at.append(nil))
		}
	}
}

// number is a key part that sorts like the number.
func number(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

func markKey(m Mark) string { return keyMark + m.Kind + nul + m.Key + nul + m.SkillID }

// analysis counts one analysis; a second one of the same task counts nothing.
func (v *view) analysis(a *Analysis, e *event, at place) {
	if _, ok := v.get(keyTask + a.TaskID); ok {
		return
	}
	v.set(keyTask+a.TaskID, task{at, e.Seq}.append(nil))
	if len(a.EvolutionSuggestions) > 0 {
		v.set(keyPending+number(e.Seq), []byte(a.TaskID))
	}
	seen := map[string]bool{}
	for _, j := range a.SkillJudgments {
		if seen[j.SkillID] {
			continue
		}
		seen[j.SkillID] = true
		c := v.counters(j.SkillID)
		c.count(j, a.TaskCompleted)
		c.Last = laterOf(c.Last, e.T)
		v.set(keyCounters+j.SkillID, appendCounters(nil, c))
		v.set(keyJudged+j.SkillID+nul+number(^e.Seq), at.append(nil))
	}
}

func (c *Counters) count(j Judgment, completed bool) {
	c.Selections++
	if j.SkillApplied {
		c.Applied++
	}
	switch {
	case j.Fallback, !j.SkillApplied && !completed:
		c.Fallbacks++
	case j.SkillApplied && completed:
		c.Completions++
	}
}

func (v *view) tool(t *ToolSample) {
	s := v.tally(t.Key)
	s.calls++
	s.ms += uint64(t.MS)
	s.recent = min(s.recent+1, recentCalls)
	s.bits <<= 1
	if t.OK {
		s.ok++
		s.bits |= 1
	}
	v.set(keyTool+t.Key, appendUints(nil, s.calls, s.ok, s.ms, s.recent, s.bits))
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
