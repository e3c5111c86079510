package store_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// A patch that store makes is taken by patch(1), which knows nothing of our library.
func TestCompareMakesPatches(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("patch(1) is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		before, after := t.TempDir(), t.TempDir()
		for _, name := range []string{"SKILL.md", "a b.md", "sub/c.md", "sub/ü.md"} {
			old := randomText(r)
			put(t, before, name, old, r.IntN(4) > 0 || name == "SKILL.md")
			put(t, after, name, edited(r, old), r.IntN(4) > 0 || name == "SKILL.md")
		}
		from, err := store.DiskSide(before)
		if err != nil {
			t.Fatal(err)
		}
		to, err := store.DiskSide(after)
		if err != nil {
			t.Fatal(err)
		}
		diffs, err := store.Compare(from, to)
		if err != nil {
			t.Fatal(err)
		}
		var patch strings.Builder
		for _, d := range diffs {
			patch.WriteString(d.Patch)
		}
		cmd := exec.Command("patch", "-s", "-p1", "-E", "--binary", "-d", before)
		cmd.Stdin = strings.NewReader(patch.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("patch: %v\n%s\n%s", err, out, patch.String())
		}
		if from, err = store.DiskSide(before); err != nil {
			t.Fatal(err)
		}
		if left, err := store.Compare(from, to); err != nil || len(left) > 0 {
			t.Fatalf("got %v, %v after the patch, want no difference\n%s", left, err, patch.String())
		}
	}
}

// randomText never gives an empty text: patch(1) takes that for a missing file.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("first\n")
	for range r.IntN(30) {
		b.WriteString([]string{"a", "b", "c\r", "", " d", "+e", "-f", "\\ g", "--- h", "@@ i"}[r.IntN(10)] + "\n")
	}
	if r.IntN(2) == 0 {
		b.WriteString("no end")
	}
	return b.String()
}

func edited(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range r.IntN(4) {
		i := r.IntN(len(lines))
		lines[i] = strings.Repeat("new\n", r.IntN(3))
	}
	if out := strings.Join(lines, ""); out != "" {
		return out
	}
	return "x"
}

func put(t *testing.T, dir, name, text string, there bool) {
	t.Helper()
	if !there {
		return
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
