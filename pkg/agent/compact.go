package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
)

// keepTurns is how many of the last turns become part of no digest.
const keepTurns = 4

// The lengths in bytes that a text of a turn is shortened to.
const (
	shortText    = 1600
	shortestText = 400
)

// slack is how much longer than its cut a text may be before it is worth a note.
const slack = 200

// shrink makes the conversation smaller when it nears the limit, or when force says so, and tells whether it
// did. It goes in steps and stops as soon as the goal is reached: older results are shortened, then the
// oldest turns become a digest, then what the last turns hold is shortened as well.
func (r *run) shrink(force bool) bool {
	before := r.talk.size()
	if !force && !r.gauge.full(before) {
		return false
	}
	turns := len(r.talk.turns)
	for _, step := range []func() bool{
		func() bool { return r.shortenTurns(turns-keepTurns, shortText) },
		r.foldHistory,
		r.foldTurns,
		func() bool { return r.shortenTurns(len(r.talk.turns)-1, shortText) },
		r.shortenLast,
		func() bool { return r.shortenTurns(len(r.talk.turns), shortestText) },
	} {
		if step() {
			break
		}
	}
	after := r.talk.size()
	if after >= before {
		return false
	}
	r.out.Compacted++
	r.grown = &recording.Compaction{
		Before: r.gauge.tokens(before), After: r.gauge.tokens(after), Turns: turns - len(r.talk.turns),
	}
	r.emit(Event{Kind: NoticeEvent, Text: fmt.Sprintf("shortened older messages: about %d tokens became %d", r.grown.Before, r.grown.After)})
	return true
}

// small tells whether the goal is reached.
func (r *run) small() bool { return r.gauge.tokens(r.talk.size()) <= r.gauge.goal() }

// shortenTurns shortens the first n turns.
func (r *run) shortenTurns(n, limit int) bool {
	for _, t := range r.talk.turns[:max(n, 0)] {
		r.shortenTurn(t, limit)
	}
	return r.small()
}

// shortenLast shortens the last turn, whose results the model has not seen, no more than it must: each may
// have its share of the room that is left.
func (r *run) shortenLast() bool {
	size := r.talk.size()
	if len(r.talk.turns) == 0 || !r.gauge.full(size) {
		return true
	}
	t := r.talk.turns[len(r.talk.turns)-1]
	share := 4 * r.gauge.room(size-t.size) / int64(max(len(t.calls), 1))
	r.shortenTurn(t, int(max(share, shortestText)))
	return !r.gauge.full(r.talk.size())
}

// foldHistory moves the older messages of the conversation before the task to the digest.
func (r *run) foldHistory() bool {
	const keep = 2
	for len(r.talk.history) > keep && !r.small() {
		r.talk.digest.addHistory(r.talk.history[0])
		r.talk.history = r.talk.history[1:]
	}
	return r.small()
}

// foldTurns moves the oldest turns to the digest.
func (r *run) foldTurns() bool {
	for len(r.talk.turns) > keepTurns && !r.small() {
		r.talk.digest.addTurn(r.talk.turns[0])
		r.talk.turns = r.talk.turns[1:]
	}
	return r.small()
}

// shortenTurn shortens results and arguments of a turn. What retrieve_skill found stays: a skill is followed
// until the end. Pictures were seen when they came.
func (r *run) shortenTurn(t *turn, limit int) {
	if t.cut > 0 && t.cut <= limit {
		return
	}
	t.cut, t.size = limit, 0
	result := 0
	for i := range t.messages {
		m := &t.messages[i]
		switch m.Role {
		case llm.ToolRole:
			if result < len(t.calls) && len(t.calls[result].Result.SkillIDs) == 0 {
				m.Content = r.shortenResult(&t.calls[result], m.Content, limit)
			}
			result++
		case llm.Assistant:
			m.ToolCalls = shortenCalls(m.ToolCalls, t.calls, limit)
		case llm.User:
			if len(m.Images) > 0 {
				m.Images, m.Content = nil, m.Content+" (no longer shown)"
			}
		}
		t.size += sizeOf(*m)
	}
}

// shortenResult keeps the beginning and the end of a result and names the file with the whole. It begins with
// what the tool returned, not with what an earlier step left of that, so that the numbers in it are true.
func (r *run) shortenResult(e *Execution, sent string, limit int) string {
	content := e.Result.Content
	if len(content) <= limit+slack {
		return sent
	}
	if e.Result.FullPath == "" {
		e.Result.FullPath = r.save(e, content)
	}
	hint := ""
	if e.Result.FullPath != "" {
		hint = "; all of it: " + e.Result.FullPath
	}
	head, tail := recording.Ends(content, limit*2/3, limit/3)
	short := *e
	short.Result.Content = fmt.Sprintf("%s\n[… %d bytes left out%s …]\n%s", head, len(content)-len(head)-len(tail), hint, tail)
	return label(short)
}

// save writes a result to a file and returns its path, or nothing when that is not possible.
func (r *run) save(e *Execution, content string) string {
	if r.o.OutputDir == "" {
		return ""
	}
	f, err := os.CreateTemp(r.o.OutputDir, fmt.Sprintf("result-%03d-*.txt", e.Iteration))
	if err == nil {
		_, err = f.WriteString(content)
		if closing := f.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		r.notice("results that were shortened could not be kept in full: " + err.Error())
		return ""
	}
	return filepath.Clean(f.Name())
}

// shortenCalls shortens long texts in the arguments of calls, which stay JSON objects.
func shortenCalls(in []llm.ToolCall, made []Execution, limit int) []llm.ToolCall {
	out := append([]llm.ToolCall{}, in...)
	for i := range out {
		full := made[i].Args
		if len(full) <= limit+slack {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(full))
		d.UseNumber()
		var args map[string]any
		if d.Decode(&args) != nil {
			out[i].Arguments = "{}" // it was broken and not run; its result says so
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(shortenValue(args, limit)) == nil {
			out[i].Arguments = strings.TrimSpace(b.String())
		}
	}
	return out
}

func shortenValue(v any, limit int) any {
	switch v := v.(type) {
	case string:
		if len(v) <= limit+slack {
			return v
		}
		head, tail := recording.Ends(v, limit*2/3, limit/3)
		return fmt.Sprintf("%s\n[… %d bytes left out of this record …]\n%s", head, len(v)-len(head)-len(tail), tail)
	case []any:
		for i := range v {
			v[i] = shortenValue(v[i], limit)
		}
	case map[string]any:
		for key := range v {
			v[key] = shortenValue(v[key], limit)
		}
	}
	return v
}
