package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
)

// The table in docs/mcp.md is made of the definitions that hosts get.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../docs/mcp.md", "<!-- made by go test ./pkg/mcpserver -run TestDocs -update -->\n", "<!-- end -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	old, tail, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no place for the table", page)
	}
	table := toolTable(t)
	if *update {
		if err := os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != table {
		t.Errorf("%s is not current; go test ./pkg/mcpserver -run TestDocs -update writes it anew", page)
	}
}

func toolTable(t *testing.T) string {
	t.Helper()
	var tools []struct {
		Name, Title string
		InputSchema struct {
			Properties map[string]struct {
				Type, Description string
				Enum              []string
				Default           any
			}
			Required []string
		}
		Annotations map[string]any
	}
	s := serverFor(t, func(o *mcpserver.Options) { o.Tools = []string{"all"} })
	if err := json.Unmarshal(s.Definitions(false), &tools); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| tool | argument | type | left out | meaning |\n|---|---|---|---|---|\n")
	for _, tool := range tools {
		name := "`" + tool.Name + "`: " + strings.ToLower(tool.Title[:1]) + tool.Title[1:]
		for _, arg := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			p := tool.InputSchema.Properties[arg]
			kind, absent := p.Type, "–"
			if len(p.Enum) > 0 {
				kind = "`" + strings.Join(p.Enum, "`, `") + "`"
			}
			switch {
			case slices.Contains(tool.InputSchema.Required, arg):
				absent = "needed"
			case p.Default != nil:
				absent = fmt.Sprintf("`%v`", p.Default)
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", name, arg, kind, absent, p.Description)
			name = ""
		}
	}
	return b.String()
}
