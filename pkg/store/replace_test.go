package store_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

func edit(t *testing.T, body string) func(stage string) error {
	return func(stage string) error {
		writeFile(t, filepath.Join(stage, "SKILL.md"), text("pdf", body))
		return nil
	}
}

func TestReplace(t *testing.T) {
	for _, plain := range []bool{false, true} {
		w := newWorld(t)
		plainFolder(t, w)
		if err := os.Mkdir(filepath.Join(w.dir, "cache"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/nowhere", filepath.Join(w.dir, "dangling")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(w.dir, "SKILL.md"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, w.home)
		if plain {
			s.PlainRename()
		}
		head := register(t, s, w.dir).Record
		rec := store.Record{Category: "reference", Lineage: store.Lineage{ChangeSummary: "shorter", CreatedBy: "model", SourceTaskID: "t"}}
		got, err := s.Replace(t.Context(), w.dir, head.SkillID, rec, func(stage string) error {
			if got := content(t, stage); len(got) != 2 {
				t.Errorf("got %v in the stage, want the two files of the skill", got)
			}
			writeFile(t, filepath.Join(stage, "new/x.py"), "print()\n")
			writeFile(t, filepath.Join(stage, skill.IDFile), "stolen\n")
			return errors.Join(os.Remove(filepath.Join(stage, "notes/deep/more.md")), edit(t, "two")(stage))
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"SKILL.md": text("pdf", "two"), "new/x.py": "print()\n", ".env": "SECRET=1\n", ".git/config": "[core]\n"}
		link, _ := os.Readlink(filepath.Join(w.dir, "dangling"))
		if err := os.Remove(filepath.Join(w.dir, "dangling")); err != nil || link != "/nowhere" {
			t.Errorf("got link %q, %v, want it kept", link, err)
		}
		if now := content(t, w.dir); !maps.Equal(now, want) {
			t.Errorf("got %q, want %q", now, want)
		}
		if info, err := os.Stat(filepath.Join(w.dir, "cache")); err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("got %v, %v, want the empty folder kept with its mode", info, err)
		}
		if info, err := os.Stat(filepath.Join(w.dir, "SKILL.md")); err != nil || info.Mode().Perm() != 0o644 && info.Mode().Perm() != 0o600 {
			t.Errorf("got %v, %v", info, err)
		}
		if id, _ := skill.ReadID(w.dir); id != got.SkillID {
			t.Errorf("got id file %q, want %q", id, got.SkillID)
		}
		l := got.Lineage
		if l.ChangeSummary != "shorter" || l.CreatedBy != "model" || l.SourceTaskID != "t" || got.Category != "reference" || l.Generation != 1 {
			t.Errorf("got %+v", got)
		}
		wantStatus(t, s, w.dir, store.Clean)
		checkSound(t, s)
	}
}

func TestRollbackKeepsModesPrivate(t *testing.T) {
	s, dir, head := fixture(t)
	writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "two"))
	if err := os.Chmod(filepath.Join(dir, "SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollback(t.Context(), dir, head.SkillID); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "SKILL.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600 kept", info.Mode(), err)
	}
	versions, err := s.Versions(dir)
	if err != nil || len(versions) != 3 || versions[1].Lineage.CreatedBy != store.Human {
		t.Errorf("got %d versions, %v, want the hand edit kept in the middle", len(versions), err)
	}
	if _, err := s.Rollback(t.Context(), dir, "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

// Whatever goes wrong in an edit, every byte stays as it was.
func TestReplaceThatFails(t *testing.T) {
	tests := []struct {
		name string
		edit func(t *testing.T, dir, stage string) error
		want error
	}{
		{"the edit gives up", func(_ *testing.T, _, stage string) error {
			return errors.Join(errEdit, os.Remove(filepath.Join(stage, "SKILL.md")))
		}, errEdit},
		{"nothing changed", func(*testing.T, string, string) error { return nil }, store.ErrUnchanged},
		{"no skill left", func(_ *testing.T, _, stage string) error { return os.Remove(filepath.Join(stage, "SKILL.md")) }, store.ErrNotFound},
		{"not readable", func(t *testing.T, _, stage string) error {
			writeFile(t, filepath.Join(stage, "SKILL.md"), "\xff")
			return nil
		}, store.ErrInvalid},
		{"hand edit meanwhile", func(t *testing.T, dir, stage string) error {
			writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "by hand"))
			return edit(t, "two")(stage)
		}, store.ErrConflict},
		{"new file meanwhile", func(t *testing.T, dir, stage string) error {
			writeFile(t, filepath.Join(dir, "notes/extra.md"), "by hand")
			return edit(t, "two")(stage)
		}, store.ErrConflict},
		{"over a file that is not the skill's", func(t *testing.T, _, stage string) error {
			writeFile(t, filepath.Join(stage, ".skillignore"), "\n")
			writeFile(t, filepath.Join(stage, "data/x"), "other")
			return nil
		}, store.ErrConflict},
	}
	for _, tt := range tests {
		for _, plain := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				w := newWorld(t)
				plainFolder(t, w)
				writeFile(t, filepath.Join(w.dir, ".skillignore"), "data/\n")
				writeFile(t, filepath.Join(w.dir, "data/x"), "precious")
				s := open(t, w.home)
				if plain {
					s.PlainRename()
				}
				head := register(t, s, w.dir).Record
				var before map[string]string
				_, err := s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
					err := tt.edit(t, w.dir, stage)
					before = content(t, w.dir)
					return err
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if now := content(t, w.dir); !maps.Equal(now, before) {
					t.Errorf("got %q, want %q", now, before)
				}
				if now, _, err := s.HeadAt(w.dir); err != nil || now.SkillID != head.SkillID {
					t.Errorf("got head %q, %v, want %q", now.SkillID, err, head.SkillID)
				}
				if entries, _ := os.ReadDir(w.root); len(entries) != 1 {
					t.Errorf("got %v beside the skill", entries)
				}
				checkSound(t, s)
			})
		}
	}
}

// Links inside the folder become what they show; nothing behind them is lost.
func TestReplaceWithLinks(t *testing.T) {
	w := newWorld(t)
	plainFolder(t, w)
	for link, target := range map[string]string{"docs": "notes", "short.md": "notes/deep/more.md", "out": w.root, "keep": ".env"} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, w.home)
	register(t, s, w.dir)
	_, err := s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
		writeFile(t, filepath.Join(stage, "docs/deep/more.md"), "by the edit\n")
		return edit(t, "two")(stage)
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"docs/deep/more.md": "by the edit\n", "notes/deep/more.md": "more\n", "short.md": "more\n", "keep": "SECRET=1\n"} {
		if got := readFile(t, filepath.Join(w.dir, path)); got != want {
			t.Errorf("got %q in %s, want %q", got, path, want)
		}
	}
	if target, err := os.Readlink(filepath.Join(w.dir, "out")); err != nil || target != w.root {
		t.Errorf("got %q, %v, want the link to the outside kept", target, err)
	}
	wantStatus(t, s, w.dir, store.Clean)
	checkSound(t, s)
}

// A rule of the repository around that hits the stage, or only the folder,
// must neither lose files nor leave the folder dirty.
func TestReplaceUnderGitignore(t *testing.T) {
	for _, rule := range []string{".*", ".os-*", "pdf/build/", "*.log"} {
		w := newWorld(t)
		plainFolder(t, w)
		writeFile(t, filepath.Join(w.root, ".git/HEAD"), "ref: refs/heads/main\n")
		writeFile(t, filepath.Join(w.root, ".gitignore"), rule+"\n")
		if err := os.RemoveAll(filepath.Join(w.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		s := open(t, w.home)
		register(t, s, w.dir)
		_, err := s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
			writeFile(t, filepath.Join(stage, "build/out"), "built")
			writeFile(t, filepath.Join(stage, "run.log"), "log")
			return edit(t, "two")(stage)
		})
		if err != nil {
			t.Errorf("rule %q: %v", rule, err)
		}
		if now := content(t, w.dir); len(now) != 5 {
			t.Errorf("rule %q: got %d files, want 5: %q", rule, len(now), now)
		}
		wantStatus(t, s, w.dir, store.Clean)
		checkSound(t, s)
	}
}

func TestCreate(t *testing.T) {
	w := newWorld(t)
	s := open(t, w.home)
	got, err := s.Create(t.Context(), w.dir, store.Record{Lineage: store.Lineage{CreatedBy: "model"}}, edit(t, "one"))
	if err != nil || got.Lineage.Origin != store.OriginCaptured || got.Lineage.Generation != 0 || got.Name != "pdf" {
		t.Fatalf("got %+v, %v, want a captured skill", got, err)
	}
	wantStatus(t, s, w.dir, store.Clean)
	before := content(t, w.dir)
	if _, err := s.Create(t.Context(), w.dir, store.Record{}, edit(t, "two")); !errors.Is(err, store.ErrExists) {
		t.Errorf("got %v, want exists", err)
	}
	_, err = s.Create(t.Context(), w.dir+"2", store.Record{SkillID: got.SkillID}, edit(t, "two"))
	if !errors.Is(err, store.ErrExists) || exists(w.dir+"2") {
		t.Errorf("got %v, folder there %v, want the id refused and no folder", err, exists(w.dir+"2"))
	}
	_, err = s.Create(t.Context(), w.dir+"2", store.Record{Lineage: store.Lineage{ParentSkillIDs: []string{"nobody"}}}, edit(t, "two"))
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v for an unknown parent, want not found", err)
	}
	if now := content(t, w.dir); !maps.Equal(now, before) {
		t.Errorf("got %q, want %q", now, before)
	}
	checkSound(t, s)
}

// Somebody goes on working on the new content between a crash and the recovery:
// their work stays, and shows as a hand edit.
func TestRecoverAfterHandEdit(t *testing.T) {
	for _, action := range []string{"replace", "replace-plain", "create"} {
		w := newWorld(t)
		killedAt(action, "swap:done")(t, w)
		writeFile(t, filepath.Join(w.dir, "SKILL.md"), text("pdf", "by hand"))
		s := open(t, w.home)
		if n, err := s.Recover(t.Context()); n != 1 || err != nil {
			t.Errorf("%s: got %d, %v, want 1 recovered", action, n, err)
		}
		if got := readFile(t, filepath.Join(w.dir, "SKILL.md")); got != text("pdf", "by hand") {
			t.Errorf("%s: got %q, want the hand edit", action, got)
		}
		want := store.Dirty
		if action == "create" {
			want = store.Unregistered
		}
		wantStatus(t, s, w.dir, want)
		register(t, s, w.dir)
		wantStatus(t, s, w.dir, store.Clean)
		if entries, _ := os.ReadDir(w.root); len(entries) != 1 {
			t.Errorf("%s: got %v beside the skill", action, entries)
		}
		checkSound(t, s)
	}
}

// Every writer recovers before its first write, and a running change is left
// alone.
func TestWritersRecover(t *testing.T) {
	w := newWorld(t)
	killedAt("replace", "swap:done")(t, w)
	s := open(t, w.home)
	wantStatus(t, s, w.dir, store.Dirty)
	judge(t, s, "t")
	wantStatus(t, s, w.dir, store.Clean)

	_, err := s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
		if n, err := open(t, w.home).Recover(t.Context()); n != 0 || err != nil {
			t.Errorf("got %d, %v, want a running change left alone", n, err)
		}
		return edit(t, "three")(stage)
	})
	if err != nil {
		t.Error(err)
	}
	wantStatus(t, s, w.dir, store.Clean)
}

func TestDiffIsAPatch(t *testing.T) {
	s, dir, first := fixture(t)
	writeFile(t, filepath.Join(dir, "gone.txt"), "a\nb\n")
	writeFile(t, filepath.Join(dir, "no newline"), "a\nold")
	writeFile(t, filepath.Join(dir, "bin"), "\x00\x01")
	a := register(t, s, dir).Record
	writeFile(t, filepath.Join(dir, "no newline"), "a\nnew")
	writeFile(t, filepath.Join(dir, "bin"), "\x00\x02")
	writeFile(t, filepath.Join(dir, "new/run.sh"), "#!/bin/sh\n")
	writeFile(t, filepath.Join(dir, "empty"), "")
	writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "two"))
	if err := errors.Join(os.Chmod(filepath.Join(dir, "new/run.sh"), 0o755), os.Remove(filepath.Join(dir, "gone.txt"))); err != nil {
		t.Fatal(err)
	}
	b := register(t, s, dir).Record
	got, err := s.Diff(a.SkillID, b.SkillID)
	if err != nil {
		t.Fatal(err)
	}
	want := `diff --git a/SKILL.md b/SKILL.md
--- a/SKILL.md
+++ b/SKILL.md
@@ -3,4 +3,4 @@
 description: what pdf does
 ---
 
-one
+two
diff --git a/bin b/bin
index b413f47..fcf0a6c
Binary files a/bin and b/bin differ
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
diff --git a/new/run.sh b/new/run.sh
new file mode 100755
--- /dev/null
+++ b/new/run.sh
@@ -0,0 +1 @@
+#!/bin/sh
diff --git a/no newline b/no newline
--- a/no newline` + "\t" + `
+++ b/no newline` + "\t" + `
@@ -1,2 +1,2 @@
 a
-old
\ No newline at end of file
+new
\ No newline at end of file
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if same, err := s.Diff(b.SkillID, b.SkillID); same != "" || err != nil {
		t.Errorf("got %q, %v for equal versions", same, err)
	}
	if all, err := s.Diff("", first.SkillID); err != nil || all == "" {
		t.Errorf("got %q, %v from nothing", all, err)
	}
	if _, err := s.Diff("nobody", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	applyPatch(t, s, a, b)
}

// applyPatch lets git make version b out of version a.
func applyPatch(t *testing.T, s *store.Store, a, b store.Record) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	work := fastDir(t)
	checkout := func(r store.Record) map[string]string {
		out := map[string]string{}
		files, err := s.TreeFiles(r.Lineage.Tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := s.ReadObject(f.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			if f.Path != "bin" { // a binary file is named, not described
				out[f.Path] = string(data)
			}
		}
		return out
	}
	for path, data := range checkout(a) {
		writeFile(t, filepath.Join(work, path), data)
	}
	patch, err := s.Diff(a.SkillID, b.SkillID)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(fastDir(t), "patch")
	writeFile(t, file, patch)
	cmd := exec.Command(git, "apply", "--exclude=bin", file)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s", err, out)
	}
	if got, want := content(t, work), checkout(b); !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
