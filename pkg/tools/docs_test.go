package tools_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

var update = flag.Bool("update", false, "write the table of docs/tools.md anew")

// builtin is the tools of the suite.
func builtin(t *testing.T) *tools.Set {
	t.Helper()
	env := &tools.Env{Workspace: t.TempDir(), Web: tools.Web{Browser: "chromium", Search: &tools.Search{Provider: "model"}}}
	t.Cleanup(env.Close)
	set, err := env.NewSet(tools.RetrieveSkill(nil), tools.FinishTool())
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestDocs(t *testing.T) {
	const page, begin, end = "../../docs/tools.md", "<!-- made by go test ./pkg/tools -run TestDocs -update -->\n", "<!-- end -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table", page)
	}
	want := head + begin + table(t, builtin(t)) + end + tail
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s is not as the tools are: run go test ./pkg/tools -run TestDocs -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// argument is what a schema says of one.
type argument struct {
	Type        any
	Description string
	Enum        []string
	Minimum     *int
	Maximum     *int
}

// table describes the tools, in markdown.
func table(t *testing.T, set *tools.Set) string {
	t.Helper()
	var b strings.Builder
	for _, s := range set.Specs() {
		var schema struct {
			Properties map[string]argument
			Required   []string
		}
		s, _ := set.Lookup(s.Name) // with all that its arguments are checked for
		if err := json.Unmarshal(s.Parameters, &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", s.Name, s.Description)
		if len(s.Aliases) > 0 {
			fmt.Fprintf(&b, "Also called %s. ", "`"+strings.Join(s.Aliases, "`, `")+"`")
		}
		if s.ReadOnly {
			b.WriteString("Changes nothing: such calls of one turn run side by side.")
		}
		b.WriteString("\n\n| argument | type | meaning |\n|---|---|---|\n")
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			a := schema.Properties[name]
			if slices.Contains(s.Quiet, name) {
				a.Description = strings.TrimSuffix("not told to models; "+a.Description, "; ")
			}
			if slices.Contains(schema.Required, name) {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, a.kind(), a.Description)
		}
	}
	return b.String() + "\n"
}

// kind names the type of an argument with its bounds.
func (a argument) kind() string {
	text := fmt.Sprint(a.Type)
	if len(a.Enum) > 0 {
		text = strings.Join(a.Enum, " or ")
	}
	if a.Minimum != nil {
		text += fmt.Sprintf(", from %d", *a.Minimum)
	}
	if a.Maximum != nil {
		text += fmt.Sprintf(", up to %d", *a.Maximum)
	}
	return text
}

// Every model provider takes the schemas (MC-13), names and descriptions are there, and all of it is short, since it
// goes with each request. What a model cannot do without is told all the same.
func TestSpecsSuitProviders(t *testing.T) {
	specs := builtin(t).Specs()
	if len(specs) < 7 {
		t.Fatalf("got %d tools, want at least 7", len(specs))
	}
	total, told := 0, map[string][]string{}
	for _, s := range specs {
		var root map[string]any
		if err := json.Unmarshal(s.Parameters, &root); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		properties, ok := root["properties"].(map[string]any)
		if root["type"] != "object" || !ok {
			t.Errorf("%s: the root is not an object with properties", s.Name)
		}
		for _, bad := range []string{"anyOf", "oneOf", "allOf", "$ref", "title"} {
			if _, ok := root[bad]; ok {
				t.Errorf("%s: the root has %s", s.Name, bad)
			}
		}
		if s.Description == "" || s.Backend == "" {
			t.Errorf("%s: got description %q, backend %q", s.Name, s.Description, s.Backend)
		}
		told[s.Name] = slices.Sorted(maps.Keys(properties))
		total += len(`{"type":"function","function":{"name":"","description":"","parameters":}},`) + len(s.Name) + len(s.Description) + len(s.Parameters)
	}
	want := map[string][]string{
		"edit_file": {"new_text", "old_text", "path", "replace_all"}, "fetch_url": {"start", "url"}, "read_file": {"lines", "path", "start"}, "retrieve_skill": {"query"},
		"browser": {"action", "enter", "path", "ref", "start", "text", "url"}, "web_search": {"count", "query"}, // where there is a browser, and a provider
		"run_shell": {"background", "command", "timeout"}, "search_files": {"glob", "path", "pattern"}, "write_file": {"content", "path"},
	}
	if !maps.EqualFunc(told, want, slices.Equal) {
		t.Errorf("got %v, want %v", told, want)
	}
	if tokens := total / 4; tokens > 850 {
		t.Errorf("the tools take about %d tokens of each request, want at most 850", tokens)
	} else {
		t.Logf("about %d tokens", tokens)
	}
}
