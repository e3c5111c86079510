package mcpclient_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/mcpclient"
)

// What models are shown of schemas, each with what some provider refuses (B17, MC-13).
func TestToldSchema(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", `{"type":"object"}`, `{"properties":{},"type":"object"}`},
		{"reference", `{"type":"object","properties":{"c":{"$ref":"#/$defs/color"}},"$defs":{"color":{"type":"string","enum":["red","blue"],"description":"which"}}}`,
			`{"properties":{"c":{"description":"which","enum":["red","blue"],"type":"string"}},"type":"object"}`},
		{"reference with words of its own", `{"type":"object","properties":{"c":{"$ref":"#/definitions/a~1b","description":"mine"}},"definitions":{"a/b":{"type":"integer","description":"x"}}}`,
			`{"properties":{"c":{"description":"mine","type":"integer"}},"type":"object"}`},
		{"reference to itself", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`,
			`{"properties":{"kids":{"items":{"properties":{"kids":{"items":{},"type":"array"}},"type":"object"},"type":"array"}},"type":"object"}`},
		{"reference to nowhere", `{"type":"object","properties":{"a":{"$ref":"http://x/y"}}}`, `{"properties":{"a":{}},"type":"object"}`},
		{"may be null", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"},"b":{"type":["integer","null"]}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"type":"object"}`},
		{"several types", `{"type":"object","properties":{"a":{"type":["string","array"]}}}`,
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"items":{},"type":"array"}]}},"type":"object"}`},
		{"constants", `{"type":"object","properties":{"a":{"oneOf":[{"const":"x"},{"const":"y"}]}}}`, `{"properties":{"a":{"enum":["x","y"],"type":"string"}},"type":"object"}`},
		{"all of", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"boolean"}}}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"required":["a"],"type":"object"}`},
		{"a choice at the root", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},"k":{}},"required":["a","k"]},{"properties":{"b":{"type":"string"}},"required":["b","k"]}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"string"},"k":{}},"type":"object"}`},
		{"no type", `{"type":"object","properties":{"a":{"enum":[1,2]},"b":{"properties":{"x":{"type":"string"}}},"c":{"items":{"type":"number"}},"d":true}}`,
			`{"properties":{"a":{"enum":[1,2],"type":"number"},"b":{"properties":{"x":{"type":"string"}},"type":"object"},"c":{"items":{"type":"number"},"type":"array"},"d":{}},"type":"object"}`},
		{"a tuple", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]},"b":{"type":"array"}}}`,
			`{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"type":"number"}]},"type":"array"},"b":{"items":{},"type":"array"}},"type":"object"}`},
		{"a map", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}},"b":{"type":"object","additionalProperties":false}},"additionalProperties":false}`,
			`{"properties":{"a":{"additionalProperties":{"type":"string"},"type":"object"},"b":{"type":"object"}},"type":"object"}`},
		{"formats", `{"type":"object","$schema":"x","properties":{"a":{"type":"string","format":"uri","description":"where"},"b":{"type":"string","format":"date-time"}}}`,
			`{"properties":{"a":{"description":"where (format: uri)","type":"string"},"b":{"format":"date-time","type":"string"}},"type":"object"}`},
		{"no schema", `7`, `{"properties":{},"type":"object"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, renamed := mcpclient.ToldSchema(json.RawMessage(c.in))
			if string(got) != c.want || renamed != nil {
				t.Errorf("got  %s\nwant %s\nrenamed %v", got, c.want, renamed)
			}
		})
	}
}

func TestToldSchemaRenames(t *testing.T) {
	got, renamed := mcpclient.ToldSchema(json.RawMessage(`{"type":"object","properties":{"$top":{"type":"integer"},"ok.a":{},"名":{}},"required":["$top"]}`))
	if !strings.Contains(string(got), `"top":{"type":"integer"}`) || !strings.Contains(string(got), `"required":["top"]`) || renamed["top"] != "$top" || len(renamed) != 2 {
		t.Errorf("got %s, %v", got, renamed)
	}
	for name, original := range renamed {
		if !strings.Contains(string(got), `"`+name+`":`) || strings.Contains(string(got), original) {
			t.Errorf("got %s with %q for %q", got, name, original)
		}
	}
}

func TestToldSchemaIsBounded(t *testing.T) {
	var wide strings.Builder
	for i := range 3000 {
		wide.WriteString(`"p` + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + `":{"type":"string","description":"` + strings.Repeat("word ", 100) + `"},`)
	}
	for name, in := range map[string]string{
		"wide": `{"type":"object","properties":{` + wide.String() + `"z":{}}}`,
		"deep": `{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 2000) + `{}` + strings.Repeat(`}`, 2000) + `}}`,
		"bomb": `{"type":"object","properties":{"a":{"$ref":"#/$defs/0"}},"$defs":{` + bomb() + `}}`,
	} {
		got, _ := mcpclient.ToldSchema(json.RawMessage(in))
		if len(got) > 16<<10 || !json.Valid(got) {
			t.Errorf("%s: got %d bytes", name, len(got))
		}
	}
}

// bomb is definitions of which each has the next one twenty times.
func bomb() string {
	var defs []string
	for i := range 9 {
		var props []string
		for j := range 20 {
			props = append(props, `"p`+string(rune('a'+j))+`":{"$ref":"#/$defs/`+string(rune('1'+i))+`"}`)
		}
		defs = append(defs, `"`+string(rune('0'+i))+`":{"type":"object","properties":{`+strings.Join(props, ",")+`}}`)
	}
	return strings.Join(append(defs, `"9":{"type":"string"}`), ",")
}

func FuzzToldSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"},"$x":{"oneOf":[{"const":1},{"type":"null"}]}},"$defs":{"b":{"allOf":[{"$ref":"#"}]}}}`))
	f.Add([]byte(`{"anyOf":[{"properties":{"a":1}},7],"required":[1,"a"],"type":["object"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := mcpclient.ToldSchema(data)
		var root struct {
			Type       string
			Properties map[string]json.RawMessage
		}
		if err := json.Unmarshal(got, &root); err != nil || root.Type != "object" || root.Properties == nil {
			t.Fatalf("got %s, %v", got, err)
		}
	})
}

// B49: names that every provider takes, each once, whatever servers and tools are called.
func TestToolNames(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range []struct{ server, tool, want string }{
		{"git-hub", "create_issue", "git-hub__create_issue"},
		{"my server", "a.b/c", "my_server__a_b_c"},
		{"my.server", "a.b/c", "my_server__a_b_c_"},
		{"9p", "2fa", "t9p__2fa"},
		{"", "", "t__"},
		{"a__b_", "x", "a_b__x"},
		{"名", "x", "t__x"},
		{"s", strings.Repeat("long", 40), "s__longlonglong"},
	} {
		got := mcpclient.ToolName(c.server, c.tool, taken)
		if !strings.HasPrefix(got, c.want) || len(got) > 64 || len(got) > len(c.want)+7 && len(got) < 64 {
			t.Errorf("%q %q: got %q, want %q", c.server, c.tool, got, c.want)
		}
	}
	if len(taken) != 8 {
		t.Errorf("got %v", taken)
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},7,{"type":"resource","resource":{"uri":"x","blob":"AA=="}}],"isError":true}`))
	f.Add([]byte(`{"content":"x","structuredContent":{"a":1},"toolResult":null}`))
	f.Fuzz(func(t *testing.T, data []byte) { mcpclient.ParseAnswer(data) })
}

func TestWild(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"", "", true}, {"", "a", false}, {"get_*", "get_file", true}, {"get_*", "set_file", false}, {"*_f?le", "get_file", true}, {"a*b*c", "a1b2b3c", true},
		{"a*b*c", "a1b2b3", false}, {"?", "", false}, {strings.Repeat("*a", 50) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := mcpclient.Wild(c.pattern, c.name); got != c.want {
			t.Errorf("%.20q %.20q: got %v", c.pattern, c.name, got)
		}
	}
}
