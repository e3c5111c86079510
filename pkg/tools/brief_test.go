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

// schemaOnly is a tool that has nothing but a schema.
type schemaOnly string

func (s schemaOnly) Spec() tools.Spec {
	return tools.Spec{Name: "probe", Description: "probe", Parameters: json.RawMessage(s)}
}

func (schemaOnly) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "done"} }
