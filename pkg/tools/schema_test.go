package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// searchSchema has one of everything that is checked.
const searchSchema = `{"type":"object","properties":{
	"query":{"type":"string","minLength":1,"pattern":"^[^!]"},
	"limit":{"type":"integer","minimum":1,"maximum":9},
	"ratio":{"type":"number"},
	"exact":{"type":"boolean"},
	"source":{"type":"string","enum":["local","cloud"]},
	"dirs":{"type":"array","items":{"type":"string"},"maxItems":3},
	"edits":{"type":"array","items":{"$ref":"#/$defs/edit"}},
	"either":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"nullable":{"type":["string","null"]},
	"meta":{"type":"object","additionalProperties":{"type":"integer"}}
},"required":["query"],"additionalProperties":false,
"$defs":{"edit":{"type":"object","properties":{"old":{"type":"string"},"all":{"type":"boolean"}},"required":["old"]}}}`

func TestSchema(t *testing.T) {
	set := newSet(t, withSchema("search", searchSchema))
	for _, tt := range []struct{ name, args, want string }{
		{"fits", `{"query":"a","limit":5,"dirs":["x"],"edits":[{"old":"y"}],"nullable":null}`, `{"dirs":["x"],"edits":[{"old":"y"}],"limit":5,"nullable":null,"query":"a"}`},
		{"a whole number in another form", `{"query":"a","limit":5.0}`, `{"limit":5,"query":"a"}`},
		{"MC-10: null for what may be left out", `{"query":"a","limit":null,"source":null}`, `{"query":"a"}`},
		{"MC-10: null for what may not", `{"query":null}`, `"query" is missing (string)`},
		{"MC-11: empty text for what is no text", `{"query":"a","limit":"","dirs":"","source":""}`, `{"query":"a"}`},
		{"MC-12: a number as text", `{"query":"a","limit":"5"}`, `{"limit":5,"query":"a"}`},
		{"MC-12: a truth value as text", `{"query":"a","exact":"true"}`, `{"exact":true,"query":"a"}`},
		{"MC-12: a list as text", `{"query":"a","dirs":"[\"a\",\"b\"]"}`, `{"dirs":["a","b"],"query":"a"}`},
		{"MC-12: a word for a number", `{"query":"a","limit":"five"}`, `limit: expected integer, got string "five"`},
		{"one text for a list", `{"query":"a","dirs":"src"}`, `{"dirs":["src"],"query":"a"}`},
		{"a number for a text", `{"query":7}`, `{"query":"7"}`},
		{"an object as text in a list", `{"query":"a","edits":["{\"old\":\"y\",\"all\":\"no\"}"]}`, `{"edits":[{"all":false,"old":"y"}],"query":"a"}`},
		{"one of several", `{"query":"a","either":"5"}`, `{"either":5,"query":"a"}`},
		{"none of several", `{"query":"a","either":"x"}`, `either: expected integer or null, got string "x"`},
		{"missing", `{}`, `"query" is missing (string)`},
		{"MC-19: another case", `{"Query":"a"}`, `"query" is missing (string); there is no "Query": did you mean query?`},
		{"unknown", `{"query":"a","zzz":1}`, `there is no "zzz": it takes dirs, edits, either, exact, limit, meta, nullable, query, ratio, source`},
		{"too small", `{"query":"a","limit":0}`, `limit: expected at least 1, got 0`},
		{"too large", `{"query":"a","limit":10}`, `limit: expected at most 9, got 10`},
		{"not whole", `{"query":"a","limit":1.5}`, `limit: expected integer, got number 1.5`},
		{"not in the list", `{"query":"a","source":"moon"}`, `source: expected one of "local", "cloud", got string "moon"`},
		{"too short", `{"query":""}`, `query: expected 1 character or more, got 0; query: expected text that matches ^[^!], got string ""`},
		{"pattern", `{"query":"!"}`, `query: expected text that matches ^[^!], got string "!"`},
		{"too many", `{"query":"a","dirs":["1","2","3","4"]}`, `dirs: expected at most 3 items, got 4`},
		{"deep inside", `{"query":"a","edits":[{"old":"x"},{"all":true}]}`, `edits[1]: "old" is missing (string)`},
		{"deep inside, a type", `{"query":"a","edits":[{"old":["x"]}]}`, `edits[0].old: expected string, got array ["x"]`},
		{"not a list", `{"query":"a","dirs":{"a":1}}`, `dirs: expected array of strings, got object {"a":1}`},
		{"the value of a map", `{"query":"a","meta":{"x":"y"}}`, `meta.x: expected integer, got string "y"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := set.Run(context.Background(), tools.Call{Name: "search", Args: json.RawMessage(tt.args)})
			if got := strings.TrimPrefix(r.Content, "Error: search was not run: "); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.args, got, tt.want)
			}
		})
	}
}

// A server's schema that is odd must not take its tool away, nor the time of the program.
func TestOddSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"of an old draft":         `{"type":"object","properties":{"n":{"type":"integer","required":true}}}`,
		"a list of items":         `{"type":"object","properties":{"n":{"items":[{"type":"string"}]}}}`,
		"a pattern of others":     `{"type":"object","properties":{"n":{"pattern":"(?=x)"}}}`,
		"a reference to nothing":  `{"type":"object","properties":{"n":{"$ref":"#/$defs/gone"}}}`,
		"a reference to a file":   `{"type":"object","properties":{"n":{"$ref":"file:///etc/passwd"}}}`,
		"a reference to itself":   `{"type":"object","properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`,
		"itself twice":            `{"type":"object","properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}`,
		"itself as a choice":      `{"type":"object","properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"integer"}]}}}`,
		"the schema true":         `{"type":"object","properties":{"n":true}}`,
		"a number of odd bounds":  `{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":true,"minimum":0}}}`,
		"nothing about arguments": `{"type":"object"}`,
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet(t, withSchema("a", schema))
			if r := set.Run(context.Background(), tools.Call{Name: "a", Args: json.RawMessage(`{"n":1}`)}); r.Content != `{"n":1}` {
				t.Errorf("got %q, want the arguments", r.Content)
			}
		})
	}
}

// FuzzSchema: whatever the schema and the arguments are, there is an answer; arguments that a tool gets are an object
// that passes again unchanged.
func FuzzSchema(f *testing.F) {
	f.Add(searchSchema, `{"query":"a","limit":"5","dirs":"x","exact":"yes","either":"1e3"}`)
	f.Add(`{"type":"object","properties":{"n":{"type":["integer","array"],"items":{"type":"number"}}}}`, `{"n":"[1, \"2\"]"}`)
	f.Add(`{"type":"object","additionalProperties":{"oneOf":[{"const":1},{"type":"boolean"}]}}`, `{"a":"true","b":"1","c":null}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		set, err := tools.NewSet(withSchema("a", schema))
		if err != nil {
			t.Skip()
		}
		first := set.Run(context.Background(), tools.Call{Name: "a", Args: json.RawMessage(args)})
		if first.Failed() {
			return
		}
		if !json.Valid([]byte(first.Content)) || !bytes.HasPrefix([]byte(first.Content), []byte("{")) {
			t.Skip() // masked
		}
		again := set.Run(context.Background(), tools.Call{Name: "a", Args: json.RawMessage(first.Content)})
		if again.Content != first.Content {
			t.Errorf("schema %s, arguments %s: mended to %s, and that to %s", schema, args, first.Content, again.Content)
		}
	})
}
