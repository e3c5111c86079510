package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Change is what Register found to do.
type Change string

// What Register did.
const (
	NoChange Change = ""         // the folder was recorded as it is
	Imported Change = "imported" // new to the store
	Copied   Change = "copied"   // new; its .skill_id was that of another folder
	Moved    Change = "moved"    // its record has a new path
	Edited   Change = "edited"   // a hand edit became a version
)

// Registered is the outcome of Register.
type Registered struct {
	Record Record
	// Change is the last of what was done: a folder that was moved and edited
	// is Edited.
	Change Change
}

// Register makes sure that the store has the folder as it is now: an unknown
// one is imported, one that has moved gets its new path, a hand edit becomes a
// fixed version made by "human". With sidecar the folder's .skill_id is
// written too, if it can be. A folder without a usable skill is ErrNotFound or
// ErrInvalid.
func (s *Store) Register(ctx context.Context, dir string, sidecar bool) (Registered, error) {
	dir, err := Canonical(dir)
	if err != nil {
		return Registered{}, err
	}
	// Nothing to do is the usual case, and needs no lock.
	if have, _ := skill.ReadID(dir); have != "" || !sidecar {
		if head, ok, err := s.HeadAt(dir); err == nil && ok && (have == head.SkillID || !sidecar) {
			if status, err := s.Status(dir); err == nil && status == Clean && !unswept(dir) {
				return Registered{Record: head}, nil
			}
		}
	}
	l, err := s.lockDir(ctx, dir)
	if err != nil {
		return Registered{}, err
	}
	out, err := s.register(ctx, dir)
	if err == nil && sidecar {
		err = s.writeID(dir, out.Record.SkillID)
	}
	if err := errors.Join(err, l.Unlock()); err != nil {
		return Registered{}, fmt.Errorf("register %q: %w", dir, err)
	}
	return out, nil
}

// unswept reports whether a process that died has left an unfinished file in a
// skill folder.
func unswept(dir string) bool {
	stale, _ := atomicfile.Stale(dir, gcAge)
	return len(stale) > 0
}

// register is Register with the folder's lock held.
func (s *Store) register(ctx context.Context, dir string) (Registered, error) {
	rec, err := loadRecord(dir)
	if err != nil {
		return Registered{}, err
	}
	tree, err := Snapshot(dir)
	if err != nil {
		return Registered{}, err
	}
	rec.Lineage.Tree = tree.Hash
	id, err := s.Identify(dir, rec.Name)
	if err != nil {
		return Registered{}, err
	}
	if !id.Known {
		if id, err = s.findMoved(id, tree.Hash); err != nil {
			return Registered{}, err
		}
	}
	out := Registered{Record: id.Record}
	if id.Known && (id.Moved || !id.Record.IsActive) {
		if out, err = s.move(ctx, id, rec.Path); err != nil {
			return out, err
		}
	}
	if id.Known && id.Record.Lineage.Tree == tree.Hash {
		return out, nil
	}
	if err := s.saveTree(dir, tree); err != nil {
		return out, err
	}
	if id.Known {
		out.Change = Edited
		out.Record, err = s.succeed(ctx, out.Record, rec)
		return out, err
	}
	out.Change = Imported
	if id.Copy {
		out.Change = Copied
	}
	out.Record, err = s.importNew(ctx, id.ID, rec)
	return out, err
}

// loadRecord reads what a record says about the skill in a folder.
func loadRecord(dir string) (Record, error) {
	sk, problems, err := skill.Load(dir)
	if err != nil {
		return Record{}, err
	}
	if sk == nil {
		kind := ErrInvalid
		if file, _ := skill.Find(dir); file == "" {
			kind = ErrNotFound
		}
		for _, p := range problems {
			return Record{}, fmt.Errorf("skill in %q: %w: %s", dir, kind, p.Message)
		}
		return Record{}, fmt.Errorf("skill in %q: %w", dir, kind)
	}
	file, _ := skill.Find(dir)
	return Record{Name: sk.Name, Description: sk.Description, Tags: slices.Clone(sk.Tags), Path: filepath.Join(dir, filepath.Base(file)), IsActive: true}, nil
}

// findMoved looks for an active record with exactly these files whose folder is
// gone: a move from or to a folder that cannot hold a .skill_id.
func (s *Store) findMoved(id Identity, tree string) (Identity, error) {
	same, err := s.WithTree(tree)
	same = slices.DeleteFunc(same, func(r Record) bool { return !r.IsActive || skillFolder(r.Dir()) })
	if err == nil && len(same) == 1 && !id.Copy {
		id.ID, id.Record, id.Known, id.Moved = same[0].SkillID, same[0], true, true
	}
	return id, err
}

// move gives a record a new path, and makes it active if it was not.
func (s *Store) move(ctx context.Context, id Identity, path string) (Registered, error) {
	rec := id.Record
	rec.Path, rec.IsActive = path, true
	err := s.Commit(ctx, Expect{id.Dir: ""}, Put(rec))
	change := Moved
	if !id.Moved {
		change = NoChange
	}
	return Registered{Record: rec, Change: change}, err
}

// importNew records a folder that the store did not know.
func (s *Store) importNew(ctx context.Context, id string, rec Record) (Record, error) {
	rec.SkillID = id
	rec.Lineage.Origin = OriginImported
	return s.put(ctx, Expect{rec.Dir(): ""}, rec)
}

// succeed records a hand edit as the version after head.
func (s *Store) succeed(ctx context.Context, head, rec Record) (Record, error) {
	next := nextVersion(head, rec)
	next.Lineage.CreatedBy = Human
	next.Lineage.ChangeSummary = "edited by hand"
	return s.put(ctx, Expect{head.Dir(): head.SkillID}, next, Deactivate(head.SkillID))
}

// nextVersion is a fix of head with the name, description and tree of rec.
func nextVersion(head, rec Record) Record {
	next := head
	next.Name, next.Description, next.Path = rec.Name, rec.Description, rec.Path
	next.IsActive = true
	if rec.Tags != nil {
		next.Tags = rec.Tags
	}
	generation := head.Lineage.Generation + 1
	next.SkillID = skill.NewID(rec.Name, "v"+strconv.Itoa(generation))
	next.Lineage = Lineage{Origin: OriginFixed, Generation: generation, ParentSkillIDs: []string{head.SkillID}, Tree: rec.Lineage.Tree}
	next.FirstSeen = rec.FirstSeen
	return next
}

// put commits a record after other ops and returns it as it was stored.
func (s *Store) put(ctx context.Context, expect Expect, rec Record, before ...Op) (Record, error) {
	op := Put(rec)
	if err := s.Commit(ctx, expect, append(before, op)...); err != nil {
		return Record{}, err
	}
	return *op.Record, nil
}
