package llmtest

import (
	"fmt"
	"slices"
	"strings"
)

// check returns what of the expectation does not hold.
func (e Expect) check(r Request) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if e.Model != "" && r.Model != e.Model {
		bad("model: got %q, want %q", r.Model, e.Model)
	}
	if e.Messages != 0 && len(r.Messages) != e.Messages {
		bad("messages: got %d, want %d", len(r.Messages), e.Messages)
	}
	if e.Turn != nil && r.Turn() != *e.Turn {
		bad("turn: got %d, want %d", r.Turn(), *e.Turn)
	}
	if e.Stream != nil && r.Stream != *e.Stream {
		bad("stream: got %t, want %t", r.Stream, *e.Stream)
	}
	e.checkText(r, bad)
	e.checkFields(r, bad)
	return append(wrong, e.checkHeaders(r)...)
}

func (e Expect) checkText(r Request, bad func(string, ...any)) {
	last, all := r.Last(), r.text()
	if e.LastRole != "" && (len(r.Messages) == 0 || r.Messages[len(r.Messages)-1].Role != e.LastRole) {
		bad("last message: want one of %s", e.LastRole)
	}
	for _, c := range []struct {
		where, text string
		words       []string
		want        bool
	}{
		{"last message", last, e.LastContains, true}, {"last message", last, e.LastLacks, false},
		{"messages", all, e.Contains, true}, {"messages", all, e.Lacks, false},
	} {
		for _, word := range c.words {
			if strings.Contains(c.text, word) != c.want {
				bad("%s: contains %q: got %t, want %t, in %q", c.where, word, !c.want, c.want, short(c.text))
			}
		}
	}
}

// text is the text of all messages.
func (r Request) text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func (e Expect) checkFields(r Request, bad func(string, ...any)) {
	for _, name := range e.Tools {
		if !slices.Contains(r.Tools, name) {
			bad("tools: no %s among %s", name, strings.Join(r.Tools, ", "))
		}
	}
	for _, name := range e.NoTools {
		if name == "*" && len(r.Tools) > 0 || slices.Contains(r.Tools, name) {
			bad("tools: want no %s, got %s", name, strings.Join(r.Tools, ", "))
		}
	}
	for _, name := range e.Fields {
		if _, ok := r.Fields[name]; !ok {
			bad("field %s is missing", name)
		}
	}
	for _, name := range e.NoFields {
		if v, ok := r.Fields[name]; ok {
			bad("field %s is there: %s", name, short(string(v)))
		}
	}
	for i, m := range r.Messages {
		for _, name := range e.Echo {
			if _, ok := m.Fields[name]; !ok && m.Role == "assistant" && len(m.Calls) > 0 {
				bad("message %d has tool calls and no %s", i+1, name)
			}
		}
	}
}

func (e Expect) checkHeaders(r Request) (wrong []string) {
	for name, want := range e.Headers {
		if got := r.Header.Get(name); got != want {
			wrong = append(wrong, fmt.Sprintf("header %s: got %q, want %q", name, got, want))
		}
	}
	slices.Sort(wrong)
	for _, name := range e.NoHeaders {
		if got := r.Header.Values(name); len(got) > 0 {
			wrong = append(wrong, fmt.Sprintf("header %s is there", name))
		}
	}
	return wrong
}

// short cuts a text for a message.
func short(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "") + " … " + strings.ToValidUTF8(s[len(s)-most/2:], "")
}
