package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// entry is one skill folder of the inventory.
type entry struct {
	roots.Folder
	root     roots.Root
	rank     int          // of the root
	skill    *skill.Skill // without its body; nil when it cannot be used
	problems []skill.Diagnostic
	identity store.Identity
	shadow   *entry // the skill of the same name that is used instead
}

func (e *entry) path() string { return filepath.Join(e.Dir, e.File) }

// inventory is what the skill roots hold, in the order of roots and paths.
type inventory struct {
	entries  []*entry           // each usable skill once
	problems []skill.Diagnostic // about roots, and about folders that were passed over
}

// takeInventory walks roots and reads every skill file in them.
func takeInventory(ctx context.Context, st *store.Store, where []roots.Root) (*inventory, error) {
	inv := &inventory{}
	var all []*entry
	for rank, root := range where {
		tree, err := roots.Walk(ctx, root)
		if err != nil {
			return nil, err
		}
		inv.problems = append(inv.problems, tree.Problems...)
		for _, f := range tree.Folders {
			all = append(all, &entry{Folder: f, root: root, rank: rank})
		}
	}
	if err := load(ctx, st, all); err != nil {
		return nil, err
	}
	inv.keep(all)
	inv.shadow()
	return inv, nil
}

// load reads skills on all processors.
func load(ctx context.Context, st *store.Store, all []*entry) error {
	workers := min(runtime.GOMAXPROCS(0), len(all)/16+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for _, e := range all[len(all)*w/workers : len(all)*(w+1)/workers] {
				if errs[w] = errors.Join(ctx.Err(), e.load(st)); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// load reads the entry's skill. What is wrong with the skill is a problem; an error is about the store.
func (e *entry) load(st *store.Store) error {
	var err error
	if e.skill, e.problems, err = skill.Load(e.Dir); err != nil {
		e.problems = append(e.problems, unreadable(e.path(), err))
	}
	if e.skill == nil {
		return nil
	}
	e.skill.Body = nil // it would keep the whole file in memory
	if _, bad := skill.ReadID(e.Dir); bad != nil {
		e.problems = append(e.problems, *bad)
	}
	e.identity, err = st.Identify(e.Dir, e.skill.Name)
	return err
}

func unreadable(path string, err error) skill.Diagnostic {
	return skill.Diagnostic{Code: "unreadable", Severity: skill.Error, Path: path, Message: err.Error(), Hint: "check its permissions"}
}

// keep takes in what can be used. A folder that is reached through two roots counts in the first. Of folders that claim one
// id the first keeps it, because results of different skills must not share one.
func (inv *inventory) keep(all []*entry) {
	dirs, ids := map[string]bool{}, map[string]*entry{}
	for _, e := range all {
		if e.skill == nil {
			inv.problems = append(inv.problems, e.problems...)
			continue
		}
		if dirs[e.identity.Dir] {
			continue
		}
		dirs[e.identity.Dir] = true
		if first := ids[e.identity.ID]; first != nil {
			e.problems = append(e.problems, copied(e, first))
			e.identity = store.Identity{Dir: e.identity.Dir, ID: skill.DerivedID(e.skill.Name, e.identity.Dir), Copy: true}
		}
		ids[e.identity.ID] = e
		inv.entries = append(inv.entries, e)
	}
}

func copied(e, first *entry) skill.Diagnostic {
	return skill.Diagnostic{
		Code: "id-copied", Severity: skill.Warning, Path: filepath.Join(e.Dir, skill.IDFile),
		Message: fmt.Sprintf("%q has the same id %q, so this folder gets another", first.Dir, first.identity.ID),
		Hint:    "remove the " + skill.IDFile + " of the copy",
	}
}

func (inv *inventory) shadow() {
	named := make([]roots.Named, len(inv.entries))
	for i, e := range inv.entries {
		named[i] = roots.Named{Root: e.rank, Name: e.skill.Name}
	}
	for i, by := range roots.Shadows(named) {
		if by >= 0 {
			inv.entries[i].shadow = inv.entries[by]
		}
	}
}
