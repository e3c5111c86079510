package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// delta is a piece of a tool call, or a whole one.
type delta struct {
	Index    json.RawMessage `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"` // Gemini's signature of what it thought
}

// deltas reads a list of pieces; one that stands alone is a list of one.
func deltas(raw json.RawMessage) (list []delta) {
	if len(raw) == 0 || string(raw) == "null" || jsonl.Unmarshal(raw, &list) == nil {
		return list
	}
	var one delta
	if jsonl.Unmarshal(raw, &one) == nil {
		return []delta{one}
	}
	return nil
}

// number reads an integer that may be written as text.
func number(raw json.RawMessage) (int, bool) {
	n, err := strconv.Atoi(text(raw))
	return n, err == nil
}

// building is a tool call of which pieces come.
type building struct {
	id, name  string
	arguments strings.Builder
	extra     map[string]json.RawMessage
}

// whole tells whether the arguments are complete.
func (b *building) whole() bool { return isObject(b.arguments.String()) }

// calls puts tool calls together from pieces. The places of pieces are told by an index, an id, a name, or
// nothing at all.
type calls struct {
	all   []*building
	index map[int]*building // the last one of each index
}

func (c *calls) add(d delta) {
	id, name := text(d.ID), strings.TrimSpace(text(d.Function.Name))
	b := c.place(d, id, name)
	if b == nil {
		b = &building{}
		c.all = append(c.all, b)
	}
	if n, ok := number(d.Index); ok {
		if c.index == nil {
			c.index = map[int]*building{}
		}
		c.index[n] = b
	}
	if b.id == "" {
		b.id = id
	}
	if b.name == "" {
		b.name = name
	}
	b.arguments.WriteString(text(d.Function.Arguments))
	if len(d.ExtraContent) > 0 && string(d.ExtraContent) != "null" {
		b.extra = map[string]json.RawMessage{"extra_content": append(json.RawMessage(nil), d.ExtraContent...)}
	}
}

// place returns the call that a piece belongs to; nil when it begins one.
func (c *calls) place(d delta, id, name string) *building {
	var b *building
	n, indexed := number(d.Index)
	switch {
	case indexed:
		b = c.index[n]
	case id != "":
		for _, known := range c.all {
			if known.id == id {
				b = known
			}
		}
	case len(c.all) > 0:
		b = c.all[len(c.all)-1]
	}
	if b == nil || begins(b, id, name, text(d.Function.Arguments)) {
		return nil
	}
	return b
}

// begins tells whether a piece that has the place of a call is the begin of another: some servers give every
// call the same index or id.
func begins(b *building, id, name, arguments string) bool {
	switch {
	case name == "":
		return false
	case b.name != "" && name != b.name:
		return true
	case id != "" && b.id != "" && id != b.id:
		return true
	}
	// The same name once more: a server that repeats it in every piece, unless what is there is complete.
	return b.whole() && strings.TrimSpace(arguments) != ""
}

// finish returns the calls. cut says that the output ended at its limit.
func (c *calls) finish(turn int, cut bool) []ToolCall {
	var out []ToolCall
	used := map[string]bool{}
	for i, b := range c.all {
		t := ToolCall{ID: b.id, Name: b.name, Extra: b.extra}
		t.Arguments, t.Problem = arguments(b.arguments.String())
		switch {
		case t.Problem != "" && cut && i == len(c.all)-1:
			t.Problem = "your output reached its limit in the middle of the arguments, nothing was run: " + t.Problem
		case b.name == "":
			t.Problem = "the call names no tool"
		}
		// Made ids are the same in every run of the same conversation, and no two of a conversation are the same.
		for n := i + 1; t.ID == "" || used[t.ID]; n++ {
			t.ID = fmt.Sprintf("call_%d_%d", turn, n)
		}
		used[t.ID] = true
		out = append(out, t)
	}
	return out
}

// isObject tells whether a text is one JSON object.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}

// arguments returns the arguments of a call as one JSON object, or as they came with what is wrong with them.
func arguments(s string) (args, problem string) {
	s = strings.TrimSpace(s)
	switch {
	case s == "" || s == "null":
		return "{}", ""
	case isObject(s):
		return s, ""
	}
	var inner string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &inner) == nil { // encoded twice
		if inner = strings.TrimSpace(inner); inner == "" {
			return "{}", ""
		}
		if isObject(inner) {
			return inner, ""
		}
	}
	if rest, ok := strings.CutPrefix(s, "{}"); ok && isObject(rest) { // an empty beginning that some servers send
		return strings.TrimSpace(rest), ""
	}
	return s, badArguments(s)
}

// badArguments says what is wrong and where.
func badArguments(s string) string {
	var v any
	err := json.Unmarshal([]byte(s), &v)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return fmt.Sprintf("the arguments must be one JSON object, got %s", near(s, 0))
	case strings.Contains(err.Error(), "unexpected end"):
		return fmt.Sprintf("the arguments are no valid JSON: they end too early, after %s", near(s, len(s)))
	case errors.As(err, &syntax):
		return fmt.Sprintf("the arguments are no valid JSON: %s, at byte %d, near %s", syntax, syntax.Offset, near(s, int(syntax.Offset)))
	}
	return "the arguments are no valid JSON: " + err.Error()
}

// near quotes the surroundings of a byte.
func near(s string, at int) string {
	from, to := max(0, at-30), min(len(s), at+30)
	return strconv.Quote(strings.ToValidUTF8(s[from:to], ""))
}
