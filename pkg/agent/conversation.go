package agent

import (
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm"
)

// conversation is everything that is sent. It is kept in parts that are only ever shortened or left out as a
// whole, so that no request can have a result without its call or a call without its result (LT-11).
type conversation struct {
	system  []llm.Message
	history []llm.Message // before the task
	digest  digest        // of what was left out of history and turns
	task    llm.Message
	turns   []*turn

	fixed int64 // size of system and task
	fresh []llm.Message
}

// turn is a reply of the model and what answers it: results of its calls, pictures, notes.
type turn struct {
	messages []llm.Message
	calls    []Execution // in the order of the results
	size     int64
	cut      int // the length that its texts were shortened to; 0: they are whole
}

func newConversation(o Options) *conversation {
	c := &conversation{task: llm.Message{Role: llm.User, Content: o.Task}}
	if text := strings.Join(nonBlank(o.System), "\n\n"); text != "" {
		c.system = []llm.Message{{Role: llm.System, Content: text}}
	}
	for _, m := range o.History {
		if (m.Role == llm.User || m.Role == llm.Assistant) && !blank(m.Content) {
			c.history = append(c.history, llm.Message{Role: m.Role, Content: strings.TrimSpace(m.Content)})
		}
	}
	c.fixed = sizeOf(c.task)
	for _, m := range c.system {
		c.fixed += sizeOf(m)
	}
	c.fresh = c.messages()
	return c
}

func nonBlank(in []string) (out []string) {
	for _, s := range in {
		if !blank(s) {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// begin begins a turn with a reply of the model.
func (c *conversation) begin(m llm.Message) *turn {
	t := &turn{}
	c.turns = append(c.turns, t)
	c.add(t, m)
	return t
}

func (c *conversation) add(t *turn, m llm.Message) {
	t.messages = append(t.messages, m)
	t.size += sizeOf(m)
	c.fresh = append(c.fresh, m)
}

// note says something to the model at the end of the conversation, where it stays.
func (c *conversation) note(text string) {
	if len(c.turns) == 0 {
		c.turns = append(c.turns, &turn{})
	}
	c.add(c.turns[len(c.turns)-1], llm.Message{Role: llm.User, Content: text})
}

// messages returns what is sent.
func (c *conversation) messages() []llm.Message {
	out := append([]llm.Message{}, c.system...)
	if c.digest.said != "" {
		out = append(out, llm.Message{Role: llm.User, Content: c.digest.said})
	}
	out = append(append(out, c.history...), c.task)
	if c.digest.did != "" {
		out = append(out, llm.Message{Role: llm.User, Content: c.digest.did})
	}
	for _, t := range c.turns {
		out = append(out, t.messages...)
	}
	return out
}

// news returns the messages that came since it was called last.
func (c *conversation) news() []llm.Message {
	out := c.fresh
	c.fresh = nil
	return out
}

// size returns about how many tokens the messages have, before calibration.
func (c *conversation) size() int64 {
	sum := c.fixed + c.digest.size()
	for _, m := range c.history {
		sum += sizeOf(m)
	}
	for _, t := range c.turns {
		sum += t.size
	}
	return sum
}

// A message costs some tokens of its own, a picture about as much as a page of text.
const (
	messageTokens = 4
	imageTokens   = 1000
)

// sizeOf returns about how many tokens a message has: most tokenizers make one of four bytes of English or
// code, and one of about three bytes of other scripts. The gauge corrects what is wrong with it for a model.
func sizeOf(m llm.Message) int64 {
	n := messageTokens + textSize(m.Content) + int64(len(m.Images))*imageTokens
	for _, c := range m.ToolCalls {
		n += messageTokens + textSize(c.Name) + textSize(c.Arguments)
	}
	for _, raw := range m.Extra {
		n += int64(len(raw)) / 4
	}
	return n
}

func textSize(s string) int64 {
	var other int64
	for i := range len(s) {
		if s[i] >= 0x80 {
			other++
		}
	}
	return (int64(len(s))-other)/4 + other/3
}
