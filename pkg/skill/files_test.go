package skill_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// listing is what Files says, one entry a line: "mode size path" or "- reason path".
func listing(t *testing.T, dir string) string {
	t.Helper()
	files, left, err := skill.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%o %d %s\n", f.Mode, f.Size, f.Path)
	}
	for _, l := range left {
		fmt.Fprintf(&b, "- %s %s\n", l.Reason, l.Path)
	}
	return b.String()
}

func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x")
	for _, f := range append(files, "SKILL.md") {
		put(t, filepath.Join(dir, filepath.FromSlash(f)), f)
	}
	return dir
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestFilesNeverBelong(t *testing.T) {
	reasons := map[string][]string{
		skill.ReasonVCS:     {".git/config", ".hg/x", ".svn/x", ".jj/x"},
		skill.ReasonEnv:     {".env", ".env.local", "sub/.env.production", ".envrc", ".ENV"},
		skill.ReasonSecret:  {"keys/id_rsa", "id_rsa.pub", "id_ed25519", "server.pem", "a.KEY", "a.p12", "a.pfx", ".ssh/x", ".aws/credentials", ".gnupg/x", ".netrc", ".npmrc", ".pypirc", "credentials", "credentials.json", "client_secret_1.json", ".git-credentials"},
		skill.ReasonCache:   {"__pycache__/a", "a.pyc", "node_modules/a/b.js", ".venv/x", "venv/x", ".pytest_cache/x", ".mypy_cache/x", ".ruff_cache/x", ".cache/x", "a-1.0.dist-info/x"},
		skill.ReasonSidecar: {".skill_id", ".upload_meta.json", "sub/.skill_id", ".os-tmp/x"},
		skill.ReasonEditor:  {".DS_Store", "Thumbs.db", "a.swp", "a~", ".idea/x", ".vscode/x", "__MACOSX/x", "._a", ".#a", "#a#"},
	}
	want := map[string]string{}
	var all []string
	for reason, files := range reasons {
		for _, f := range files {
			want[f] = reason
			all = append(all, f)
		}
	}
	kept := []string{".env.example", "main.tf", "LICENSE", "logo.png", "references/credentials.md", "docs/keys.md", "environment.yml", "scripts/venv", ".gitignore.txt", "secrets.md"}
	files, left, err := skill.Files(tree(t, append(all, kept...)...))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Path)
		delete(want, f.Path)
	}
	if len(got) != len(kept)+1 {
		t.Errorf("got %q, want SKILL.md and %q", got, kept)
	}
	for path, reason := range want {
		found := false
		for _, l := range left {
			found = found || l.Reason == reason && (l.Path == path || strings.HasSuffix(l.Path, "/") && strings.HasPrefix(path, l.Path))
		}
		if !found {
			t.Errorf("%s was not left out with reason %s: %v", path, reason, left)
		}
	}
}

func TestFilesModesAndOrder(t *testing.T) {
	dir := tree(t, "b/run", "a.txt", "b.txt", "empty")
	for path, mode := range map[string]fs.FileMode{"b/run": 0o700, "a.txt": 0o600, "b.txt": 0o755} {
		if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "empty"), 0); err != nil {
		t.Fatal(err)
	}
	want := "644 8 SKILL.md\n644 5 a.txt\n755 5 b.txt\n755 5 b/run\n644 0 empty\n"
	if got := listing(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := listing(t, dir+string(filepath.Separator)); got != want {
		t.Errorf("with a slash behind: got\n%s\nwant\n%s", got, want)
	}
}

func TestFilesLinks(t *testing.T) {
	dir := tree(t, "real/a", ".env", "node_modules/m/x", "deep/d/e")
	outside := tree(t, "secret")
	link(t, "real/a", filepath.Join(dir, "inside"))
	link(t, "../real", filepath.Join(dir, "deep", "folder"))
	link(t, ".env", filepath.Join(dir, "settings"))
	link(t, "node_modules/m", filepath.Join(dir, "m"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(dir, "out"))
	link(t, outside, filepath.Join(dir, "outdir"))
	link(t, "/", filepath.Join(dir, "everything"))
	link(t, "gone", filepath.Join(dir, "dangling"))
	link(t, "self", filepath.Join(dir, "self"))
	link(t, ".", filepath.Join(dir, "loop"))
	link(t, "..", filepath.Join(dir, "deep", "up"))
	want := `644 8 SKILL.md
644 8 deep/d/e
644 6 deep/folder/a
644 6 inside
644 6 real/a
- env-file .env
- link-dangling dangling
- link-loop deep/up
- link-outside everything
- link-loop loop
- cache m
- cache node_modules/
- link-outside out
- link-outside outdir
- link-dangling self
- env-file settings
`
	if got := listing(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// The folder itself may be reached through a link.
	via := filepath.Join(t.TempDir(), "via")
	link(t, dir, via)
	if got := listing(t, via); got != want {
		t.Errorf("through a link: got\n%s\nwant\n%s", got, want)
	}
}

func TestFilesBounds(t *testing.T) {
	dir := tree(t, strings.Repeat("d/", 40)+"f")
	want := "644 8 SKILL.md\n- too-deep " + strings.Repeat("d/", 33) + "\n"
	if got := listing(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Two links in each of many folders would be walked two to the power of many times.
	dir = tree(t)
	for i := range 25 {
		for _, name := range []string{"l", "r"} {
			link(t, fmt.Sprintf("../n%d", i+1), filepath.Join(dir, fmt.Sprintf("n%d", i), name))
		}
	}
	put(t, filepath.Join(dir, "n25", "f"), "f")
	files, left, err := skill.Files(dir)
	if err != nil || len(files) > 20_001 || left[len(left)-1].Reason == "" {
		t.Errorf("got %d files, %d left out, %v", len(files), len(left), err)
	}
}

func TestFilesOddNames(t *testing.T) {
	dir := tree(t, "a\nb", "\xff")
	if got, want := listing(t, dir), "644 8 SKILL.md\n644 3 a\nb\n- name-not-utf8 \\xff\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := tree(t, "locked/a")
	if err := os.Chmod(filepath.Join(dir, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "locked"), 0o755)
	if got, want := listing(t, dir), "644 8 SKILL.md\n- unreadable locked/\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFilesNoFolder(t *testing.T) {
	if _, _, err := skill.Files(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestFilesGit compares with verdicts of git check-ignore.
func TestFilesGit(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "gitignore.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			Ignore, Path string
			Ignored      bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		dir := tree(t)
		put(t, filepath.Join(dir, ".gitignore"), c.Ignore)
		if strings.HasSuffix(c.Path, "/") {
			put(t, filepath.Join(dir, c.Path, "inner"), "x")
		} else {
			put(t, filepath.Join(dir, c.Path), "x")
		}
		_, left, err := skill.Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, l := range left {
			got = got || l.Reason == skill.ReasonGitIgnored && (l.Path == c.Path || strings.HasSuffix(l.Path, "/") && strings.HasPrefix(c.Path, l.Path))
		}
		if got != c.Ignored {
			t.Errorf("%q: %q: got ignored %v, want %v (%v)", c.Ignore, c.Path, got, c.Ignored, left)
		}
	}
	if n != 103 {
		t.Errorf("got %d cases, want 103", n)
	}
}

func TestFilesIgnoreFiles(t *testing.T) {
	repo := t.TempDir()
	put(t, filepath.Join(repo, ".gitignore"), "*.log\n/skills/x/only-here\nbuild/\n")
	put(t, filepath.Join(repo, ".git", "info", "exclude"), "excluded\n")
	put(t, filepath.Join(repo, "skills", ".gitignore"), "*.bak\n!keep.log\n")
	dir := filepath.Join(repo, "skills", "x")
	for _, f := range []string{"SKILL.md", "a.log", "keep.log", "only-here", "sub/only-here", "build/o", "a.bak", "excluded", "sub/a.tmp", "sub/b.tmp", "a.tmp", "draft.md", "sub/draft.md", "notes/n"} {
		put(t, filepath.Join(dir, f), f)
	}
	put(t, filepath.Join(dir, "sub", ".gitignore"), "*.tmp\n!b.tmp\n")
	put(t, filepath.Join(dir, ".skillignore"), "\ufeffdraft.md\r\nnotes/\r\nSKILL.md\r\n")
	want := `644 31 .skillignore
644 8 SKILL.md
644 5 a.tmp
644 8 keep.log
644 13 sub/.gitignore
644 9 sub/b.tmp
644 13 sub/only-here
- git-ignored a.bak
- git-ignored a.log
- git-ignored build/
- skill-ignored draft.md
- git-ignored excluded
- skill-ignored notes/
- git-ignored only-here
- git-ignored sub/a.tmp
- skill-ignored sub/draft.md
`
	if got := listing(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A repository that ignores the whole skill says nothing about its files.
func TestFilesIgnoredFolder(t *testing.T) {
	repo := t.TempDir()
	put(t, filepath.Join(repo, ".gitignore"), "imported/\n*.log\n")
	put(t, filepath.Join(repo, ".git", "HEAD"), "ref")
	dir := filepath.Join(repo, "imported", "x")
	put(t, filepath.Join(dir, "SKILL.md"), "s")
	put(t, filepath.Join(dir, "a.log"), "a")
	if got, want := listing(t, dir), "644 1 SKILL.md\n644 1 a.log\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
