package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

func TestContentIsWrittenAndReadBack(t *testing.T) {
	s, dir := open(t, fastDir(t)), filepath.Join(fastDir(t), "notes")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "---\nname: notes\ndescription: d\n---\nbody\n", 0o640)
	write("scripts/run.sh", "echo\n", 0o750)
	write("old/deep/x.md", "x\n", 0o644)
	reg, err := s.Register(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	had, err := s.Content(reg.Record)
	if err != nil || len(had) != 3 || !had["scripts/run.sh"].Exec || string(had["old/deep/x.md"].Data) != "x\n" {
		t.Fatalf("got %v, %v", had, err)
	}
	next := store.Content{"SKILL.md": had["SKILL.md"], "scripts/run.sh": {Data: []byte("echo 2\n"), Exec: true}, "new/y.md": {Data: []byte("y")}}
	_, err = s.Replace(t.Context(), dir, reg.Record.SkillID, store.Record{}, func(stage string) error { return next.Write(stage, had) })
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"SKILL.md": 0o640, "scripts/run.sh": 0o750, "new/y.md": 0o640} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: got %v, %v, want mode %v", name, info, err, mode)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); !os.IsNotExist(err) {
		t.Errorf("the empty folder stays: %v", err)
	}
	checkSound(t, s)
}

func TestContentStaysInItsFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "/x", "link/x"} {
		if err := (store.Content{name: {Data: []byte("x")}}).Write(dir, nil); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("got %v outside", left)
	}
}
