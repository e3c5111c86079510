package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Placement is a new skill folder, complete in a stage beside its place.
type Placement struct {
	Stage string // becomes Dir
	Dir   string // must not exist; its parent does
	// Of the record these count: SkillID, which is needed, Visibility, CreatorID, Tags, and of the lineage ChangeSummary and CreatedBy. Its
	// origin is imported.
	Record Record
}

// Placed is the outcome of one Placement.
type Placed struct {
	// Record is what the store has of the folder; without an id when it has nothing, because another folder has that id, or because the id
	// is known with other content. The folder is in place nevertheless.
	Record Record
	Err    error // the folder is not in place
}

// Place puts many new folders in place and records them, with three waits for the disk in all instead of a dozen each. Every folder is moved
// in whole, and only when its files are on disk. A process that is killed leaves folders that are in place and not yet recorded: their
// .skill_id says what they are, so Register and a second Place of the same id find out. The outcomes are in the order of ps.
func (s *Store) Place(ctx context.Context, ps []Placement) []Placed {
	out := make([]Placed, len(ps))
	b := &batch{s: s, items: make([]*item, len(ps))}
	err := s.prepare(ctx)
	if err == nil && len(ps) > manyItems {
		err = s.makeShards()
	}
	for i, p := range ps {
		b.items[i] = &item{Placement: p, err: err}
	}
	b.each(b.stage)
	b.sync(func(it *item) string { return filepath.Dir(it.Dir) })
	b.each(b.move)
	b.syncParents()
	b.each(b.settle)
	if err := s.writing(ctx, b.commit); err != nil {
		b.each(func(it *item) error { return errors.Join(err, os.Rename(it.Dir, it.Stage)) })
	}
	for i, it := range b.items {
		out[i] = Placed{Record: it.Record, Err: it.err}
		if it.err != nil {
			out[i] = Placed{Err: fmt.Errorf("place folder %q: %w", it.Dir, it.err)}
		}
	}
	return out
}

// manyItems is the size of a batch from which all folders of objects are made at once.
const manyItems = 16

// makeShards makes all folders of objects, with one wait for the disk.
func (s *Store) makeShards() error {
	fresh := false
	for i := range 256 {
		err := os.Mkdir(s.path("objects", fmt.Sprintf("%02x", i)), 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("store objects: %w", err)
		}
		fresh = fresh || err == nil
	}
	if !fresh {
		return nil
	}
	return atomicfile.SyncDir(s.path("objects"))
}

// batch is a Place or an Adopt under way.
type batch struct {
	s     *Store
	items []*item
}

type item struct {
	Placement
	tree Tree
	head string // id of the active record that is to give way
	err  error
}

// each runs fn for the items that nothing has happened to yet.
func (b *batch) each(fn func(it *item) error) {
	for _, it := range b.items {
		if it.err == nil {
			it.err = fn(it)
		}
	}
}

// stage reads the stage and saves its objects, without waiting for the disk where sync can do that for all.
func (b *batch) stage(it *item) (err error) {
	if it.Dir, err = Canonical(it.Dir); err != nil {
		return err
	}
	if !skill.ValidID(it.Record.SkillID) {
		return fmt.Errorf("%w: id %.80q", ErrInvalid, it.Record.SkillID)
	}
	id := []byte(it.Record.SkillID + "\n")
	if err := atomicfile.Write(filepath.Join(it.Stage, skill.IDFile), id, 0o644, b.later()...); err != nil {
		return err
	}
	found, err := loadRecord(it.Stage)
	if err != nil {
		return err
	}
	it.describe(found)
	if it.tree, err = Snapshot(it.Stage); err != nil {
		return err
	}
	if !syncsAll {
		err = syncTree(it.Stage)
	}
	return errors.Join(err, b.s.saveTree(it.Stage, it.tree, b.later()...))
}

// later leaves the waiting to sync.
func (b *batch) later() []atomicfile.Option {
	if syncsAll {
		return []atomicfile.Option{atomicfile.NoSync()}
	}
	return nil
}

// describe completes the record from what the folder says.
func (it *item) describe(found Record) {
	rec := &it.Record
	rec.Name, rec.Description, rec.IsActive = found.Name, found.Description, true
	rec.Path = filepath.Join(it.Dir, filepath.Base(found.Path))
	if rec.Tags == nil {
		rec.Tags = found.Tags
	}
	rec.Lineage = Lineage{Origin: OriginImported, ChangeSummary: rec.Lineage.ChangeSummary, CreatedBy: rec.Lineage.CreatedBy}
}

// sync waits until the store's objects and the folders that where names are on disk.
func (b *batch) sync(where func(it *item) string) {
	dirs := []string{b.s.path("objects")}
	b.each(func(it *item) error { dirs = append(dirs, where(it)); return nil })
	slices.Sort(dirs)
	if err := syncDisks(slices.Compact(dirs)); err != nil {
		b.each(func(*item) error { return fmt.Errorf("sync: %w", err) })
	}
	b.s.fault("batch:synced")
}

func (b *batch) move(it *item) error {
	err := b.s.moveNew(it.Stage, it.Dir)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	b.s.fault("batch:moved")
	return err
}

func (b *batch) syncParents() {
	done := map[string]error{}
	b.each(func(it *item) error {
		parent := filepath.Dir(it.Dir)
		err, ok := done[parent]
		if !ok {
			err = atomicfile.SyncDir(parent)
			done[parent] = err
		}
		return err
	})
}

// settle takes the tree as it is in place: an ignore file above may rule differently over the folder than over its stage.
func (b *batch) settle(it *item) error {
	tree, err := Snapshot(it.Dir)
	if err == nil && tree.Hash != it.tree.Hash {
		it.tree = tree
		err = b.s.saveTree(it.Dir, tree)
	}
	it.Record.Lineage.Tree = it.tree.Hash
	return err
}

// commit records all folders, one line each, in one write.
func (b *batch) commit(v *view) error {
	var events []*event
	taken := map[string]bool{}
	b.each(func(it *item) error {
		c, err := b.s.placed(v, it, taken)
		if c == nil || err != nil {
			it.Record = Record{}
			return err
		}
		events = append(events, &event{Op: opCommit, Commit: c})
		return nil
	})
	if len(events) == 0 {
		return nil
	}
	return b.s.append(true, events...)
}

// placed makes the commit of one folder; nil when there is nothing that could be recorded. taken holds the ids that the batch has recorded.
func (s *Store) placed(v *view, it *item, taken map[string]bool) (*commit, error) {
	old, known, err := s.load(v, it.Record.SkillID)
	if err != nil {
		return nil, err
	}
	if known {
		elsewhere := old.Dir() != it.Dir && skillFolder(old.Dir())
		if elsewhere || old.Lineage.Tree != it.tree.Hash {
			return nil, nil
		}
		it.Record.Lineage = old.Lineage
	}
	if taken[it.Record.SkillID] {
		return nil, nil
	}
	head := v.folder(it.Dir).head
	ops := []Op{Put(it.Record)}
	if head != "" && head != it.Record.SkillID { // of a folder that was removed by hand
		ops = append([]Op{Deactivate(head)}, ops...)
	}
	c := &commit{Ops: ops, Expect: Expect{it.Dir: head}}
	put := ops[len(ops)-1].Record
	s.complete(put)
	if err := s.check(v, c); err != nil {
		return nil, nil // the folder is good without a record
	}
	it.Record = *put
	taken[put.SkillID] = true
	return c, nil
}

// Adoption gives the skill in a folder another id: the one that a registry knows it by.
type Adoption struct {
	Dir string
	ID  string
	// Visibility and CreatorID are taken into the record when they are not empty.
	Visibility, CreatorID string
}

// Adopt gives folders new ids, in .skill_id and in the store, with two waits for the disk in all. The active record of a folder is replaced by one with
// the new id that is the same otherwise, its lineage among it, and stays as an inactive one; a folder without a record is recorded as
// imported. A folder that was edited since its record, or whose new id another folder has, is ErrConflict. The errors are in the order of as.
func (s *Store) Adopt(ctx context.Context, as []Adoption) []error {
	b := &batch{s: s}
	for _, a := range as {
		rec := Record{SkillID: a.ID, Visibility: a.Visibility, CreatorID: a.CreatorID}
		b.items = append(b.items, &item{Placement: Placement{Dir: a.Dir, Record: rec}})
	}
	b.each(func(it *item) (err error) { it.Dir, err = Canonical(it.Dir); return err })
	unlock := b.lock(ctx)
	b.each(b.known)
	b.sync(func(it *item) string { return it.Dir })
	if err := s.writing(ctx, b.rename); err != nil {
		b.each(func(*item) error { return err })
	}
	b.each(b.writeID)
	b.sync(func(it *item) string { return it.Dir })
	unlock()
	out := make([]error, len(as))
	for i, it := range b.items {
		if it.err != nil {
			out[i] = fmt.Errorf("give folder %q the id %q: %w", as[i].Dir, as[i].ID, it.err)
		}
	}
	return out
}

// lock takes the locks of all folders, in one order for all processes, and returns what releases them.
func (b *batch) lock(ctx context.Context) (unlock func()) {
	sorted := slices.Clone(b.items)
	slices.SortStableFunc(sorted, func(x, y *item) int { return strings.Compare(x.Dir, y.Dir) })
	var held []*atomicfile.Lock
	last := ""
	for _, it := range sorted {
		switch {
		case it.err != nil:
		case it.Dir == last:
			it.err = fmt.Errorf("%w: the folder is named twice", ErrConflict)
		default:
			var l *atomicfile.Lock
			if l, it.err = b.s.lockDir(ctx, it.Dir); it.err == nil {
				held = append(held, l)
				last = it.Dir
			}
		}
	}
	return func() {
		for _, l := range held {
			_ = l.Unlock() // the end of the process releases it at the latest
		}
	}
}

// known finds the record that a folder has, and saves the objects of one that has none.
func (b *batch) known(it *item) error {
	if !skill.ValidID(it.Record.SkillID) {
		return fmt.Errorf("%w: id %.80q", ErrInvalid, it.Record.SkillID)
	}
	head, ok, err := b.s.HeadAt(it.Dir)
	if err != nil {
		return err
	}
	if it.tree, err = Snapshot(it.Dir); err != nil {
		return err
	}
	if ok {
		if head.Lineage.Tree != it.tree.Hash {
			return fmt.Errorf("%w: the folder was edited", ErrConflict)
		}
		it.head = head.SkillID
		id, visibility, creator := it.Record.SkillID, it.Record.Visibility, it.Record.CreatorID
		it.Record = head
		it.Record.SkillID, it.Record.Visibility = id, cmp.Or(visibility, head.Visibility)
		it.Record.CreatorID = cmp.Or(creator, head.CreatorID)
		return nil
	}
	found, err := loadRecord(it.Dir)
	if err != nil {
		return err
	}
	it.describe(found)
	it.Record.Lineage.Tree = it.tree.Hash
	return b.s.saveTree(it.Dir, it.tree, b.later()...)
}

// rename commits the new ids.
func (b *batch) rename(v *view) error {
	var events []*event
	taken := map[string]bool{}
	b.each(func(it *item) error {
		if it.head == it.Record.SkillID {
			return nil
		}
		old, known, err := b.s.load(v, it.Record.SkillID)
		switch {
		case err != nil:
			return err
		case taken[it.Record.SkillID], known && old.Dir() != it.Dir && skillFolder(old.Dir()):
			return fmt.Errorf("%w: another folder has it", ErrConflict)
		}
		ops := []Op{Put(it.Record)}
		if it.head != "" {
			ops = append([]Op{Deactivate(it.head)}, ops...)
		}
		c := &commit{Ops: ops, Expect: Expect{it.Dir: it.head}}
		b.s.complete(ops[len(ops)-1].Record)
		if err := b.s.check(v, c); err != nil {
			return err
		}
		taken[it.Record.SkillID] = true
		events = append(events, &event{Op: opCommit, Commit: c})
		return nil
	})
	if len(events) == 0 {
		return nil
	}
	return b.s.append(true, events...)
}

// writeID writes the id file without waiting for the disk. A folder that cannot be written does without one.
func (b *batch) writeID(it *item) error {
	if have, _ := skill.ReadID(it.Dir); have == it.Record.SkillID {
		return nil
	}
	err := atomicfile.Write(filepath.Join(it.Dir, skill.IDFile), []byte(it.Record.SkillID+"\n"), 0o644, b.later()...)
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return nil
	}
	return err
}
