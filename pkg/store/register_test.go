package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestMovedFolderKeepsItsRecord(t *testing.T) {
	for _, sidecar := range []bool{true, false} {
		s, dir, head := fixture(t)
		judge(t, s, "t")
		if !sidecar {
			if err := os.Remove(filepath.Join(dir, skill.IDFile)); err != nil {
				t.Fatal(err)
			}
		}
		to := filepath.Join(filepath.Dir(dir), "deep", "moved")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		rename(t, dir, to)
		wantStatus(t, s, dir, store.Missing)
		wantStatus(t, s, to, store.Unregistered)
		if id, err := s.Identify(to, "pdf"); err != nil || sidecar && (!id.Moved || id.ID != head.SkillID) {
			t.Errorf("got %+v, %v, want %q moved", id, err, head.SkillID)
		}
		got := register(t, s, to)
		if got.Change != store.Moved || got.Record.SkillID != head.SkillID || got.Record.Dir() != to {
			t.Errorf("sidecar %v: got %+v, want %q moved to %q", sidecar, got, head.SkillID, to)
		}
		if _, ok, _ := s.HeadAt(dir); ok {
			t.Error("got a head at the old place")
		}
		wantStatus(t, s, to, store.Clean)
		if versions, err := s.Versions(to); err != nil || len(versions) != 1 {
			t.Errorf("got %d versions, %v, want 1", len(versions), err)
		}
		checkSound(t, s)
	}
}

func TestMovedAndEditedFolder(t *testing.T) {
	s, dir, head := fixture(t)
	to := dir + "-new"
	rename(t, dir, to)
	writeFile(t, filepath.Join(to, "SKILL.md"), text("pdf", "edited"))
	got := register(t, s, to)
	if got.Change != store.Edited || got.Record.Lineage.ParentSkillIDs[0] != head.SkillID || got.Record.Dir() != to {
		t.Errorf("got %+v, want a version after %q", got, head.SkillID)
	}
	wantStatus(t, s, to, store.Clean)
	checkSound(t, s)
}

func TestMovedFolderWithOldID(t *testing.T) {
	s, dir, first := fixture(t)
	writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "two"))
	second, err := s.Register(t.Context(), dir, false) // the id file stays behind
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := skill.ReadID(dir); id != first.SkillID {
		t.Fatalf("got id file %q, want that of the first version", id)
	}
	to := dir + "-new"
	rename(t, dir, to)
	if got := register(t, s, to); got.Record.SkillID != second.Record.SkillID || got.Change != store.Moved {
		t.Errorf("got %+v, want the head of the line moved", got)
	}
	checkSound(t, s)
}

func TestCopiedFolderGetsItsOwnID(t *testing.T) {
	s, dir, head := fixture(t)
	to := dir + "-copy"
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	id, err := s.Identify(to, "pdf")
	if err != nil || !id.Copy || id.Known || id.ID == head.SkillID {
		t.Errorf("got %+v, %v, want a copy with another id", id, err)
	}
	got := register(t, s, to)
	if got.Change != store.Copied || got.Record.SkillID != id.ID || got.Record.Lineage.Origin != store.OriginImported {
		t.Errorf("got %+v, want a copy under %q", got, id.ID)
	}
	if side, _ := skill.ReadID(to); side != got.Record.SkillID {
		t.Errorf("got id file %q, want %q", side, got.Record.SkillID)
	}
	for _, d := range []string{dir, to} {
		wantStatus(t, s, d, store.Clean)
		if again := register(t, s, d); again.Change != store.NoChange {
			t.Errorf("got %+v for %s, want nothing to do", again, d)
		}
	}
	checkSound(t, s)
}

func TestDeletedFolderComesBack(t *testing.T) {
	s, dir, head := fixture(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, s, dir, store.Missing)
	if err := s.Commit(t.Context(), store.Expect{dir: head.SkillID}, store.Deactivate(head.SkillID)); err != nil {
		t.Fatal(err)
	}
	makeSkill(t, filepath.Dir(dir), "pdf", "one")
	got := register(t, s, dir)
	if got.Record.SkillID != head.SkillID || !got.Record.IsActive {
		t.Errorf("got %+v, want the old record active again", got.Record)
	}
	wantStatus(t, s, dir, store.Clean)
	checkSound(t, s)
}

func TestLinkedFolderIsOneFolder(t *testing.T) {
	s, dir, head := fixture(t)
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got := register(t, s, link); got.Change != store.NoChange || got.Record.SkillID != head.SkillID {
		t.Errorf("got %+v, want the record of the target", got)
	}
}

func TestFolderNamesAreNotPrefixes(t *testing.T) {
	s, dir, _ := fixture(t)
	for _, other := range []string{dir + "x", filepath.Dir(dir), filepath.Join(dir, "sub"), dir[:len(dir)-1] + "_"} {
		if _, ok, err := s.HeadAt(other); ok || err != nil {
			t.Errorf("got a head at %q, %v", other, err)
		}
	}
}

func TestRegisterRefusesWhatIsNoSkill(t *testing.T) {
	s := open(t, fastDir(t))
	empty := fastDir(t)
	writeFile(t, filepath.Join(empty, "README.md"), "no skill\n")
	if _, err := s.Register(t.Context(), empty, true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	broken := fastDir(t)
	writeFile(t, filepath.Join(broken, "SKILL.md"), "\xff\xfe\x00")
	if _, err := s.Register(t.Context(), broken, true); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want not valid", err)
	}
	if _, err := s.Register(t.Context(), "a\xffb", true); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v for a path that is not UTF-8, want not valid", err)
	}
}
