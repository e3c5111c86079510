package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// What only the check of arguments needs is not sent with every request; a property that has the name of a keyword stays.
func TestSpecsAreBrief(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"keywords", `{"type":"object","title":"T","properties":{"n":{"type":"integer","minimum":1,"maximum":9,"description":"how many"}},"additionalProperties":false}`,
			`{"properties":{"n":{"description":"how many","type":"integer"}},"type":"object"}`},
		{"a property of that name", `{"type":"object","properties":{"minimum":{"type":"number","minimum":0},"title":{"type":"string"}}}`,
			`{"properties":{"minimum":{"type":"number"},"title":{"type":"string"}},"type":"object"}`},
		{"inside", `{"type":"object","properties":{"list":{"type":"array","minItems":1,"items":{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]}}}}`,
			`{"properties":{"list":{"items":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":"array"}},"type":"object"}`},
		{"values", `{"type":"object","properties":{"m":{"enum":["minimum","title"],"default":{"title":"x"}}}}`,
			`{"properties":{"m":{"default":{"title":"x"},"enum":["minimum","title"]}},"type":"object"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tools.NewSet(schemaOnly(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Specs()[0].Parameters); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Parameters that a model is not told of are taken all the same.
func TestQuietParameters(t *testing.T) {
	s, err := tools.NewSet(quiet(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.Specs()[0].Parameters), `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r := s.Run(context.Background(), tools.Call{Name: "probe", Args: json.RawMessage(`{"a":"x","b":1}`)}); r.Failed() {
		t.Errorf("got %q, want it to be taken", r.Content)
	}
	if r := s.Run(context.Background(), tools.Call{Name: "probe", Args: json.RawMessage(`{"a":"x","b":"y"}`)}); !r.Failed() {
		t.Error("got no failure, want it to be checked")
	}
}

// quiet is a tool that does not tell of its parameter b.
type quiet string

func (q quiet) Spec() tools.Spec {
	return tools.Spec{Name: "probe", Description: "probe", Parameters: json.RawMessage(q), Quiet: []string{"b"}}
}

func (quiet) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "done"} }

// schemaOnly is a tool that has nothing but a schema.
type schemaOnly string

func (s schemaOnly) Spec() tools.Spec {
	return tools.Spec{Name: "probe", Description: "probe", Parameters: json.RawMessage(s)}
}

func (schemaOnly) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "done"} }
