package skill_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsCodes compares the codes in the source with the table in the docs.
func TestDocsCodes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "skill-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(page), "## Which files belong")
	_, table, _ = strings.Cut(table, "## Diagnostics")
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)`").FindAllStringSubmatch(table, -1) {
		documented[m[1]] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("got %d source files, %v", len(files), err)
	}
	var source strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	used := regexp.MustCompile(`(?:Code: |Code = |warn\(|problem\(|cutProblem\(|add\([^"\n]*, )"([a-z0-9-]+)"`).FindAllStringSubmatch(source.String(), -1)
	if len(used) < 60 {
		t.Errorf("got %d codes in the source, want at least 60", len(used))
	}
	for _, m := range used {
		if !documented[m[1]] {
			t.Errorf("code %q is not in docs/skill-format.md", m[1])
		}
	}
	for code := range documented {
		if !strings.Contains(source.String(), `"`+code+`"`) {
			t.Errorf("code %q stands in docs/skill-format.md and not in the source", code)
		}
	}
}
