package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// commit applies a commit inside begin and end. The writer's check is strict;
// a reader lets through what names records that no line defines, because their
// line may be damaged, and skips ops that it does not know.
func (v *view) commit(c *commit, at place, t time.Time, strict bool) error {
	loose := map[string]bool{}
	for dir, want := range c.Expect {
		head := v.folder(dir).head
		if head == want {
			continue
		}
		if _, known := v.row(want); strict || want == "" || known {
			return &ConflictError{Dir: dir, Want: want, Have: head}
		}
		loose[dir] = true
	}
	for i, op := range c.Ops {
		if err := v.op(op, row{at: at, op: i, changed: int64(nanos(t))}, loose, strict); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) op(op Op, r row, loose map[string]bool, strict bool) error {
	id := op.id()
	if id == "" || strings.Contains(id, nul) || op.Op == opPut && (op.Record == nil || strings.Contains(op.Record.Path, nul)) {
		if strict {
			return fmt.Errorf("%w: %s of record %q", ErrInvalid, op.Op, id)
		}
		return nil
	}
	if op.Op == opPut {
		return v.putRecord(*op.Record, r, loose)
	}
	old, ok := v.row(id)
	if !ok {
		if strict {
			return fmt.Errorf("%s: %w: record %q", op.Op, ErrNotFound, id)
		}
		return nil
	}
	old.changed = r.changed
	switch op.Op {
	case opActivate:
		return v.activate(id, old, loose)
	case opDeactivate:
		v.deactivate(id, old)
	case opDelete:
		v.deactivate(id, old)
		v.remove(keyRecord + id)
		f := v.folder(old.dir)
		f.ids = slices.DeleteFunc(f.ids, func(s string) bool { return s == id })
		v.setFolder(old.dir, f)
	default:
		if strict {
			return fmt.Errorf("%w: operation %q", ErrInvalid, op.Op)
		}
	}
	return nil
}

func (v *view) putRecord(rec Record, r row, loose map[string]bool) error {
	id := rec.SkillID
	r.dir = filepath.Dir(rec.Path)
	if old, ok := v.row(id); ok {
		v.deactivate(id, old)
	}
	f := v.folder(r.dir)
	if !slices.Contains(f.ids, id) {
		f.ids = append(f.ids, id)
		v.setFolder(r.dir, f)
	}
	for _, parent := range rec.Lineage.ParentSkillIDs {
		v.set(keyChild+parent+nul+id, nil)
	}
	v.set(keyTree+rec.Lineage.Tree+nul+id, nil)
	if rec.IsActive {
		return v.activate(id, r, loose)
	}
	v.set(keyRecord+id, r.append(nil))
	return nil
}

// activate makes a record the head of its folder. Another head is a conflict,
// unless the expectation about this folder was let through.
func (v *view) activate(id string, r row, loose map[string]bool) error {
	f := v.folder(r.dir)
	if f.head != "" && f.head != id {
		if !loose[r.dir] {
			return &ConflictError{Dir: r.dir, Want: id, Have: f.head}
		}
		if head, ok := v.row(f.head); ok {
			v.deactivate(f.head, head)
		}
	}
	f.head, r.active = id, true
	v.setFolder(r.dir, f)
	v.set(keyRecord+id, r.append(nil))
	return nil
}

func (v *view) deactivate(id string, r row) {
	if f := v.folder(r.dir); f.head == id {
		f.head = ""
		v.setFolder(r.dir, f)
	}
	r.active = false
	v.set(keyRecord+id, r.append(nil))
}
