package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// staged writes a skill into a stage beside its place.
func staged(t testing.TB, root, name, id string) store.Placement {
	t.Helper()
	stage := filepath.Join(root, ".os-stage-"+name)
	writeFile(t, filepath.Join(stage, "SKILL.md"), text(name, "body"))
	return store.Placement{Stage: stage, Dir: filepath.Join(root, name), Record: store.Record{SkillID: id, CreatorID: "ada", Visibility: "public"}}
}

func wantID(t testing.TB, dir, want string) {
	t.Helper()
	if got, _ := skill.ReadID(dir); got != want {
		t.Errorf("got .skill_id %q in %s, want %q", got, dir, want)
	}
}

func TestPlaceMany(t *testing.T) {
	s, root := open(t, t.TempDir()), t.TempDir()
	var ps []store.Placement
	for i := range 40 {
		ps = append(ps, staged(t, root, fmt.Sprintf("s%d", i), fmt.Sprintf("s%d__clo_%08d", i, i)))
	}
	for i, p := range s.Place(t.Context(), ps) {
		dir := ps[i].Dir
		if p.Err != nil || p.Record.SkillID != ps[i].Record.SkillID || p.Record.Lineage.Origin != store.OriginImported || p.Record.CreatorID != "ada" {
			t.Fatalf("got %+v", p)
		}
		wantStatus(t, s, dir, store.Clean)
		wantID(t, dir, ps[i].Record.SkillID)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".os-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if reg := register(t, s, ps[0].Dir); reg.Change != store.NoChange {
		t.Errorf("got %+v, want what is there", reg)
	}
}

// One bad placement does not keep the others out.
func TestPlaceRefusals(t *testing.T) {
	s, root := open(t, t.TempDir()), t.TempDir()
	makeSkill(t, root, "there", "mine")
	empty := staged(t, root, "empty", "empty__clo_1")
	if err := os.Remove(filepath.Join(empty.Stage, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	badID := staged(t, root, "bad", "../x")
	ps := []store.Placement{staged(t, root, "there", "there__clo_1"), empty, badID, staged(t, root, "good", "good__clo_1")}
	got := s.Place(t.Context(), ps)
	for i, want := range []error{store.ErrExists, store.ErrNotFound, store.ErrInvalid, nil} {
		if !errors.Is(got[i].Err, want) {
			t.Errorf("%s: got %v, want %v", ps[i].Dir, got[i].Err, want)
		}
	}
	if readFile(t, filepath.Join(root, "there", "SKILL.md")) != text("there", "mine") {
		t.Error("an existing folder was touched")
	}
	wantStatus(t, s, ps[3].Dir, store.Clean)
}

// The store has one record per id, so a second folder of the same skill has none; it is in place nevertheless.
func TestPlaceTheSameSkillTwice(t *testing.T) {
	s, a, b := open(t, t.TempDir()), t.TempDir(), t.TempDir()
	first := staged(t, a, "pdf", "pdf__clo_1")
	if got := s.Place(t.Context(), []store.Placement{first}); got[0].Err != nil {
		t.Fatal(got[0].Err)
	}
	second := staged(t, b, "pdf", "pdf__clo_1")
	if got := s.Place(t.Context(), []store.Placement{second}); got[0].Err != nil || got[0].Record.SkillID != "" {
		t.Errorf("got %+v", got[0])
	}
	wantID(t, second.Dir, "pdf__clo_1")
	// A folder that was removed by hand can come again, to the same place or to another.
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	again := staged(t, a, "pdf", "pdf__clo_1")
	if got := s.Place(t.Context(), []store.Placement{again}); got[0].Err != nil {
		t.Errorf("got %+v", got[0])
	}
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	other := staged(t, a, "pdf", "other__clo_2")
	if got := s.Place(t.Context(), []store.Placement{other}); got[0].Err != nil || got[0].Record.SkillID != "other__clo_2" {
		t.Errorf("got %+v", got[0])
	}
	wantStatus(t, s, other.Dir, store.Clean)
}

func TestAdoptGivesIDs(t *testing.T) {
	s, root := open(t, t.TempDir()), t.TempDir()
	fresh := makeSkill(t, root, "fresh", "body")
	known := makeSkill(t, root, "known", "body")
	first := register(t, s, known)
	writeFile(t, filepath.Join(known, "SKILL.md"), text("known", "better"))
	fixed := register(t, s, known)
	edited := makeSkill(t, root, "edited", "body")
	register(t, s, edited)
	writeFile(t, filepath.Join(edited, "SKILL.md"), text("edited", "by hand"))

	errs := s.Adopt(t.Context(), []store.Adoption{
		{Dir: fresh, ID: "fresh__clo_1", CreatorID: "ada"}, {Dir: known, ID: "known__clo_1", Visibility: "public"}, {Dir: edited, ID: "edited__clo_1"},
	})
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], store.ErrConflict) {
		t.Fatalf("got %v", errs)
	}
	wantID(t, fresh, "fresh__clo_1")
	wantID(t, known, "known__clo_1")
	for _, dir := range []string{fresh, known} {
		wantStatus(t, s, dir, store.Clean)
	}
	head, ok, err := s.HeadAt(known)
	if err != nil || !ok || head.SkillID != "known__clo_1" || head.Visibility != "public" || head.Lineage.ParentSkillIDs[0] != first.Record.SkillID {
		t.Errorf("got %+v, %v, %v, want the lineage of %s", head, ok, err, fixed.Record.SkillID)
	}
	if old, ok, err := s.Record(fixed.Record.SkillID); err != nil || !ok || old.IsActive {
		t.Errorf("got %+v, %v, %v, want an inactive record", old, ok, err)
	}
	// The next version has the new id as its parent.
	writeFile(t, filepath.Join(known, "SKILL.md"), text("known", "best"))
	if next := register(t, s, known); next.Record.Lineage.ParentSkillIDs[0] != "known__clo_1" {
		t.Errorf("got parents %q", next.Record.Lineage.ParentSkillIDs)
	}
	if errs := s.Adopt(t.Context(), []store.Adoption{{Dir: fresh, ID: "fresh__clo_1"}}); errs[0] != nil {
		t.Errorf("a second time: %v", errs[0])
	}
	if errs := s.Adopt(t.Context(), []store.Adoption{{Dir: known, ID: "fresh__clo_1"}, {Dir: known, ID: "x"}}); !errors.Is(errs[0], store.ErrConflict) || !errors.Is(errs[1], store.ErrConflict) {
		t.Errorf("an id that another folder has: got %v", errs)
	}
}

// A replacement that came from elsewhere keeps the id that it has there.
func TestReplaceTakesAnID(t *testing.T) {
	s, dir := open(t, t.TempDir()), makeSkill(t, t.TempDir(), "pdf", "body")
	reg := register(t, s, dir)
	edit := func(body string) func(string) error {
		return func(stage string) error {
			return os.WriteFile(filepath.Join(stage, "SKILL.md"), []byte(text("pdf", body)), 0o644)
		}
	}
	rec, err := s.Replace(t.Context(), dir, "", store.Record{SkillID: "pdf__clo_2"}, edit("two"))
	if err != nil || rec.SkillID != "pdf__clo_2" || rec.Lineage.ParentSkillIDs[0] != reg.Record.SkillID {
		t.Fatalf("got %+v, %v", rec, err)
	}
	wantID(t, dir, "pdf__clo_2")
	rec, err = s.Replace(t.Context(), dir, "", store.Record{SkillID: reg.Record.SkillID}, edit("three"))
	if err != nil || rec.SkillID == reg.Record.SkillID {
		t.Errorf("an id that is known: got %+v, %v, want a new one", rec, err)
	}
}
