package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// Replace changes the skill in a folder and records it as the fixed version
// after its head. edit gets a folder with a copy of the files of the skill and
// changes them; what it leaves there is checked, swapped in and committed, all
// or nothing. The folder's own id file and whatever does not belong to the
// skill stay as they are in the live folder.
//
// A folder that is not recorded, or was edited by hand, is registered first.
// expectHead, if not empty, is the id that must be the head after that, else
// ErrConflict. Of rec these count: Lineage.SourceTaskID, ChangeSummary,
// CreatedBy and Restores, and where not empty Category, Tags, Visibility,
// CreatorID, ToolDependencies and CriticalTools, and SkillID as long as no record
// has it; all else follows from the head and the files. An edit that changes nothing is ErrUnchanged, one that leaves
// no usable skill ErrInvalid; an error of edit is returned as it is. The
// folder's lock is held meanwhile, the journal's only for the commit.
func (s *Store) Replace(ctx context.Context, dir, expectHead string, rec Record, edit func(stage string) error) (Record, error) {
	return s.revising(ctx, dir, func(head Record, before listing) (Record, error) {
		if expectHead != "" && head.SkillID != expectHead {
			return Record{}, &ConflictError{Dir: head.Dir(), Want: expectHead, Have: head.SkillID}
		}
		return s.replace(ctx, head, before, rec, func(stage string) error {
			if err := s.writeTree(head.Lineage.Tree, stage, modeLike(head.Dir())); err != nil {
				return err
			}
			return edit(stage)
		})
	})
}

// Rollback puts the files of any version of the folder's line back, as a new
// fixed version made by "human" that names what it restores. Hand edits are
// recorded first, so that nothing is lost. ErrUnchanged: the folder is like
// that already. ErrNotFound: the id is not in the line of this folder.
func (s *Store) Rollback(ctx context.Context, dir, id string) (Record, error) {
	return s.revising(ctx, dir, func(head Record, before listing) (Record, error) {
		target, err := s.versionAt(head.Dir(), id)
		if err != nil {
			return Record{}, err
		}
		rec := Record{Lineage: Lineage{ChangeSummary: "roll back to " + id, CreatedBy: Human, Restores: id}}
		return s.replace(ctx, head, before, rec, func(stage string) error {
			return s.writeTree(target.Lineage.Tree, stage, modeLike(head.Dir()))
		})
	})
}

func (s *Store) versionAt(dir, id string) (Record, error) {
	versions, err := s.Versions(dir)
	for _, r := range versions {
		if r.SkillID == id {
			return r, err
		}
	}
	return Record{}, errors.Join(err, fmt.Errorf("version %q: %w", id, ErrNotFound))
}

// Create makes a new skill folder and records it. fill writes the files into
// the empty folder that it is given. Of rec these count: SkillID (empty: a new
// one is made), Lineage.Origin (captured if empty), ParentSkillIDs and the
// fields that Replace takes. A folder that exists is ErrExists and is not
// touched, and so is an id that exists.
func (s *Store) Create(ctx context.Context, dir string, rec Record, fill func(stage string) error) (Record, error) {
	return s.changing(ctx, dir, func(dir string) (Record, error) {
		if exists(dir) {
			return Record{}, ErrExists
		}
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return Record{}, err
		}
		rec.Lineage.Origin = cmp.Or(rec.Lineage.Origin, OriginCaptured)
		var err error
		if rec.Lineage.Generation, err = s.generationAfter(rec.Lineage.ParentSkillIDs); err != nil {
			return Record{}, err
		}
		c := change{s: s, in: s.newIntent(kindCreate, dir, "")}
		return c.run(ctx, fill, func(found Record) Record {
			rec.Name, rec.Description, rec.IsActive = found.Name, found.Description, true
			rec.Path, rec.Lineage.Tree = found.Path, found.Lineage.Tree
			if rec.Tags == nil {
				rec.Tags = found.Tags
			}
			if rec.SkillID == "" {
				rec.SkillID = skill.NewID(rec.Name, newKind(rec.Lineage.Origin))
			}
			return rec
		})
	})
}

func newKind(origin string) string {
	if origin == OriginImported {
		return "imp"
	}
	return "v0"
}

func (s *Store) generationAfter(parents []string) (int, error) {
	generation := 0
	for _, id := range parents {
		parent, ok, err := s.Record(id)
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, fmt.Errorf("parent %q: %w", id, ErrNotFound)
		}
		generation = max(generation, parent.Lineage.Generation+1)
	}
	return generation, nil
}

// changing runs fn with the lock of the folder.
func (s *Store) changing(ctx context.Context, dir string, fn func(dir string) (Record, error)) (Record, error) {
	dir, err := Canonical(dir)
	if err != nil {
		return Record{}, err
	}
	l, err := s.lockDir(ctx, dir)
	if err != nil {
		return Record{}, err
	}
	rec, err := fn(dir)
	if err := errors.Join(err, l.Unlock()); err != nil {
		return Record{}, fmt.Errorf("change folder %q: %w", dir, err)
	}
	return rec, nil
}

// revising runs fn with the lock of a folder and its head, which is recorded as
// the folder is now. before is how the folder looked before that.
func (s *Store) revising(ctx context.Context, dir string, fn func(head Record, before listing) (Record, error)) (Record, error) {
	return s.changing(ctx, dir, func(dir string) (Record, error) {
		before, err := list(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return Record{}, ErrNotFound
		}
		if err != nil {
			return Record{}, err
		}
		reg, err := s.register(ctx, dir)
		if err != nil {
			return Record{}, err
		}
		return fn(reg.Record, before)
	})
}

func (s *Store) replace(ctx context.Context, head Record, before listing, rec Record, fill func(stage string) error) (Record, error) {
	c := change{s: s, in: s.newIntent(kindReplace, head.Dir(), head.SkillID), head: head, before: before}
	_, known, err := s.Record(rec.SkillID)
	if err != nil {
		return Record{}, err
	}
	return c.run(ctx, fill, func(found Record) Record {
		next := nextVersion(head, found)
		if rec.SkillID != "" && !known {
			next.SkillID = rec.SkillID
		}
		next.Lineage.SourceTaskID, next.Lineage.ChangeSummary = rec.Lineage.SourceTaskID, rec.Lineage.ChangeSummary
		next.Lineage.CreatedBy, next.Lineage.Restores = rec.Lineage.CreatedBy, rec.Lineage.Restores
		next.Category = cmp.Or(rec.Category, next.Category)
		next.Visibility = cmp.Or(rec.Visibility, next.Visibility)
		next.CreatorID = cmp.Or(rec.CreatorID, next.CreatorID)
		for _, l := range []struct{ to, from *[]string }{
			{&next.Tags, &rec.Tags}, {&next.ToolDependencies, &rec.ToolDependencies}, {&next.CriticalTools, &rec.CriticalTools},
		} {
			if len(*l.from) > 0 {
				*l.to = *l.from
			}
		}
		return next
	})
}

// change is one folder change under way; docs/format-store.md has the steps.
type change struct {
	s      *Store
	in     intent
	head   Record  // of the folder; zero for a new one
	before listing // the folder as it was before anything was read from it
}

func (c *change) run(ctx context.Context, fill func(stage string) error, describe func(found Record) Record) (Record, error) {
	if err := c.s.saveIntent(c.in); err != nil {
		return Record{}, err
	}
	rec, err := c.stage(fill, describe)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		rec, err = c.apply(ctx, rec)
	}
	if errors.Is(err, errStuck) {
		return Record{}, err
	}
	// What is left behind when this fails is found by the next writer.
	_ = c.s.clean(c.in)
	return rec, err
}

// errStuck: neither the change nor its undoing worked; the intent stays.
var errStuck = errors.New("folder could not be put back")

// stage builds the new content and writes down that it is ready.
func (c *change) stage(fill func(stage string) error, describe func(found Record) Record) (Record, error) {
	s, stage := c.s, c.in.Stage
	mode := fs.FileMode(0o755)
	if c.before != nil {
		mode = 0o700 // until it gets that of the live folder
	}
	if err := os.Mkdir(stage, mode); err != nil {
		return Record{}, err
	}
	s.fault("stage:made")
	if err := fill(stage); err != nil {
		return Record{}, err
	}
	s.fault("stage:filled")
	found, err := loadRecord(stage)
	if err != nil {
		return Record{}, err
	}
	tree, err := Snapshot(stage)
	if err != nil {
		return Record{}, err
	}
	if tree.Hash == c.head.Lineage.Tree {
		return Record{}, ErrUnchanged
	}
	found.Path = filepath.Join(c.in.Dir, filepath.Base(found.Path))
	found.Lineage.Tree = tree.Hash
	rec := describe(found)
	if err := c.finish(rec.SkillID, tree); err != nil {
		return Record{}, err
	}
	c.in.NewID, c.in.Tree = rec.SkillID, tree.Hash
	return rec, s.saveIntent(c.in)
}

// finish completes a stage with what is not the skill itself and makes it durable.
func (c *change) finish(id string, tree Tree) error {
	s, stage := c.s, c.in.Stage
	if c.before != nil {
		old, err := s.TreeFiles(c.head.Lineage.Tree)
		if err != nil {
			return err
		}
		if err := carry(c.in.Dir, c.before, old, tree.Files, stage); err != nil {
			return err
		}
		s.fault("stage:carried")
	}
	if err := s.writeID(stage, id); err != nil {
		return err
	}
	if err := syncTree(stage); err != nil {
		return fmt.Errorf("sync stage: %w", err)
	}
	s.fault("stage:synced")
	return s.saveTree(stage, tree)
}

// apply swaps the stage in and commits, or swaps back.
func (c *change) apply(ctx context.Context, rec Record) (Record, error) {
	s := c.s
	if err := s.swapIn(c.in); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return Record{}, ErrExists
		}
		return Record{}, err
	}
	rec, err := c.commit(ctx, rec)
	if err != nil {
		if back := s.swapBack(c.in); back != nil {
			err = errors.Join(err, errStuck, back)
		}
		return Record{}, err
	}
	return rec, nil
}

func (c *change) commit(ctx context.Context, rec Record) (Record, error) {
	if c.before != nil {
		now, err := list(c.in.replaced())
		if err != nil {
			return Record{}, err
		}
		if !c.before.same(now) {
			return Record{}, fmt.Errorf("%w: somebody edited the folder", ErrConflict)
		}
	}
	// An ignore file above may rule differently over the folder than over its
	// stage; what counts is the folder.
	tree, err := Snapshot(c.in.Dir)
	if err == nil && tree.Hash != rec.Lineage.Tree {
		rec.Lineage.Tree = tree.Hash
		err = c.s.saveTree(c.in.Dir, tree)
	}
	if err != nil {
		return Record{}, err
	}
	c.s.fault("swap:checked")
	var off []Op
	if c.head.SkillID != "" {
		off = append(off, Deactivate(c.head.SkillID))
	} else if _, taken, err := c.s.Record(rec.SkillID); err != nil || taken {
		return Record{}, errors.Join(err, fmt.Errorf("record %q: %w", rec.SkillID, ErrExists))
	}
	return c.s.put(ctx, Expect{c.in.Dir: c.head.SkillID}, rec, off...)
}
