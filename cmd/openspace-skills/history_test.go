package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
)

// skills runs the command with a home and returns the records it writes, without the summary.
func skills(t *testing.T, home string, args ...string) []map[string]any {
	t.Helper()
	var out, diagnostics bytes.Buffer
	status := cli.Execute(t.Context(), command(manual), cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diagnostics, Dir: home, Environ: []string{"OPENSPACE_HOME=" + home},
	})
	if status != 0 {
		t.Fatalf("%v: got status %d: %s%s", args, status, &out, &diagnostics)
	}
	var records []map[string]any
	for line := range strings.Lines(out.String()) {
		var rec map[string]any
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if rec["type"] != "summary" {
			records = append(records, rec)
		}
	}
	return records
}

// runs records how n tasks went that a version was offered in; the first good of them were completed.
func runs(t *testing.T, home, id string, n, good, applied int, tokens int64) {
	t.Helper()
	st, err := store.Open(home, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range n {
		_, err := st.RecordAnalysis(t.Context(), store.Analysis{
			TaskID: fmt.Sprintf("%s-%d", id, i), TaskCompleted: i < good, SkillJudgments: []store.Judgment{{SkillID: id, SkillApplied: i < applied}},
			Run: &store.RunFigures{Status: "success", Iterations: 4 + i%2, Tokens: tokens, MS: 1000},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The counts are per version, so that a version that is worse than its parent shows in one line (EV-08).
func TestEV08CountsPerVersion(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "skills", "w", "SKILL.md")
	write := func(description string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\nname: w\ndescription: "+description+"\n---\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	first := skills(t, home, "register", filepath.Dir(file))[0]["skill_id"].(string)
	runs(t, home, first, 10, 8, 10, 1000)
	write("two")
	second := skills(t, home, "register", filepath.Dir(file))[0]["skill_id"].(string)
	runs(t, home, second, 10, 2, 10, 3000)
	write("three")
	third := skills(t, home, "register", filepath.Dir(file))[0]["skill_id"].(string)
	runs(t, home, third, 3, 3, 0, 2000)

	versions := skills(t, home, "history", "w")
	if len(versions) != 3 {
		t.Fatalf("got %d versions, want 3", len(versions))
	}
	for i, want := range []string{
		`{"before":{"applied":10,"completions":2,"effective_rate":0.2,"mean_iterations":4.5,"mean_ms":1000,"mean_tokens":3000,"runs":10,"selections":10},"mean_iterations":4.3,"mean_tokens":2000,"runs":3,"selections":3}`,
		`{"applied":10,"before":{"applied":10,"completions":8,"effective_rate":0.8,"mean_iterations":4.5,"mean_ms":1000,"mean_tokens":1000,"runs":10,"selections":10},"completions":2,"effective_rate":0.2,"mean_iterations":4.5,"mean_tokens":3000,"runs":10,"selections":10}`,
		`{"applied":10,"completions":8,"effective_rate":0.8,"mean_iterations":4.5,"mean_tokens":1000,"runs":10,"selections":10}`,
	} {
		got := map[string]any{}
		for _, key := range []string{"selections", "applied", "completions", "fallbacks", "effective_rate", "runs", "mean_tokens", "mean_iterations", "before"} {
			if v, ok := versions[i][key]; ok {
				got[key] = v
			}
		}
		if text, err := json.Marshal(got); err != nil || string(text) != want {
			t.Errorf("version %d: got\n%s %v, want\n%s", i, text, err, want)
		}
	}
	nodes := skills(t, home, "history", "w", "--graph")[0]["nodes"].([]any)
	if n := nodes[1].(map[string]any); n["score"] != 20.0 || n["effective_rate"] != 0.2 || n["total_selections"] != 10.0 {
		t.Errorf("got node %v", n)
	}
}

// Text from elsewhere cannot leave its place in a graph.
func TestDotIsEscaped(t *testing.T) {
	g := lineage{Nodes: []node{{SkillID: `a"; b`, Name: "x\n\\\"];\x1b", Origin: "imported"}}}
	want := "digraph lineage {\n  node [shape=box];\n  \"a\\\"; b\" [label=\"x \\\\\\\"]; \\na\\\"; b\\nimported, generation 0\"];\n}\n"
	if got := g.dot(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A long line of versions is no deep recursion, and side lines are drawn beside it.
func TestGraphText(t *testing.T) {
	g := lineage{SkillID: "d", Nodes: []node{
		{SkillID: "a", Origin: "imported"}, {SkillID: "b", Origin: "fixed", parents: []string{"a"}},
		{SkillID: "x", Origin: "derived", parents: []string{"a"}, IsActive: true}, {SkillID: "y", Origin: "fixed", parents: []string{"x"}},
		{SkillID: "z", Origin: "derived", parents: []string{"y"}}, {SkillID: "w", Origin: "derived", parents: []string{"z"}},
		{SkillID: "d", Origin: "fixed", parents: []string{"b"}, IsActive: true, TotalSelections: 4, Score: 75},
	}}
	want := "o a imported\n|-* x derived\n| o y fixed\n| `-o z derived\n|   `-o w derived\no b fixed\n* d fixed 75.0% of 4 <-\n"
	if got := g.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
