package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
)

// fixture is a store with one registered skill and a record made from it.
func fixture(t *testing.T) (s *store.Store, dir string, head store.Record) {
	t.Helper()
	s = open(t, fastDir(t))
	dir = makeSkill(t, fastDir(t), "pdf", "one")
	return s, dir, register(t, s, dir).Record
}

// fix is a correct next version of head.
func fix(head store.Record, id string) store.Record {
	next := head
	next.SkillID = id
	next.Lineage = store.Lineage{Origin: store.OriginFixed, Generation: head.Lineage.Generation + 1,
		ParentSkillIDs: []string{head.SkillID}, Tree: head.Lineage.Tree}
	return next
}

func TestCommitRules(t *testing.T) {
	type c struct {
		expect store.Expect
		ops    []store.Op
	}
	tests := []struct {
		name string
		make func(dir string, head store.Record) c
		want error
	}{
		{"a fix", func(dir string, h store.Record) c {
			return c{store.Expect{dir: h.SkillID}, []store.Op{store.Deactivate(h.SkillID), store.Put(fix(h, "pdf__v1_00000001"))}}
		}, nil},
		{"a fix of an active parent", func(_ string, h store.Record) c {
			r := fix(h, "pdf__v1_00000001")
			r.IsActive = false
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"two heads", func(_ string, h store.Record) c {
			return c{nil, []store.Op{store.Put(fix(h, "pdf__v1_00000001"))}}
		}, store.ErrConflict},
		{"another head than expected", func(dir string, h store.Record) c {
			return c{store.Expect{dir: "somebody"}, []store.Op{store.Deactivate(h.SkillID)}}
		}, store.ErrConflict},
		{"a head where none is expected", func(dir string, h store.Record) c {
			return c{store.Expect{dir: ""}, []store.Op{store.Deactivate(h.SkillID)}}
		}, store.ErrConflict},
		{"wrong generation", func(_ string, h store.Record) c {
			r := fix(h, "pdf__v1_00000001")
			r.Lineage.Generation = 7
			return c{nil, []store.Op{store.Deactivate(h.SkillID), store.Put(r)}}
		}, store.ErrInvalid},
		{"unknown parent", func(_ string, h store.Record) c {
			r := fix(h, "pdf__v1_00000001")
			r.Lineage.ParentSkillIDs = []string{"nobody"}
			return c{nil, []store.Op{store.Deactivate(h.SkillID), store.Put(r)}}
		}, store.ErrInvalid},
		{"two parents of a fix", func(_ string, h store.Record) c {
			r := fix(h, "pdf__v1_00000001")
			r.Lineage.ParentSkillIDs = []string{h.SkillID, h.SkillID}
			return c{nil, []store.Op{store.Deactivate(h.SkillID), store.Put(r)}}
		}, store.ErrInvalid},
		{"derived from one parent twice", func(dir string, h store.Record) c {
			r := fix(h, "pdf2__v0_00000001")
			r.Path = filepath.Join(dir+"2", "SKILL.md")
			r.Lineage.Origin, r.Lineage.ParentSkillIDs = store.OriginDerived, []string{h.SkillID, h.SkillID}
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"derived", func(dir string, h store.Record) c {
			r := fix(h, "pdf2__v0_00000001")
			r.Path = filepath.Join(dir+"2", "SKILL.md")
			r.Lineage.Origin = store.OriginDerived
			return c{store.Expect{dir + "2": ""}, []store.Op{store.Put(r)}}
		}, nil},
		{"derived from nothing", func(dir string, h store.Record) c {
			r := fix(h, "pdf2__v0_00000001")
			r.Path = filepath.Join(dir+"2", "SKILL.md")
			r.Lineage.Origin, r.Lineage.ParentSkillIDs, r.Lineage.Generation = store.OriginDerived, nil, 0
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"captured with a parent", func(dir string, h store.Record) c {
			r := fix(h, "pdf2__v0_00000001")
			r.Path = filepath.Join(dir+"2", "SKILL.md")
			r.Lineage.Origin = store.OriginCaptured
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"an unknown tree", func(_ string, h store.Record) c {
			r := fix(h, "pdf__v1_00000001")
			r.Lineage.Tree = h.Lineage.Tree[1:] + "0"
			return c{nil, []store.Op{store.Deactivate(h.SkillID), store.Put(r)}}
		}, store.ErrNotFound},
		{"another lineage than before", func(_ string, h store.Record) c {
			r := h
			r.Lineage.Generation = 1
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"another description", func(_ string, h store.Record) c {
			r := h
			r.Description = "new words"
			return c{nil, []store.Op{store.Put(r)}}
		}, nil},
		{"a relative path", func(_ string, h store.Record) c {
			r := h
			r.Path = "pdf/SKILL.md"
			return c{nil, []store.Op{store.Put(r)}}
		}, store.ErrInvalid},
		{"a bad id", func(_ string, h store.Record) c { return c{nil, []store.Op{store.Put(fix(h, "a/b"))}} }, store.ErrInvalid},
		{"deactivate nobody", func(string, store.Record) c { return c{nil, []store.Op{store.Deactivate("nobody")}} }, store.ErrNotFound},
		{"delete", func(_ string, h store.Record) c { return c{nil, []store.Op{store.Delete(h.SkillID)}} }, nil},
		{"off and on", func(_ string, h store.Record) c {
			return c{nil, []store.Op{store.Deactivate(h.SkillID), store.Activate(h.SkillID)}}
		}, nil},
		{"an unknown operation", func(_ string, h store.Record) c { return c{nil, []store.Op{{Op: "paint", ID: h.SkillID}}} }, store.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir, head := fixture(t)
			before, _ := s.Stats()
			in := tt.make(dir, head)
			err := s.Commit(t.Context(), in.expect, in.ops...)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			after, _ := s.Stats()
			if err != nil && before != after {
				t.Errorf("got %+v after a refusal, want %+v", after, before)
			}
			checkSound(t, s)
			checkSound(t, open(t, s.Home()))
		})
	}
}

func TestConflictErrorNamesHeads(t *testing.T) {
	s, dir, head := fixture(t)
	err := s.Commit(t.Context(), store.Expect{dir: "x"}, store.Deactivate(head.SkillID))
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || conflict.Dir != dir || conflict.Have != head.SkillID || conflict.Want != "x" {
		t.Errorf("got %v, want folder and both ids", err)
	}
}

func TestDeleteForgetsRecord(t *testing.T) {
	s, dir, head := fixture(t)
	if err := s.Commit(t.Context(), nil, store.Delete(head.SkillID)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Record(head.SkillID); ok || err != nil {
		t.Errorf("got %v, %v, want the record gone", ok, err)
	}
	wantStatus(t, s, dir, store.Unregistered)
	if again := register(t, s, dir); again.Record.SkillID != head.SkillID || again.Change != store.Imported {
		t.Errorf("got %+v, want an import under the id of the sidecar", again)
	}
}

// The clock is written down and never relied on: order is the order of lines.
func TestClockGoesBackwards(t *testing.T) {
	clock := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := openWith(t, fastDir(t), store.Options{Now: func() time.Time {
		clock = clock.Add(-time.Hour)
		return clock
	}})
	dir := makeSkill(t, fastDir(t), "pdf", "one")
	register(t, s, dir)
	for _, body := range []string{"two", "three", "four"} {
		writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", body))
		register(t, s, dir)
	}
	versions, err := s.Versions(dir)
	if err != nil || len(versions) != 4 {
		t.Fatalf("got %d versions, %v, want 4", len(versions), err)
	}
	for i, r := range versions {
		if r.Lineage.Generation != i || r.IsActive != (i == 3) {
			t.Errorf("got generation %d, active %v at %d", r.Lineage.Generation, r.IsActive, i)
		}
	}
	wantStatus(t, open(t, s.Home()), dir, store.Clean)
	checkSound(t, s)
}

func TestGraph(t *testing.T) {
	s, dir, head := fixture(t)
	other := register(t, s, makeSkill(t, filepath.Dir(dir), "csv", "one")).Record
	child, err := s.Create(t.Context(), filepath.Join(filepath.Dir(dir), "both"),
		store.Record{Lineage: store.Lineage{Origin: store.OriginDerived, ParentSkillIDs: []string{other.SkillID, head.SkillID}}},
		func(stage string) error {
			writeFile(t, filepath.Join(stage, "SKILL.md"), text("both", "merged"))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := child.Lineage.ParentSkillIDs; got[0] != other.SkillID || got[1] != head.SkillID || child.Lineage.Generation != 1 {
		t.Errorf("got %+v, want the parents in their order and generation 1", child.Lineage)
	}
	next, err := s.Replace(t.Context(), child.Dir(), child.SkillID, store.Record{}, func(stage string) error {
		writeFile(t, filepath.Join(stage, "SKILL.md"), text("both", "fixed"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(rs []store.Record, err error) (out []string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rs {
			out = append(out, r.SkillID)
		}
		return out
	}
	if got := ids(s.Children(head.SkillID)); len(got) != 1 || got[0] != child.SkillID {
		t.Errorf("got children %q", got)
	}
	if got := ids(s.Ancestors(next.SkillID)); len(got) != 3 || got[2] != child.SkillID {
		t.Errorf("got ancestors %q, want three", got)
	}
	if got := ids(s.Line(child.SkillID)); len(got) != 2 || got[0] != child.SkillID || got[1] != next.SkillID {
		t.Errorf("got line %q, want the derived one and its fix", got)
	}
	if got := ids(s.WithTree(next.Lineage.Tree)); len(got) != 1 || got[0] != next.SkillID {
		t.Errorf("got %q with that tree", got)
	}
	if got := ids(s.Line("nobody")); got != nil {
		t.Errorf("got %q for an unknown id", got)
	}
	checkSound(t, s)
}

func TestFamily(t *testing.T) {
	s, dir, head := fixture(t)
	other := makeSkill(t, filepath.Dir(dir), "other", "two")
	second := register(t, s, other).Record
	child := fix(head, "both__v0_00000001")
	child.Path = filepath.Join(filepath.Dir(dir), "both", "SKILL.md")
	child.Lineage.Origin, child.Lineage.ParentSkillIDs = store.OriginDerived, []string{head.SkillID, second.SkillID}
	next := fix(head, "pdf__v1_00000001")
	if err := s.Commit(t.Context(), nil, store.Put(child), store.Deactivate(head.SkillID), store.Put(next)); err != nil {
		t.Fatal(err)
	}
	register(t, s, makeSkill(t, filepath.Dir(dir), "stranger", "three"))
	for _, id := range []string{head.SkillID, second.SkillID, child.SkillID, next.SkillID} {
		family, err := s.Family(id)
		if err != nil || len(family) != 4 || family[0].Lineage.Generation != 0 || family[3].Lineage.Generation != 1 {
			t.Errorf("%s: got %d records, %v, want 4", id, len(family), err)
		}
	}
	if family, err := s.Family("nobody"); err != nil || family != nil {
		t.Errorf("got %v, %v, want none", family, err)
	}
}
