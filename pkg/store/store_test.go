package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// text is a small skill file.
func text(name, body string) string {
	return "---\nname: " + name + "\ndescription: what " + name + " does\n---\n\n" + body + "\n"
}

// makeSkill writes a skill folder and returns its canonical path.
func makeSkill(t testing.TB, root, name, body string) string {
	t.Helper()
	dir := filepath.Join(root, name)
	writeFile(t, filepath.Join(dir, "SKILL.md"), text(name, body))
	dir, err := store.Canonical(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func open(t testing.TB, home string) *store.Store {
	t.Helper()
	return openWith(t, home, store.Options{})
}

func openWith(t testing.TB, home string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(home, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func register(t testing.TB, s *store.Store, dir string) store.Registered {
	t.Helper()
	r, err := s.Register(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantStatus(t testing.TB, s *store.Store, dir string, want store.Status) {
	t.Helper()
	got, err := s.Status(dir)
	if err != nil || got != want {
		t.Errorf("got status %q, %v of %s, want %q", got, err, dir, want)
	}
}

func TestMissingStoreReadsEmpty(t *testing.T) {
	home := filepath.Join(fastDir(t), "home")
	s := open(t, home)
	dir := makeSkill(t, fastDir(t), "pdf", "one")
	if _, ok, err := s.HeadAt(dir); ok || err != nil {
		t.Errorf("got %v, %v, want no head and no error", ok, err)
	}
	wantStatus(t, s, dir, store.Unregistered)
	id, err := s.Identify(dir, "pdf")
	if err != nil || id.ID == "" || id.Known {
		t.Errorf("got %+v, %v, want an unknown id", id, err)
	}
	for range s.All(false) {
		t.Error("got a record in an empty store")
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that reading creates nothing", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".skill_id")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that reading writes no id", err)
	}
}

func TestVersions(t *testing.T) {
	home, root := fastDir(t), fastDir(t)
	s := open(t, home)
	dir := makeSkill(t, root, "pdf", "one")
	writeFile(t, filepath.Join(dir, "scripts/run.sh"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, ".env"), "SECRET=1\n")

	first := register(t, s, dir)
	if first.Change != store.Imported || first.Record.Lineage.Origin != store.OriginImported || first.Record.Name != "pdf" {
		t.Errorf("got %+v, want an import", first)
	}
	if got := readFile(t, filepath.Join(dir, ".skill_id")); got != first.Record.SkillID+"\n" {
		t.Errorf("got id file %q, want %q", got, first.Record.SkillID)
	}
	wantStatus(t, s, dir, store.Clean)
	if again := register(t, s, dir); again.Change != store.NoChange || again.Record.SkillID != first.Record.SkillID {
		t.Errorf("got %+v, want nothing to do", again)
	}

	writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "two"))
	wantStatus(t, s, dir, store.Dirty)
	second := register(t, s, dir)
	if second.Change != store.Edited || second.Record.Lineage.CreatedBy != store.Human || second.Record.Lineage.Generation != 1 {
		t.Errorf("got %+v, want a hand edit of generation 1", second)
	}
	old, _, err := s.Record(first.Record.SkillID)
	if err != nil || old.IsActive {
		t.Errorf("got active %v, %v of the first version, want inactive", old.IsActive, err)
	}

	third, err := s.Rollback(t.Context(), dir, first.Record.SkillID)
	if err != nil {
		t.Fatal(err)
	}
	if third.Lineage.Tree != first.Record.Lineage.Tree || third.Lineage.Restores != first.Record.SkillID || third.Lineage.Generation != 2 {
		t.Errorf("got %+v, want generation 2 with the tree of the first", third.Lineage)
	}
	if got, want := readFile(t, filepath.Join(dir, "SKILL.md")), text("pdf", "one"); got != want {
		t.Errorf("got %q on disk, want %q", got, want)
	}
	info, err := os.Stat(filepath.Join(dir, "scripts/run.sh"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("got %v, %v, want an executable script", info, err)
	}
	if got := readFile(t, filepath.Join(dir, ".env")); got != "SECRET=1\n" {
		t.Errorf("got .env %q, want it kept", got)
	}
	wantStatus(t, s, dir, store.Clean)
	line, err := s.Line(second.Record.SkillID)
	if err != nil || len(line) != 3 {
		t.Errorf("got %d versions, %v, want 3", len(line), err)
	}
	if _, err := s.Rollback(t.Context(), dir, first.Record.SkillID); !errors.Is(err, store.ErrUnchanged) {
		t.Errorf("got %v for a rollback to what is there, want unchanged", err)
	}
	entries, _ := os.ReadDir(root)
	if len(entries) != 1 {
		t.Errorf("got %v beside the skill, want nothing", entries)
	}
}
