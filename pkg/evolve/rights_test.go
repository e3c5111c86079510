package evolve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/review"
)

// headed is a skill with more lines in its header.
func headed(name, lines, body string) string {
	return strings.Replace(skillText(name, body), "\n---\n\n", "\n"+lines+"---\n\n", 1)
}

// A change does not get rights on the machine of whoever loads the skill: permissions, hooks, commands that run on loading.
func TestNoNewRights(t *testing.T) {
	had := "disable-model-invocation: true\nmetadata:\n  team: docs\n  openclaw: '{\"requires\":{}}'\n"
	bang := "!`date`\n"
	for name, tt := range map[string]struct {
		header, body string
		asked        bool   // by a person
		told         string // "": it passes
	}{
		"the same":                {header: had, body: bang + "Better.\n"},
		"words":                   {header: had + "version: 2\ntags: [a]\n", body: bang + "Better.\n"},
		"plain metadata":          {header: strings.Replace(had, "docs", "texts", 1), body: bang + "Better.\n"},
		"a permission":            {header: had + "allowed-tools: Bash(*)\n", told: `allowed-tools must not get "Bash(*)"`},
		"a permission, asked":     {header: had + "allowed-tools: Read\n", asked: true, told: `allowed-tools must not get "Read"`},
		"a hook":                  {header: had + "hooks:\n  Stop: x\n", told: "hooks in the header"},
		"a hook, asked":           {header: had + "Hooks:\n  Stop: x\n", asked: true, told: "Hooks in the header"},
		"an unknown key":          {header: had + "on-load: x\n", told: "on-load in the header"},
		"an unknown key, asked":   {header: had + "on-load: x\n", body: "Better.\n", asked: true},
		"a limit gone":            {header: strings.Replace(had, "disable-model-invocation: true\n", "", 1), told: "disable-model-invocation in the header must stay"},
		"an installer":            {header: strings.Replace(had, "{}", `{\"bins\":[\"x\"]}`, 1), told: "metadata.openclaw in the header"},
		"a command on loading":    {header: had, body: bang + "Now !`id` runs.\n", told: "must not get !`id`"},
		"a block run on loading":  {header: had, body: bang + "```!\nid\n```\n", told: "must not get ```!"},
		"an exclamation and code": {header: had, body: bang + "Do not call it!`x` is no command.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			st := openStore(t)
			one := addSkill(t, st, fastDir(t), "one", map[string]string{"SKILL.md": headed("one", had, bang+"Step one.\n")})
			answer := "CHANGE_SUMMARY: s\n\n" + headed("one", tt.header, tt.body)
			m := answers(answer, answer, answer)
			req := fixOf(one.Dir())
			if !tt.asked {
				req.Trigger = evolve.ByAnalysis
			}
			_, err := engine(t, evolve.Options{Store: st, Model: m}).Evolve(t.Context(), req)
			if refused := errors.Is(err, evolve.ErrRefused); refused != (tt.told != "") || err != nil && !strings.Contains(m.last(), tt.told) {
				t.Errorf("got %v, want %q", err, tt.told)
			}
		})
	}
}

// New skills have no rights but those that their parents have.
func TestNoNewRightsOfNewSkills(t *testing.T) {
	st := openStore(t)
	root := fastDir(t)
	a := addSkill(t, st, root, "aa", map[string]string{"SKILL.md": headed("aa", "allowed-tools: Read\n", "Step one.\n")})
	b := addSkill(t, st, root, "bb", map[string]string{"SKILL.md": headed("bb", "allowed-tools: Grep\n", "Step two.\n")})
	merge := evolve.Request{Kind: review.Derived, Trigger: evolve.ByAnalysis, Targets: []string{a.SkillID, b.SkillID}, Direction: "join them"}
	for name, tt := range map[string]struct {
		req    evolve.Request
		header string
		told   string
	}{
		"captured":                   {captureOf(root, aRun()), "allowed-tools: Bash(*)\n", "allowed-tools must not get"},
		"captured with a hook":       {captureOf(root, aRun()), "hooks:\n  Stop: x\n", "hooks in the header"},
		"merged, those of both":      {merge, "allowed-tools: Read Grep\n", ""},
		"merged, more":               {merge, "allowed-tools: Read Write\n", `must not get "Write"`},
		"merged, without the limits": {merge, "", "allowed-tools must stay"},
	} {
		answer := whole(headed("both", tt.header, steps))
		m := answers(answer, answer, answer)
		_, err := engine(t, evolve.Options{Store: st, Model: m}).Evolve(t.Context(), tt.req)
		if refused := errors.Is(err, evolve.ErrRefused); refused != (tt.told != "") || err != nil && !strings.Contains(m.last(), tt.told) {
			t.Errorf("%s: got %v, want %q", name, err, tt.told)
		}
	}
}

// EV-02: an essay about the skill is not the skill, also when it has a heading.
func TestEV02Essay(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	text := readFile(t, one.Path)
	m := answers("# Review of one\n\nIt is fine.\n", "I see nothing wrong.", "# Review\n\nFine.\n")
	_, err := engine(t, evolve.Options{Store: st, Model: m}).Evolve(t.Context(), fixOf(one.Dir()))
	if !errors.Is(err, evolve.ErrRefused) || !strings.Contains(err.Error(), "would lose its frontmatter") || readFile(t, one.Path) != text {
		t.Errorf("got %v", err)
	}
}

// A path where something lies that is not of the skill is refused while the model can still take another one.
func TestPA07TakenPath(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", map[string]string{"ref/a.md": "a\n"})
	for name, target := range map[string]string{"out": fastDir(t), "in": "ref"} {
		if err := os.Symlink(target, filepath.Join(one.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Register(t.Context(), one.Dir(), true); err != nil {
		t.Fatal(err)
	}
	add := func(path string) string {
		return "CHANGE_SUMMARY: s\n\n*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch\n"
	}
	m := answers(add("out/x.md"), add("ref/x.md"))
	res, err := engine(t, evolve.Options{Store: st, Model: m}).Evolve(t.Context(), fixOf(one.Dir()))
	if err != nil || res.Answers != 2 || !strings.Contains(m.last(), "the folder has out, which is not part of the skill") {
		t.Errorf("got %+v, %v, told %q", res, err, m.last())
	}
}

// Lines that look alike when their secrets are hidden are not mixed up.
func TestHiddenTwins(t *testing.T) {
	st := openStore(t)
	text := skillText("one", "login example1\nlogin example1 twice\nlogin example2\nStep one.\nStep two.\n")
	one := addSkill(t, st, fastDir(t), "one", map[string]string{"SKILL.md": text})
	mask := strings.NewReplacer("example1", "[secret]", "example2", "[secret]").Replace
	m := answers("CHANGE_SUMMARY: s\n\n"+mask(strings.Replace(text, "Step two.", "Step 2.", 1)), stepTwo)
	res, err := engine(t, evolve.Options{Store: st, Model: m, Mask: mask}).Evolve(t.Context(), fixOf(one.Dir()))
	if err != nil || res.Answers != 2 || !strings.Contains(m.last(), "differ in what is hidden") {
		t.Errorf("got %+v, %v", res, err)
	}
	if got, want := readFile(t, one.Path), strings.Replace(text, "Step two.", "Step two, with care.", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Secrets do not come into the journal, whatever a model or a person says.
func TestSecretsStayOut(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", nil)
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	m := answers(`{"task_completed": true, "execution_note": "hunter2", "tool_issues": ["shell:run_shell — hunter2"], "skill_judgments": [{"skill_id": "`+one.SkillID+
		`", "skill_applied": true, "note": "hunter2"}], "evolution_suggestions": [{"type": "captured", "target_skills": [], "direction": "keep hunter2"}]}`,
		strings.Replace(stepTwo, "CHANGE_SUMMARY: name the second step", "", 1))
	e := engine(t, evolve.Options{Store: st, Model: m, Mask: mask})
	if _, _, err := e.Analyze(t.Context(), aRun(one)); err != nil {
		t.Fatal(err)
	}
	req := fixOf(one.Dir())
	req.Direction = "the password is hunter2"
	res, err := e.Evolve(t.Context(), req)
	if err != nil || res.Summary != "the password is [secret]" {
		t.Errorf("got %+v, %v", res, err)
	}
	files := 0
	for _, dir := range []string{st.Home(), one.Dir()} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if files++; strings.Contains(readFile(t, path), "hunter2") {
				t.Errorf("%s has the secret", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 4 {
		t.Errorf("got %d files, want those of the store and of the skill", files)
	}
}
