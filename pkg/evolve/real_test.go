package evolve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/skill/skilltest"
)

// benchSkills returns the skills of SkillsBench.
func benchSkills(t *testing.T) (texts []string) {
	t.Helper()
	for _, r := range skilltest.Reals(t) {
		if r.Source == "skillsbench" {
			texts = append(texts, r.Text)
		}
	}
	if len(texts) != 198 {
		t.Fatalf("got %d skills of SkillsBench, want 198", len(texts))
	}
	return texts
}

// oneLine returns an edit of a line of the text that is there once, and what it leads to.
func oneLine(text string) (edit, after string) {
	lines := strings.Split(text, "\n")
	for i := len(lines) / 2; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\r")
		if len(strings.TrimSpace(line)) > 12 && strings.Count(text, line) == 1 {
			return "CHANGE_SUMMARY: say more\n\n*** Begin Patch\n*** Update File: SKILL.md\n-" + line + "\n+" + line + " (checked)\n*** End Patch\n<EVOLUTION_COMPLETE>\n",
				strings.Replace(text, line, line+" (checked)", 1)
		}
	}
	return "", ""
}

// All real skills go through a fix of one line, and every other byte stays.
func TestFixOfRealSkills(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	for i, text := range benchSkills(t) {
		edit, want := oneLine(text)
		if edit == "" {
			t.Fatalf("skill %d has no line to edit", i)
		}
		dir := filepath.Join(root, fmt.Sprint("skill-", i))
		writeFile(t, filepath.Join(dir, "SKILL.md"), text)
		res, err := engine(t, evolve.Options{Store: st, Model: answers(edit)}).Evolve(t.Context(), fixOf(dir))
		if err != nil {
			t.Errorf("skill %d: %v", i, err)
			continue
		}
		if got := readFile(t, res.Record.Path); got != want {
			t.Errorf("skill %d: got %d bytes that differ from the %d wanted", i, len(got), len(want))
		}
	}
	checkStore(t, st)
}
