package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
)

// age makes a file look old enough for gc.
func age(t *testing.T, paths ...string) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for _, path := range paths {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// objects lists the objects of a store.
func objects(t *testing.T, home string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(home, "store/objects/??/*"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGC(t *testing.T) {
	w := newWorld(t)
	knownFolder(t, w)
	s := open(t, w.home)
	kept := objects(t, w.home)
	garbage(t, w)
	young := s.ObjectPath(strings.Repeat("cd", 32))
	writeFile(t, young, "young")
	writeFile(t, filepath.Join(w.root, ".os-stage-mine/x"), "not made by the store")
	age(t, kept...)
	age(t, filepath.Join(w.root, ".os-stage-mine"))
	writeFile(t, filepath.Join(w.home, "skills/.os-stage-0123456789ab/x"), "of an import that was killed, the first one there")
	age(t, filepath.Join(w.home, "skills/.os-stage-0123456789ab"))

	want := store.Collected{Objects: 1, Bytes: 7, Temps: 1, Folders: 2, Kept: len(kept) + 1}
	for _, dryRun := range []bool{true, false} {
		got, err := s.GC(t.Context(), dryRun)
		if err != nil || got != want {
			t.Errorf("dry run %v: got %+v, %v, want %+v", dryRun, got, err, want)
		}
	}
	if got, err := s.GC(t.Context(), false); err != nil || got != (store.Collected{Kept: want.Kept}) {
		t.Errorf("got %+v, %v from a second time, want nothing to do", got, err)
	}
	if !exists(young) || !exists(filepath.Join(w.root, ".os-stage-mine")) {
		t.Error("got more removed than there was to")
	}
	wantStatus(t, s, w.dir, store.Clean)
	checkSound(t, s)
}

func TestGCAfterDelete(t *testing.T) {
	s, dir, first := fixture(t)
	writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "two"))
	second := register(t, s, dir).Record
	age(t, objects(t, s.Home())...)
	if got, err := s.GC(t.Context(), false); err != nil || got.Objects != 0 || got.Kept != 4 {
		t.Errorf("got %+v, %v, want both versions kept", got, err)
	}
	if err := s.Commit(t.Context(), nil, store.Delete(second.SkillID)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.GC(t.Context(), false); err != nil || got.Objects != 2 || got.Kept != 2 {
		t.Errorf("got %+v, %v, want the objects of the deleted version gone", got, err)
	}
	if _, err := s.TreeFiles(first.Lineage.Tree); err != nil {
		t.Errorf("got %v for the tree that is left", err)
	}
}

// An object that is stored again is young again, also when it was there.
func TestGCSparesWhatIsUsedAgain(t *testing.T) {
	s, dir, head := fixture(t)
	age(t, objects(t, s.Home())...)
	if err := s.Commit(t.Context(), nil, store.Delete(head.SkillID)); err != nil {
		t.Fatal(err)
	}
	register(t, s, dir)
	if got, err := s.GC(t.Context(), false); err != nil || got.Objects != 0 {
		t.Errorf("got %+v, %v, want nothing removed", got, err)
	}
	checkSound(t, s)
}

func TestGCWithoutStore(t *testing.T) {
	home := filepath.Join(fastDir(t), "home")
	for _, dryRun := range []bool{true, false} {
		if got, err := open(t, home).GC(t.Context(), dryRun); err != nil || got != (store.Collected{}) {
			t.Errorf("got %+v, %v, want nothing", got, err)
		}
	}
	if exists(home) {
		t.Error("got a store where there was none")
	}
}

// A process that is killed while it writes into a skill folder leaves an
// unfinished file there. It is no part of the skill, and goes.
func TestUnfinishedFilesInSkillFolders(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *store.Store, dir string, first store.Record) error
	}{
		{"register", func(t *testing.T, s *store.Store, dir string, _ store.Record) error {
			_, err := s.Register(t.Context(), dir, true)
			return err
		}},
		{"register without an id file", func(t *testing.T, s *store.Store, dir string, _ store.Record) error {
			_, err := s.Register(t.Context(), dir, false)
			return err
		}},
		{"roll back", func(t *testing.T, s *store.Store, dir string, first store.Record) error {
			writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "edited"))
			register(t, s, dir)
			_, err := s.Rollback(t.Context(), dir, first.SkillID)
			return err
		}},
		{"collect", func(t *testing.T, s *store.Store, _ string, _ store.Record) error {
			for _, dryRun := range []bool{true, false} {
				if got, err := s.GC(t.Context(), dryRun); err != nil || got.Temps != 1 {
					t.Errorf("dry run %v: got %+v, %v, want one unfinished file", dryRun, got, err)
				}
			}
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir, first := fixture(t)
			old, young := filepath.Join(dir, ".os-tmp-old"), filepath.Join(dir, ".os-tmp-young")
			writeFile(t, old, "x")
			writeFile(t, young, "x")
			age(t, old)
			wantStatus(t, s, dir, store.Clean)
			if err := tt.do(t, s, dir, first); err != nil {
				t.Fatal(err)
			}
			if exists(old) || !exists(young) {
				t.Errorf("old one there: %v, young one there: %v; want the old one gone", exists(old), exists(young))
			}
			wantStatus(t, s, dir, store.Clean)
		})
	}
}
