package llm

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

type object = map[string]any

// shape is what a body is made with: the table's row with what was learned since.
type shape struct {
	quirks
	provider provider
	cache    bool
}

// body returns a request as it is sent. Equal messages give equal bytes, so that the caches of providers hit.
func (c *client) body(r Request, q quirks) ([]byte, error) {
	s := shape{quirks: q, provider: c.provider}
	s.cache = c.provider.cache && strings.Contains(c.o.Model, "anthropic/") && !q.drops("cache_control")
	out := object{"model": c.o.Model}
	maps.Copy(out, c.o.Config)
	out["messages"] = s.messages(r.Messages)
	if len(r.Tools) > 0 {
		out["tools"] = tools(r.Tools)
		if r.ToolChoice != Auto {
			out["tool_choice"] = string(r.ToolChoice)
		}
	}
	switch {
	case r.MaxOutput > 0:
		out[s.maxField] = r.MaxOutput
	case c.most != nil:
		out[s.maxField] = c.most
	case s.needsMax:
		out[s.maxField] = usualMax
	}
	if r.Temperature != nil {
		out["temperature"] = *r.Temperature
	}
	if r.JSON {
		out["response_format"] = object{"type": "json_object"}
	}
	if !q.whole {
		out["stream"] = true
		if c.provider.usage {
			out["stream_options"] = object{"include_usage": true}
		}
	}
	for _, name := range q.dropped {
		delete(out, name)
	}
	return jsonl.Marshal(out)
}

func tools(specs []ToolSpec) []object {
	out := make([]object, len(specs))
	for i, t := range specs {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": parameters}}
	}
	return out
}

// laterSystem comes before a system message that is said as the user's.
const laterSystem = "[note from the program that runs you, not a new request]\n"

// messages returns the messages as they are sent.
func (s shape) messages(in []Message) []object {
	if s.oneSystem {
		in = oneSystem(in)
	}
	out := make([]object, len(in))
	for i, m := range in {
		out[i] = s.message(m)
	}
	if s.cache {
		mark(in, out)
	}
	return out
}

// oneSystem joins the system messages at the beginning and says later ones as the user.
func oneSystem(in []Message) []Message {
	first := 0
	for first < len(in) && in[first].Role == System {
		first++
	}
	var out []Message
	if first > 0 {
		texts := make([]string, first)
		for i := range texts {
			texts[i] = in[i].Content
		}
		out = append(out, Message{Role: System, Content: strings.Join(texts, "\n\n")})
	}
	for _, m := range in[first:] {
		if m.Role == System {
			m.Role, m.Content = User, laterSystem+m.Content
		}
		out = append(out, m)
	}
	return out
}

func (s shape) message(m Message) object {
	out := object{"role": string(m.Role), "content": m.Content}
	switch {
	case m.Role == ToolRole:
		out["tool_call_id"] = m.ToolCallID
	case len(m.Images) > 0:
		out["content"] = s.parts(m)
	case len(m.ToolCalls) > 0:
		if m.Content == "" {
			out["content"] = nil
		}
		out["tool_calls"] = s.calls(m.ToolCalls)
	}
	if m.Role == Assistant {
		s.echo(m, out)
	}
	return out
}

// echo puts back what the model thought, for endpoints that want it.
func (s shape) echo(m Message, out object) {
	for _, name := range s.provider.echo {
		if raw, ok := m.Extra[name]; ok && !s.drops(name) {
			out[name] = raw
		}
	}
	if _, ok := out[s.missing]; !ok && s.missing != "" && len(m.ToolCalls) > 0 {
		out[s.missing] = ""
		if raw, ok := m.Extra[s.missing]; ok {
			out[s.missing] = raw
		}
	}
}

func (s shape) calls(calls []ToolCall) []object {
	out := make([]object, len(calls))
	for i, c := range calls {
		arguments := c.Arguments
		if c.Problem != "" || !isObject(arguments) {
			arguments = "{}" // many endpoints refuse a history with broken JSON; what was wrong stands in the answer to the call
		}
		out[i] = object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": arguments}}
		for name, raw := range c.Extra {
			if slices.Contains(s.provider.echo, name) && !s.drops(name) {
				out[i][name] = raw
			}
		}
	}
	return out
}

// parts returns text and images of a message.
func (s shape) parts(m Message) any {
	if s.provider.noImages || s.drops("image_url") {
		return m.Content + "\n[an image was here, which this model cannot see]"
	}
	parts := []object{{"type": "text", "text": m.Content}}
	for _, i := range m.Images {
		url := "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": url}})
	}
	return parts
}

// mark sets marks up to which the provider keeps the request: after the system messages, at the last two
// messages of the user. The provider knows four marks, and finds what was marked before.
func mark(in []Message, out []object) {
	left := 2
	for i := len(in) - 1; i >= 0 && left > 0; i-- {
		if in[i].Role == User && in[i].Content != "" && len(in[i].Images) == 0 {
			markOne(out[i], in[i].Content)
			left--
		}
	}
	last := -1
	for i := 0; i < len(in) && in[i].Role == System; i++ {
		last = i
	}
	if last >= 0 && in[last].Content != "" {
		markOne(out[last], in[last].Content)
	}
	if n := len(in) - 1; n >= 0 && in[n].Role == ToolRole && in[n].Content != "" {
		markOne(out[n], in[n].Content)
	}
}

func markOne(m object, text string) {
	m["content"] = []object{{"type": "text", "text": text, "cache_control": object{"type": "ephemeral"}}}
}
