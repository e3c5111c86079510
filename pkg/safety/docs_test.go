package safety_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// TestRuleTable keeps the table in docs/safety-rules.md equal to the rules.
func TestRuleTable(t *testing.T) {
	const begin, end = "<!-- rules -->\n", "<!-- end of rules -->\n"
	file := filepath.Join("..", "..", "docs", "safety-rules.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	golden(t, file, head+begin+ruleTable()+end+tail)
}

func ruleTable() string {
	var b strings.Builder
	b.WriteString("| rule | flag | severity | about words | this skill … |\n|---|---|---|---|---|\n")
	for _, r := range safety.Rules() {
		words := ""
		if r.Words {
			words = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", r.ID, r.Flag, r.Severity, words, r.Message)
	}
	return b.String()
}
