package store

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Commit changes records, all of ops or none. It fails with ErrConflict when a
// folder named in expect has another active record, or would get two; with
// ErrInvalid when a record breaks a rule of the version graph; with
// ErrNotFound when an op names an unknown record or a tree is not stored.
//
// Zero times, nil lists, an empty category and an empty visibility of a put
// record get their defaults. The lineage of a record that exists already must
// be what it was.
func (s *Store) Commit(ctx context.Context, expect Expect, ops ...Op) error {
	return s.writing(ctx, func(v *view) error { return s.commit(v, expect, ops...) })
}

// commit is Commit inside writing.
func (s *Store) commit(v *view, expect Expect, ops ...Op) error {
	c := &commit{Ops: ops, Expect: expect}
	for _, op := range ops {
		if op.Record != nil {
			s.complete(op.Record)
		}
	}
	if err := s.check(v, c); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return s.append(true, &event{Op: opCommit, Commit: c})
}

// complete gives a record its defaults.
func (s *Store) complete(r *Record) {
	now := s.opts.Now().UTC()
	r.Category = cmp.Or(r.Category, "workflow")
	r.Visibility = cmp.Or(r.Visibility, "private")
	for _, list := range []*[]string{&r.Tags, &r.ToolDependencies, &r.CriticalTools, &r.Lineage.ParentSkillIDs} {
		*list = orEmpty(*list)
	}
	for _, t := range []*time.Time{&r.FirstSeen, &r.Lineage.CreatedAt} {
		if t.IsZero() {
			*t = now
		}
		*t = t.UTC()
	}
	r.LastUpdated = now
}

// check applies a commit to the view and takes it back.
func (s *Store) check(v *view, c *commit) error {
	put := map[string]Record{}
	for _, op := range c.Ops {
		if op.Record == nil {
			continue
		}
		if err := s.checkRecord(v, *op.Record); err != nil {
			return fmt.Errorf("record %q: %w", op.Record.SkillID, err)
		}
		put[op.Record.SkillID] = *op.Record
	}
	v.begin()
	defer v.end(false)
	if err := v.commit(c, place{}, s.opts.Now(), true); err != nil {
		return err
	}
	for id, r := range put {
		if err := s.checkParents(v, r, put); err != nil {
			return fmt.Errorf("record %q: %w", id, err)
		}
	}
	return nil
}

// checkRecord checks a record by itself and against the one it replaces.
func (s *Store) checkRecord(v *view, r Record) error {
	switch {
	case !validID(r.SkillID):
		return fmt.Errorf("%w: its id", ErrInvalid)
	case !filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path:
		return fmt.Errorf("%w: path %q is not absolute and clean", ErrInvalid, r.Path)
	}
	old, ok, err := s.load(v, r.SkillID)
	if err != nil {
		return err
	}
	if ok && !sameLineage(old.Lineage, r.Lineage) {
		return fmt.Errorf("%w: its lineage is another than before", ErrInvalid)
	}
	return s.haveTree(r.Lineage.Tree)
}

func sameLineage(a, b Lineage) bool {
	return a.Origin == b.Origin && a.Generation == b.Generation && a.Tree == b.Tree && slices.Equal(a.ParentSkillIDs, b.ParentSkillIDs)
}

// checkParents checks the edges of the version graph after a commit.
func (s *Store) checkParents(v *view, r Record, put map[string]Record) error {
	l := r.Lineage
	highest, seen := -1, map[string]bool{}
	for _, id := range l.ParentSkillIDs {
		parent, ok := put[id]
		if !ok {
			var err error
			if parent, ok, err = s.load(v, id); err != nil {
				return err
			}
		}
		if !ok {
			return fmt.Errorf("%w: parent %q does not exist", ErrInvalid, id)
		}
		if seen[id] {
			return fmt.Errorf("%w: parent %q is named twice", ErrInvalid, id)
		}
		seen[id] = true
		highest = max(highest, parent.Lineage.Generation)
	}
	if err := checkOrigin(l, highest); err != nil {
		return err
	}
	if l.Origin != OriginFixed {
		return nil
	}
	if parent, _ := v.row(l.ParentSkillIDs[0]); parent.active {
		return fmt.Errorf("%w: parent %q of a fix is still active", ErrInvalid, l.ParentSkillIDs[0])
	}
	return nil
}

// checkOrigin checks number of parents and generation; highest is the highest
// generation of the parents, -1 without any.
func checkOrigin(l Lineage, highest int) error {
	n := len(l.ParentSkillIDs)
	switch l.Origin {
	case OriginImported, OriginCaptured:
		if n != 0 {
			return fmt.Errorf("%w: origin %q with %d parents", ErrInvalid, l.Origin, n)
		}
	case OriginFixed:
		if n != 1 {
			return fmt.Errorf("%w: origin %q with %d parents, want one", ErrInvalid, l.Origin, n)
		}
	case OriginDerived:
		if n == 0 {
			return fmt.Errorf("%w: origin %q without a parent", ErrInvalid, l.Origin)
		}
	case "":
		return fmt.Errorf("%w: no origin", ErrInvalid)
	}
	if l.Generation != highest+1 {
		return fmt.Errorf("%w: generation %d, want %d", ErrInvalid, l.Generation, highest+1)
	}
	return nil
}
