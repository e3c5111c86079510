package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Recover ends or undoes the folder changes of processes that died, and tells
// how many. Changes whose process still runs are left alone. Every Store does
// this by itself before its first write.
func (s *Store) Recover(ctx context.Context) (int, error) {
	ins, err := s.intents()
	if err != nil || len(ins) == 0 {
		return 0, err
	}
	if err := s.prepare(ctx); err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, in := range ins {
		l, err := atomicfile.TryLock(s.path("locks", dirLock(in.Dir)))
		if errors.Is(err, ErrLocked) {
			continue
		}
		if err == nil {
			err = errors.Join(s.recover(ctx, in), l.Unlock())
		}
		if err == nil {
			n++
		}
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// recoverDir is Recover for one folder, whose lock is held.
func (s *Store) recoverDir(ctx context.Context, dir string) error {
	ins, err := s.intents()
	for _, in := range ins {
		if err == nil && in.Dir == dir {
			err = s.recover(ctx, in)
		}
	}
	return err
}

// recover brings one folder to the state before or after a change. Its lock is
// held, so whoever began the change is dead, and its commit line is there now
// or never will be.
func (s *Store) recover(ctx context.Context, in intent) error {
	// Another process may have ended it between the reading and the locking.
	in, err := readIntent(s.path("intents", in.name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if in.NewID == "" {
		return s.clean(in)
	}
	committed := false
	// As a writer, so that a line that only lacks its LF counts.
	err = s.writing(ctx, func(v *view) error {
		_, committed = v.row(in.NewID)
		return nil
	})
	if err != nil {
		return err
	}
	if committed {
		err = s.settle(in)
	} else {
		err = s.undo(in)
	}
	if err != nil {
		return err
	}
	return s.clean(in)
}

// settle makes sure that the committed content is in place.
func (s *Store) settle(in intent) error {
	if in.isNew(in.Dir) || !in.isNew(in.Stage) {
		return nil
	}
	if exists(in.Old) && !exists(in.Dir) {
		return os.Rename(in.Stage, in.Dir)
	}
	return s.place(in)
}

// undo brings the folder back to what it was before.
func (s *Store) undo(in intent) error {
	if !in.isNew(in.Dir) {
		switch {
		case in.Kind == kindCreate:
			_ = os.Remove(in.Dir) // the reserved name, if it came to that: still empty
		case exists(in.Old) && !exists(in.Dir):
			return os.Rename(in.Old, in.Dir)
		}
		return nil
	}
	tree, err := Snapshot(in.Dir)
	if err != nil {
		return err
	}
	if tree.Hash == in.Tree {
		return s.swapBack(in)
	}
	// Somebody has worked on the new content since: it stays, as a hand edit.
	if in.Kind == kindCreate {
		return os.Remove(filepath.Join(in.Dir, skill.IDFile))
	}
	return s.writeID(in.Dir, in.Head)
}
