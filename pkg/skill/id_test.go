package skill_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

func TestReadID(t *testing.T) {
	for text, want := range map[string]string{
		"w__imp_a1b2c3d4\n":             "w__imp_a1b2c3d4",
		"  w__v2_a1b2c3d4 \r\n":         "w__v2_a1b2c3d4",
		"\xef\xbb\xbfw__clo_a1b2c3d4":   "w__clo_a1b2c3d4",
		"技能__imp_a1b2c3d4":              "技能__imp_a1b2c3d4",
		"any old id: with a blank":      "any old id: with a blank",
		"":                              "",
		" \n":                           "",
		"a\nb":                          "",
		"../x":                          "",
		"a\x00b":                        "",
		"\xff":                          "",
		"a\u202eb":                      "",
		strings.Repeat("a", 241):        "",
		strings.Repeat("long ", 10_000): "",
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, ".skill_id"), text)
		id, problem := skill.ReadID(dir)
		if id != want || (problem == nil) != (want != "") {
			t.Errorf("%.40q: got %q, %v, want %q", text, id, problem, want)
		}
		if problem != nil && (problem.Code != "skill-id" || problem.Path != filepath.Join(dir, ".skill_id")) {
			t.Errorf("%.40q: got %+v", text, problem)
		}
	}
	if id, problem := skill.ReadID(t.TempDir()); id != "" || problem != nil {
		t.Errorf("no sidecar: got %q, %v", id, problem)
	}
	dir := t.TempDir()
	link(t, "/etc/hostname", filepath.Join(dir, ".skill_id"))
	if id, problem := skill.ReadID(dir); id != "" || problem == nil {
		t.Errorf("a link: got %q, %v, want a problem", id, problem)
	}
}

func TestNewID(t *testing.T) {
	form := regexp.MustCompile(`^my-skill__imp_[0-9a-f]{8}$`)
	a, b := skill.NewID("my-skill", "imp"), skill.NewID("my-skill", "imp")
	if !form.MatchString(a) || a == b {
		t.Errorf("got %q and %q", a, b)
	}
	for _, name := range []string{"", " ", "技能", "Agent Development", "../../etc", ".hidden", "-x", "a\nb", "a\x00", "\xff", "a\u202eb", strings.Repeat("字", 500), "plugin:skill"} {
		if id := skill.NewID(name, "v12"); !skill.ValidID(id) {
			t.Errorf("%q: got the invalid id %q", name, id)
		}
		if id := skill.DerivedID(name, "/x"); !skill.ValidID(id) {
			t.Errorf("%q: got the invalid id %q", name, id)
		}
	}
}

func TestDerivedID(t *testing.T) {
	// The SHA-256 of "/skills/x" starts with these digits.
	if got, want := skill.DerivedID("x", "/skills/x"), "x__imp_10ecacf3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if skill.DerivedID("x", "/a") == skill.DerivedID("x", "/b") {
		t.Error("two folders have one id")
	}
}

func TestSanitizeName(t *testing.T) {
	x44 := strings.Repeat("x", 44)
	for in, want := range map[string]string{
		"A_b  C!!":         "a-b-c",
		"--a--":            "a",
		"Café Crème":       "café-crème",
		"Cafe\u0301":       "café",
		"技能 审查":            "技能-审查",
		"Мой Навык":        "мой-навык",
		"कौशल":             "कौशल",
		x44:                x44,
		x44 + "-abc12":     x44 + "-abc12",
		"a\xffb":           "a-b",
		"file.name/path\\": "file-name-path",
	} {
		if got := skill.SanitizeName(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "!!!", "🙂", "\u0301"} {
		if got := skill.SanitizeName(in); !regexp.MustCompile(`^skill-[0-9a-f]{4}$`).MatchString(got) {
			t.Errorf("%q: got %q, want skill- and four digits", in, got)
		}
	}
	a, b := skill.SanitizeName(x44+"-abc123"), skill.SanitizeName(x44+"-abc124")
	if a == b || len(a) > 50 {
		t.Errorf("got %q and %q, want two names of at most 50 characters", a, b)
	}
}

func TestNameKey(t *testing.T) {
	for _, same := range [][2]string{{"ABC", "abc"}, {"café", "CAFE\u0301"}, {"ａｂｃ", "abc"}, {"STRASSE", "straße"}, {" a ", "a"}, {"ﬁ", "FI"}} {
		if a, b := skill.NameKey(same[0]), skill.NameKey(same[1]); a != b {
			t.Errorf("%q and %q: got %q and %q, want the same", same[0], same[1], a, b)
		}
	}
	if skill.NameKey("技能") == skill.NameKey("审查") || skill.NameKey("a-b") == skill.NameKey("a_b") {
		t.Error("two names have one key")
	}
}
