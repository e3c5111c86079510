package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir, fresh, id string) task.Workspace {
	t.Helper()
	w, err := task.OpenWorkspace(dir, fresh, id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWorkspaceChanges(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kept.txt"), "a")
	write(t, filepath.Join(dir, "changed.txt"), "a")
	write(t, filepath.Join(dir, "touched.txt"), "a")
	write(t, filepath.Join(dir, "removed.txt"), "a")
	write(t, filepath.Join(dir, ".git", "HEAD"), "a")
	w := open(t, dir, "", "x")
	write(t, filepath.Join(dir, "changed.txt"), "abc")
	write(t, filepath.Join(dir, "sub", "new.txt"), "abcd")
	write(t, filepath.Join(dir, ".git", "HEAD"), "abc")
	if err := os.Chtimes(filepath.Join(dir, "touched.txt"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "removed.txt")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range w.Changes() {
		rel, err := filepath.Rel(w.Dir(), c.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %d", c.Change, rel, c.SizeBytes))
	}
	want := []string{"changed changed.txt 3", "removed removed.txt 0", "created sub/new.txt 4", "changed touched.txt 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A folder with very many files is no reason to be slow, or to name files that nobody touched.
func TestWorkspaceOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 5100 {
		write(t, filepath.Join(dir, fmt.Sprint(i)), "")
	}
	w := open(t, dir, "", "x")
	write(t, filepath.Join(dir, "new"), "x")
	if got := w.Changes(); got != nil {
		t.Errorf("got %d changes, want none", len(got))
	}
}

func TestWorkspaceIsMade(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "home", "workspaces")
	a, b := open(t, "", fresh, "task_1"), open(t, "", fresh, "task_1")
	if a.Dir() == b.Dir() {
		t.Errorf("two tasks share %s", a.Dir())
	}
	info, err := os.Stat(a.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v, want mode 0700", info, err)
	}
	write(t, filepath.Join(a.Dir(), "x"), "")
	a.Close()
	b.Close()
	if _, err := os.Stat(a.Dir()); err != nil {
		t.Errorf("a folder with a file in it is gone: %v", err)
	}
	if _, err := os.Stat(b.Dir()); err == nil {
		t.Error("an empty folder stays")
	}
	own := filepath.Join(t.TempDir(), "own")
	open(t, own, "", "x").Close()
	if _, err := os.Stat(own); err != nil {
		t.Errorf("a folder that the user named is gone: %v", err)
	}
}

func TestWorkspaceThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := task.OpenWorkspace(dir, "", "x"); wire.CodeOf(err) != wire.Usage || !strings.Contains(err.Error(), "workspace") {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

// B19: names with blanks, dots and letters of any script count, and what the task names comes first.
func TestWorkspaceNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "my data.v2.csv", "отчёт.txt", "evil\nname", "sub/x"} {
		write(t, filepath.Join(dir, name), "")
	}
	w := open(t, dir, "", "x")
	got := w.Names("look at my data.v2.csv and отчёт.txt")
	want := []string{"my data.v2.csv", "отчёт.txt", "a.txt", "evil name", "sub/"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A workspace around the home would leave nothing closed; the home itself is the user's to give, with a word about it.
func TestWorkspaceAroundHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "me")
	write(t, filepath.Join(home, "work", "a.txt"), "a")
	for dir, want := range map[string]string{
		filepath.Join(home, "work"): "", home: "warned", filepath.Dir(home): "refused", "/": "refused", home + "2": "",
	} {
		m := &scripted{work: answers("Done.")}
		s := suite(t, m, false)
		s.UserHome = home
		res, _ := run(t, s, wire.Task{Task: "do it", WorkspaceDir: dir})
		got := ""
		switch {
		case res.Status == "error" && res.Error.Code == wire.Usage && len(m.seen) == 0:
			got = "refused"
		case len(res.Warnings) > 0:
			got = "warned"
		}
		if got != want {
			t.Errorf("%s: got %q (%s, %+v, %q), want %q", dir, got, res.Status, res.Error, res.Warnings, want)
		}
	}
}

// A sandbox that is not whole is told in the result, unless none was asked for.
func TestLessConfined(t *testing.T) {
	part := sandbox.Report{Level: sandbox.BestEffort, Missing: []string{"Landlock"}}
	if got := task.LessConfined(sandbox.BestEffort, part); !strings.Contains(got, "best-effort, without Landlock") {
		t.Errorf("got %q", got)
	}
	for asked, got := range map[sandbox.Level]sandbox.Report{sandbox.Off: part, sandbox.BestEffort: {Level: sandbox.Strict}} {
		if text := task.LessConfined(asked, got); text != "" {
			t.Errorf("%s: got %q", asked, text)
		}
	}
}
