package diff_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/diff"
)

func text(s string) diff.File { return diff.File{Mode: "0644", Data: []byte(s)} }

func TestKind(t *testing.T) {
	none, run := diff.File{}, diff.File{Mode: "0755", Data: []byte("a")}
	tests := []struct {
		name string
		a, b diff.File
		want string
	}{
		{"added", none, text(""), diff.Added},
		{"removed", text("a"), none, diff.Removed},
		{"content", text("a"), text("b"), diff.Modified},
		{"mode", text("a"), run, diff.Modified},
		{"equal", text("a"), text("a"), ""},
		{"never there", none, none, ""},
	}
	for _, tt := range tests {
		if got := diff.Kind(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPatchText(t *testing.T) {
	tests := []struct {
		name, path string
		a, b       diff.File
		want       string
	}{
		{"last line without an end", "f", text("a\nb"), text("a\nc"),
			"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"added", "f", diff.File{}, text("a\n"), "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"added and empty", "f", diff.File{}, text(""), "diff --git a/f b/f\nnew file mode 100644\n"},
		{"a name with a quote", "a\"b", diff.File{}, text(""), "diff --git \"a/a\\\"b\" \"b/a\\\"b\"\nnew file mode 100644\n"},
		{"binary", "f", text("a\x00"), text("b\n"), ""},
		{"equal", "f", text("a"), text("a"), ""},
	}
	for _, tt := range tests {
		if got := diff.Patch(tt.path, tt.a, tt.b); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// What is written is a patch: git makes the new files of the old ones with it.
func TestGitApplies(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here")
	}
	cases := map[string][2]diff.File{
		"changed":      {text("a\nb"), text("a\nc")},
		"crlf":         {text("a\r\nb\r\n"), text("a\r\nc\r\n")},
		"with blank":   {text("1\n"), text("2\n")},
		"ü/名":          {text("1\n"), text("2")},
		"q\"uote":      {text("1\n"), text("2\n")},
		"new":          {{}, text("x\ny")},
		"new empty":    {{}, text("")},
		"gone":         {text("x"), {}},
		"now runs":     {text("x\n"), {Mode: "0755", Data: []byte("x\n")}},
		"line\u2028in": {text("a\u2028b\fc\n"), text("a\u2028b\fd\n")},
	}
	dir := t.TempDir()
	var patch strings.Builder
	for path, c := range cases {
		put(t, dir, path, c[0])
		patch.WriteString(diff.Patch(path, c[0], c[1]))
	}
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch.String())
	}
	for path, c := range cases {
		got, err := os.ReadFile(filepath.Join(dir, path))
		if os.IsNotExist(err) != (c[1].Mode == "") || string(got) != string(c[1].Data) {
			t.Errorf("%q: got %q, %v, want %q", path, got, err, c[1].Data)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "now runs")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("got %v, %v, want a file that can be executed", info, err)
	}
}

func put(t *testing.T, dir, path string, f diff.File) {
	t.Helper()
	if f.Mode == "" {
		return
	}
	full := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, f.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}
