package skill_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// d is a skill named x with a description and more lines.
func d(more string) string { return "---\nname: x\ndescription: d\n" + more + "---\nBody\n" }

// named is a skill in a folder of the same name.
func named(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nBody\n" }

func described(text string) string { return "---\nname: x\ndescription: " + text + "\n---\n" }

// The verdicts of the reference validator about odd inputs.
func TestCheckSkillsRef(t *testing.T) {
	for _, c := range []struct{ name, folder, text, codes string }{
		{"valid", "x", d(""), ""},
		{"all fields", "x", d("license: MIT\ncompatibility: Requires Python 3.11+\nmetadata:\n  a: b\nallowed-tools: Bash(jq:*) Bash(git:*)\n"), ""},
		{"byte-order mark", "x", "\ufeff" + d(""), "frontmatter-missing"},
		{"blank line first", "x", "\n" + d(""), "frontmatter-missing"},
		{"no frontmatter", "x", "# Title\n", "frontmatter-missing"},
		{"CRLF", "x", strings.ReplaceAll(d(""), "\n", "\r\n"), ""},
		{"CR", "x", strings.ReplaceAll(d(""), "\n", "\r"), ""},
		{"empty body", "x", "---\nname: x\ndescription: d\n---", ""},
		{"fence in a value", "x", d("license: a---b\n"), ""},
		{"fence in a comment", "x", d("# a --- b\nversion: 1\n"), ""},
		{"no newline after the fence", "x", "---name: x\ndescription: d\n---\n", ""},
		{"four hyphens close", "x", "---\nname: x\ndescription: d\n----\n", ""},
		{"dots close", "x", "---\nname: x\ndescription: d\n...\nBody\n", "frontmatter-unclosed"},
		{"unclosed", "x", "---\nname: x\ndescription: d\n", "frontmatter-unclosed"},
		{"colons", "x", described("a: b: c"), "yaml-colon"},
		{"comment in a value", "x", described("a #b"), ""},
		{"literal", "x", described("|\n  a"), ""},
		{"folded", "x", described(">-\n  a\n  b"), ""},
		{"flow list", "x", d("metadata: [a, b]\n"), "yaml-strict"},
		{"flow map", "x", d("metadata: {a: b}\n"), "yaml-strict"},
		{"anchor", "x", d("license: &a MIT\n"), "yaml-strict"},
		{"tag", "x", d("license: !!str MIT\n"), "yaml-strict"},
		{"duplicate key", "x", d("name: x\n"), "yaml-strict"},
		{"duplicate key below", "x", d("metadata:\n  a: b\n  a: c\n"), "yaml-strict"},
		{"tab", "x", d("metadata:\n\ta: b\n"), "yaml-invalid"},
		{"tab behind a colon", "x", d("license:\tMIT\n"), "yaml-strict"},
		{"uneven maps", "x", d("metadata:\n  a: b\nlicense:\n    a: b\n"), "yaml-strict"},
		{"not a mapping", "x", "---\n- a\n---\n", "yaml-not-mapping"},
		{"empty block", "x", "---\n---\n", "yaml-not-mapping"},
		{"two documents", "x", "---\nname: x\n...\ndescription: d\n---\n", "yaml-documents"},
		{"allowed-tools as a list", "x", d("allowed-tools:\n  - Read\n"), ""},
		{"name a number", "123", named("123"), ""},
		{"description true", "x", described("true"), ""},
		{"description null", "x", described("null"), ""},
		{"description empty", "x", described(""), "description-empty"},
		{"description quoted empty", "x", described(`""`), "description-empty"},
		{"description blanks", "x", described(`"  "`), "description-empty"},
		{"description a map", "x", described("\n  a: b"), "description-type"},
		{"description missing", "x", "---\nname: x\n---\n", "description-missing"},
		{"name missing", "x", "---\ndescription: d\n---\n", "name-missing"},
		{"description of 1024", "x", described(strings.Repeat("a", 1024)), ""},
		{"description of 1025", "x", described(strings.Repeat("a", 1025)), "description-length"},
		{"description of 1024 CJK", "x", described(strings.Repeat("字", 1024)), ""},
		{"description of 600 emoji", "x", described(strings.Repeat("🙂", 600)), ""},
		{"compatibility empty", "x", d("compatibility:\n"), ""},
		{"compatibility a list", "x", d("compatibility:\n  - a\n"), "compatibility-type"},
		{"compatibility of 501", "x", d("compatibility: " + strings.Repeat("a", 501) + "\n"), "compatibility-length"},
		{"metadata a text", "x", d("metadata: text\n"), ""},
		{"metadata nested", "x", d("metadata:\n  a:\n    b: c\n  d:\n    - e\n"), ""},
		{"license a map", "x", d("license:\n  a: b\n"), ""},
		{"version", "x", d("version: 1\n"), "unknown-key"},
		{"Name", "x", d("Name: x\n"), "unknown-key"},
		{"quoted with blanks", "my-skill", named("' my-skill '"), ""},
		{"full width", "abc", named("ａｂｃ"), ""},
		{"superscript", "a²", named("a²"), ""},
		{"Roman numeral", "ⅷ", named("ⅷ"), ""},
		{"Arabic digit", "a٣", named("a٣"), ""},
		{"sharp s", "straße", named("straße"), ""},
		{"CJK", "技能", named("技能"), ""},
		{"Cyrillic", "мой-навык", named("мой-навык"), ""},
		{"Cyrillic upper case", "НАВЫК", named("НАВЫК"), "name-format"},
		{"accent apart", "cafe\u0301", named("caf\u00e9"), ""},
		{"emoji", "a😀", named("a😀"), "name-format"},
		{"dot", "a.b", named("a.b"), "name-format"},
		{"vowel signs", "कौशल", named("कौशल"), "name-format"},
		{"underscore", "my_skill", named("my_skill"), "name-format"},
		{"upper case", "MySkill", named("MySkill"), "name-format"},
		{"hyphen first", "-my-skill", named("-my-skill"), "name-format"},
		{"two hyphens", "my--skill", named("my--skill"), "name-format"},
		{"70 characters", strings.Repeat("a", 70), named(strings.Repeat("a", 70)), "name-length"},
		{"other folder", "other", named("x"), "name-dir-mismatch"},
		{"reserved word", "claude-helper", named("claude-helper"), ""},
		{"angle brackets", "x", described("use <b>"), ""},
		{"not UTF-8", "x", "---\nname: \xff\n---\n", "not-utf8"},
		{"all errors", "y", "---\nname: X_\ndescription:\ncompatibility:\n  - a\nfoo: b\n---\n", "unknown-key name-format name-dir-mismatch description-empty compatibility-type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, err := skill.Check([]byte(c.text), c.folder, skill.SkillsRef)
			if err != nil {
				t.Fatal(err)
			}
			if got := errorCodes(ds); got != c.codes {
				t.Errorf("got %v, want errors %q", ds, c.codes)
			}
		})
	}
}

func errorCodes(ds []skill.Diagnostic) string { return severityCodes(ds, skill.Error) }

func severityCodes(ds []skill.Diagnostic, s skill.Severity) string {
	var out []string
	for _, d := range ds {
		if d.Severity == s {
			out = append(out, d.Code)
		}
	}
	return strings.Join(out, " ")
}

// Where the profiles differ: errors and, behind a bar, warnings of each.
func TestCheckProfiles(t *testing.T) {
	long := strings.Repeat("a", 1025)
	lines := strings.Repeat("line\n", 501)
	type want map[skill.Profile]string
	for _, c := range []struct {
		name, folder, text string
		want               want
	}{
		{"valid", "x", d("license: MIT\n"), want{"lenient": "|", "spec": "|", "skills-ref": "|", "gh": "|", "anthropic": "|", "clawhub": "|license-replaced"}},
		{"no license", "x", d(""), want{"gh": "|license-missing", "spec": "|", "clawhub": "|"}},
		{"byte-order mark", "x", "\ufeff" + d("license: MIT\n"), want{"lenient": "|bom", "spec": "bom|", "gh": "frontmatter-missing|", "anthropic": "frontmatter-missing|"}},
		{"blank line first", "x", "\n" + d("license: MIT\n"), want{"lenient": "|text-before-frontmatter", "spec": "text-before-frontmatter|", "gh": "|", "anthropic": "frontmatter-missing|"}},
		{"blank behind the fence", "x", "--- \nname: x\ndescription: d\n---\n", want{"spec": "|", "skills-ref": "|", "anthropic": "frontmatter-missing|"}},
		{"no frontmatter", "x", "Prose\n", want{"lenient": "|frontmatter-missing", "spec": "frontmatter-missing|", "clawhub": "|frontmatter-missing"}},
		{"unfenced", "x", "name: x\ndescription: d\n\nProse\n", want{"lenient": "|frontmatter-unfenced", "spec": "frontmatter-missing|"}},
		{"unclosed", "x", "---\nname: x\ndescription: d\n\nProse\n", want{"lenient": "|frontmatter-unclosed", "spec": "frontmatter-unclosed|", "gh": "frontmatter-unclosed|", "anthropic": "frontmatter-unclosed|"}},
		{"extra key", "x", d("license: MIT\nversion: 1\n"), want{"lenient": "|", "spec": "|unknown-key", "gh": "|", "anthropic": "unknown-key|"}},
		{"duplicate key", "x", d("license: MIT\nname: x\n"), want{"lenient": "|duplicate-key", "spec": "duplicate-key|", "gh": "duplicate-key|", "anthropic": "|duplicate-key"}},
		{"flow metadata", "x", d("license: MIT\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"a\"]}}}\n"), want{"lenient": "|", "spec": "metadata-value|", "skills-ref": "yaml-strict|", "gh": "|", "anthropic": "|", "clawhub": "|license-replaced"}},
		{"tools as a list", "x", d("license: MIT\nallowed-tools: [Read]\n"), want{"lenient": "|", "spec": "allowed-tools-type|", "gh": "allowed-tools-type|", "anthropic": "|"}},
		{"long description", "x", "---\nname: x\ndescription: " + long + "\nlicense: MIT\n---\n", want{"lenient": "|description-length", "spec": "description-length|", "gh": "|description-length", "anthropic": "description-length|"}},
		{"long body", "x", d("license: MIT\n") + lines, want{"lenient": "|body-length", "spec": "|body-length", "gh": "|body-length"}},
		{"angle brackets", "x", described("<b>"), want{"spec": "|", "anthropic": "description-angle|"}},
		{"reserved word", "claude-x", named("claude-x"), want{"spec": "|", "anthropic": "name-reserved|"}},
		{"not ASCII", "é", named("é"), want{"spec": "|name-ascii", "skills-ref": "|name-ascii", "gh": "name-ascii|license-missing", "anthropic": "name-ascii|", "clawhub": "slug-format|"}},
		{"full width", "abc", named("ａｂｃ"), want{"spec": "|", "gh": "name-ascii|license-missing", "anthropic": "name-ascii|"}},
		{"other folder", "y", named("x"), want{"lenient": "|name-dir-mismatch", "spec": "name-dir-mismatch|", "gh": "name-dir-mismatch|license-missing", "anthropic": "|", "clawhub": "|"}},
		{"numbers", "123", "---\nname: 123\ndescription: true\ncompatibility: 2024-01-01\n---\n", want{"lenient": "|", "spec": "|name-type description-type", "skills-ref": "|", "gh": "|license-missing", "anthropic": "name-type description-type compatibility-type|"}},
		{"null description", "x", described("null"), want{"skills-ref": "|", "spec": "description-empty|", "gh": "description-empty|license-missing", "clawhub": "|description-empty"}},
		{"compatibility empty", "x", d("compatibility: ''\n"), want{"spec": "compatibility-empty|", "skills-ref": "|", "anthropic": "compatibility-empty|"}},
		{"license a map", "x", d("license:\n  a: b\n"), want{"spec": "license-type|", "gh": "license-type|", "clawhub": "license-type|"}},
		{"metadata a text", "x", d("license: MIT-0\nmetadata: text\n"), want{"spec": "metadata-type|", "gh": "metadata-type|", "clawhub": "metadata-type|"}},
		{"requirements", "x", d("license: MIT-0\nmetadata:\n  clawdbot:\n    requires:\n      bins: jq\n      env: [[a]]\n"), want{"clawhub": "metadata-requires metadata-requires|"}},
		{"requirements not a map", "x", d("metadata:\n  openclaw:\n    requires: jq\n"), want{"clawhub": "metadata-requires|"}},
		{"openclaw not a map", "x", d("metadata:\n  openclaw: jq\n"), want{"clawhub": "metadata-requires|"}},
		{"fence in a value", "x", d("license: a---b\n"), want{"spec": "|fence-inside-value", "skills-ref": "|fence-inside-value"}},
		{"broken YAML", "x", described("a: b"), want{"lenient": "|yaml-colon", "spec": "yaml-colon|", "gh": "yaml-colon|", "clawhub": "yaml-colon|"}},
		{"unreadable restriction", "x", d("allowed-tools: [a\n"), want{"lenient": "allowed-tools-unreadable|yaml-invalid"}},
	} {
		for p, want := range c.want {
			ds, err := skill.Check([]byte(c.text), c.folder, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := errorCodes(ds) + "|" + severityCodes(ds, skill.Warning); got != want {
				t.Errorf("%s, %s: got %s, want %s (%v)", c.name, p, got, want, ds)
			}
		}
	}
}

func TestCheckLines(t *testing.T) {
	text := "\r\n---\r\nname: X\r\ndescription: d\r\nallowed-tools: [a]\r\n---\r\n"
	ds, err := skill.Check([]byte(text), "x", skill.GH)
	if err != nil {
		t.Fatal(err)
	}
	for code, line := range map[string]int{"name-format": 3, "allowed-tools-type": 5} {
		if got := find(ds, code); got == nil || got.Line != line {
			t.Errorf("got %v, want %s on line %d", ds, code, line)
		}
	}
}

func TestValidateFolder(t *testing.T) {
	dir := write(t, "x", d("")+"See [ok](references/a.md#top), [gone](references/b.md \"t\"), [up](../y.md), <x>,\n"+
		"[site](https://e.org/a), [anchor](#a), [mail](mailto:a@b), [root](/etc/x) and `scripts/gone.py`, `scripts/*.py`.\n"+
		"```\n[code](none.md)\n```\n![again](references/b.md) `~~~ not a fence` [space](<my file.md>)\n")
	put(t, filepath.Join(dir, "references", "a.md"), "a")
	put(t, filepath.Join(dir, "inner", "SKILL.md"), d(""))
	put(t, filepath.Join(dir, skill.IDFile), "bad/id\n")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	ds := check(t, dir, skill.Spec)
	want := []string{"nested-skill " + filepath.Join(dir, "inner", "SKILL.md"), "link-outside " + filepath.Join(dir, "out"), "skill-id " + filepath.Join(dir, skill.IDFile)}
	want = append(want, "6 reference-missing references/b.md", "6 reference-outside ../y.md", "7 reference-missing scripts/gone.py", "11 reference-missing my file.md")
	for i, d := range ds {
		got := d.Code + " " + d.Path
		if d.Line > 0 {
			_, target, _ := strings.Cut(d.Message, `"`)
			target, _, _ = strings.Cut(target, `"`)
			got = fmt.Sprint(d.Line, " ", d.Code, " ", target)
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("got %q, want %q in its place", got, append(want, "nothing")[min(i, len(want))])
		}
	}
	if len(ds) != len(want) {
		t.Errorf("got %d diagnostics, want %d: %v", len(ds), len(want), ds)
	}
}

func TestValidatePlaces(t *testing.T) {
	dir := write(t, "x", d(""))
	t.Run("file itself", func(t *testing.T) {
		if ds := check(t, filepath.Join(dir, "SKILL.md"), skill.SkillsRef); len(ds) > 0 {
			t.Errorf("got %v", ds)
		}
	})
	t.Run("dot", func(t *testing.T) {
		t.Chdir(dir)
		for _, path := range []string{".", "../x", "../x/"} {
			if ds := check(t, path, skill.SkillsRef); len(ds) > 0 {
				t.Errorf("%s: got %v", path, ds)
			}
		}
	})
	t.Run("link to the folder", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "other-name")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		if ds := check(t, link, skill.SkillsRef); len(ds) > 0 {
			t.Errorf("got %v", ds)
		}
		if s, problems := load(t, link); s.Name != "x" || len(problems) > 0 {
			t.Errorf("got %v", problems)
		}
	})
	t.Run("not there", func(t *testing.T) {
		if _, err := skill.Validate(filepath.Join(dir, "none"), skill.Spec); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	})
	t.Run("no such profile", func(t *testing.T) {
		if _, err := skill.Validate(dir, "other"); !errors.Is(err, skill.ErrProfile) {
			t.Errorf("got %v, want ErrProfile", err)
		}
		if _, err := skill.Check(nil, "", "other"); !errors.Is(err, skill.ErrProfile) {
			t.Errorf("got %v, want ErrProfile", err)
		}
	})
	t.Run("clawhub's file name", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "x")
		put(t, filepath.Join(dir, "skills.md"), d(""))
		if ds := check(t, dir, skill.ClawHub); len(ds) > 0 {
			t.Errorf("got %v", ds)
		}
		if ds := check(t, dir, skill.Spec); errorCodes(ds) != "skill-file-missing" {
			t.Errorf("got %v, want skill-file-missing", ds)
		}
	})
	t.Run("large bundle", func(t *testing.T) {
		dir := write(t, "x", d(""))
		f, err := os.Create(filepath.Join(dir, "big"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(50<<20 + 1); err != nil {
			t.Skipf("no sparse file here: %v", err)
		}
		if ds := check(t, dir, skill.ClawHub); errorCodes(ds) != "bundle-size" {
			t.Errorf("got %v, want bundle-size", ds)
		}
	})
}

func TestDiagnosticString(t *testing.T) {
	for want, d := range map[string]skill.Diagnostic{
		"a/SKILL.md:3:7: warning: m [c]": {Code: "c", Severity: skill.Warning, Path: "a/SKILL.md", Line: 3, Column: 7, Message: "m"},
		"3: error: m [c]":                {Code: "c", Severity: skill.Error, Line: 3, Message: "m"},
		"a: info: m [c]":                 {Code: "c", Severity: skill.Info, Path: "a", Message: "m"},
		"info: m [c]":                    {Code: "c", Severity: skill.Info, Message: "m"},
	} {
		if got := d.String(); strings.TrimSpace(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
