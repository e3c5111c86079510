package llm

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// extras puts together the fields in which an endpoint sends what a model thought. A field that was there is
// kept even when it is empty.
type extras struct {
	texts map[string]*strings.Builder
	lists map[string][]object
	other map[string]json.RawMessage
}

func (x *extras) add(name string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var s string
	var list []object
	switch {
	case raw[0] == '"' && jsonl.Unmarshal(raw, &s) == nil:
		x.text(name).WriteString(s)
	case raw[0] == '[' && jsonl.Unmarshal(raw, &list) == nil:
		if x.lists == nil {
			x.lists = map[string][]object{}
		}
		x.lists[name] = join(x.lists[name], list)
	default:
		if x.other == nil {
			x.other = map[string]json.RawMessage{}
		}
		x.other[name] = slices.Clone(raw)
	}
}

func (x *extras) text(name string) *strings.Builder {
	if x.texts == nil {
		x.texts = map[string]*strings.Builder{}
	}
	if x.texts[name] == nil {
		x.texts[name] = &strings.Builder{}
	}
	return x.texts[name]
}

// join adds pieces to a list. A piece of the entry that is last, by index and type, goes on with its texts;
// what else it has replaces.
func join(list, pieces []object) []object {
	for _, p := range pieces {
		n := len(list) - 1
		if n < 0 || p["index"] == nil || p["index"] != list[n]["index"] || p["type"] != list[n]["type"] {
			list = append(list, maps.Clone(p))
			continue
		}
		for name, v := range p {
			piece, isText := v.(string)
			before, _ := list[n][name].(string)
			if isText && slices.Contains([]string{"text", "summary", "data", "thinking"}, name) {
				list[n][name] = before + piece
			} else if v != nil {
				list[n][name] = v
			}
		}
	}
	return list
}

// fields returns them as they go into a message; nil when there are none.
func (x *extras) fields() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	put := func(name string, v any) {
		if raw, err := jsonl.Marshal(v); err == nil {
			out[name] = raw
		}
	}
	for name, b := range x.texts {
		put(name, b.String())
	}
	for name, list := range x.lists {
		put(name, list)
	}
	maps.Copy(out, x.other)
	if len(out) == 0 {
		return nil
	}
	return out
}
