package tools_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestLookup(t *testing.T) {
	set, err := tools.NewSet(tools.FinishTool())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"finish", "Finish", "functions.finish"} {
		if spec, ok := set.Lookup(name); !ok || spec.Name != "finish" {
			t.Errorf("%s: got %q, %t, want finish", name, spec.Name, ok)
		}
	}
	if spec, ok := set.Lookup("nothing"); ok || spec.Name != "" {
		t.Errorf("got %q, want nothing", spec.Name)
	}
}
