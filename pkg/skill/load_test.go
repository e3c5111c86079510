package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
		codes string
	}{
		{"upper case", []string{"SKILL.md"}, "SKILL.md", ""},
		{"lower case", []string{"skill.md"}, "skill.md", ""},
		{"both", []string{"skill.md", "SKILL.md"}, "SKILL.md", ""},
		{"mixed case", []string{"Skill.md"}, "", "skill-file-case"},
		{"none", []string{"README.md"}, "", ""},
		{"a folder", []string{"SKILL.md/x"}, "", "skill-file-type"},
		{"a folder, and lower case", []string{"SKILL.md/x", "skill.md"}, "skill.md", ""},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			put(t, filepath.Join(dir, f), "x")
		}
		file, problems := skill.Find(dir)
		if c.want != "" {
			c.want = filepath.Join(dir, c.want)
		}
		if file != c.want || codes(problems) != c.codes {
			t.Errorf("%s: got %q with %v, want %q with %q", c.name, file, problems, c.want, c.codes)
		}
	}
	dir := t.TempDir()
	link(t, "gone", filepath.Join(dir, "SKILL.md"))
	if file, problems := skill.Find(dir); file != "" || codes(problems) != "link-dangling" {
		t.Errorf("dangling link: got %q with %v", file, problems)
	}
}

func TestLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lower")
	put(t, filepath.Join(dir, "skill.md"), "---\ndescription: d\n---\nBody")
	s, problems := load(t, dir)
	if s.Name != "lower" || string(s.Body) != "Body" || len(problems) != 1 || problems[0].Path != filepath.Join(dir, "skill.md") {
		t.Errorf("got %+v with %v", s, problems)
	}
	for name, want := range map[string]string{"empty": "skill-file-missing", "none": "skill-file-missing"} {
		dir := filepath.Join(t.TempDir(), name)
		if name == "empty" {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if s, problems, err := skill.Load(dir); s != nil || err != nil || codes(problems) != want {
			t.Errorf("%s: got %v, %v, %v", name, s, problems, err)
		}
	}
	large := write(t, "large", "x")
	if err := os.Truncate(filepath.Join(large, "SKILL.md"), 16<<20+1); err != nil {
		t.Fatal(err)
	}
	if s, problems, err := skill.Load(large); s != nil || err != nil || codes(problems) != "too-large" {
		t.Errorf("large: got %v, %v, %v", s, problems, err)
	}
	if os.Getuid() != 0 {
		locked := write(t, "locked", "x")
		if err := os.Chmod(filepath.Join(locked, "SKILL.md"), 0); err != nil {
			t.Fatal(err)
		}
		if _, _, err := skill.Load(locked); err == nil || !strings.Contains(err.Error(), locked) {
			t.Errorf("locked: got %v, want an error with the path", err)
		}
	}
}

func TestFolderName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "real")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	link(t, dir, other)
	t.Chdir(dir)
	for path, want := range map[string]string{".": "real", "./": "real", "../real": "real", dir + "/": "real", other: "real", other + "/": "real", "/": "", "none": ""} {
		if got := skill.FolderName(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
