package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The outcomes of attempts that stand in the store's journal when a proposal was made or decided on.
const (
	Proposed = "proposed"
	Approved = "approved"
	Rejected = "rejected"
)

// patience is how long another decision is waited for, which takes moments.
const patience = 30 * time.Second

// decide reads a proposal that nobody else decides on meanwhile.
func decide(ctx context.Context, st *store.Store, id string) (p Proposal, unlock func(), err error) {
	if p, err = Open(st.Home(), id); err != nil {
		return p, nil, err // without a trace of the question
	}
	dir := filepath.Join(st.Home(), "store", "locks")
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return p, nil, fmt.Errorf("decide on proposal %q: %w", id, err)
	}
	l, err := atomicfile.LockWait(ctx, filepath.Join(dir, "proposals.lock"), patience)
	if err != nil {
		return p, nil, fmt.Errorf("decide on proposal %q: %w", id, err)
	}
	if p, err = Open(st.Home(), id); err != nil {
		return p, nil, errors.Join(err, l.Unlock())
	}
	return p, func() { _ = l.Unlock() }, nil
}

// Approve puts a proposal in place. When its skill has changed since it was made it is ErrStale and stays, so that it can be looked at and
// rejected. One that was put in place by a process which then ended is only noted and removed.
func Approve(ctx context.Context, st *store.Store, id string) (store.Record, error) {
	p, unlock, err := decide(ctx, st, id)
	if err != nil {
		return store.Record{}, err
	}
	defer unlock()
	c, err := p.change()
	if err != nil {
		return store.Record{}, err
	}
	rec, done, err := p.made(st, c)
	if err == nil && !done {
		rec, err = Apply(ctx, st, c)
	}
	if err != nil {
		return rec, fmt.Errorf("approve %q: %w", id, hinted(err))
	}
	return rec, p.end(ctx, st, store.Attempt{Outcome: Approved, NewID: rec.SkillID})
}

// made finds what the proposal has become already.
func (p Proposal) made(st *store.Store, c Change) (store.Record, bool, error) {
	if p.Kind != Fix {
		return st.Record(c.Record.SkillID)
	}
	head, ok, err := st.HeadAt(p.SkillDir)
	if err != nil || !ok || !slices.Equal(head.Lineage.ParentSkillIDs, []string{p.SkillID}) || head.Lineage.CreatedBy != p.CreatedBy || head.Lineage.ChangeSummary != p.ChangeSummary {
		return store.Record{}, false, err
	}
	now, err := st.Content(head)
	return head, err == nil && maps.EqualFunc(now, c.Content, func(a, b store.Blob) bool { return a.Exec == b.Exec && bytes.Equal(a.Data, b.Data) }), err
}

// hinted says what to do about a stale proposal.
func hinted(err error) error {
	if e := wire.Errorf(wire.Invalid, "%w", err); errors.Is(err, ErrStale) {
		return e.WithHint("reject it, and have the skill fixed again as it is now")
	}
	return err
}

// Reject ends a proposal. The version that it was for is not changed by itself again, and a new skill of its name is Unwanted.
func Reject(ctx context.Context, st *store.Store, id, reason string) error {
	p, unlock, err := decide(ctx, st, id)
	if err != nil {
		return err
	}
	defer unlock()
	if p.Kind != Fix {
		if err := st.RecordMark(ctx, unwantedMark(p.SkillDir, p.Name, Rejected)); err != nil {
			return err
		}
	}
	return p.end(ctx, st, store.Attempt{Outcome: Rejected, Error: reason})
}

// unwantedMark remembers that somebody rejected a new skill of that name in a folder.
func unwantedMark(root, name, state string) store.Mark {
	return store.Mark{Kind: "unwanted", Key: filepath.Join(root, skill.NameKey(name)), State: state}
}

// Unwanted tells whether a proposal for a new skill of that name in that folder was rejected.
func Unwanted(st *store.Store, root, name string) (bool, error) {
	state, _, err := st.MarkState(unwantedMark(root, name, ""))
	return state == Rejected, err
}

// end notes the decision and removes the proposal.
func (p Proposal) end(ctx context.Context, st *store.Store, a store.Attempt) error {
	a.ID, a.Trigger, a.Type = p.ID, p.Trigger, string(p.Kind)
	if a.Targets = p.ParentSkillIDs; p.SkillID != "" {
		a.Targets = []string{p.SkillID}
	}
	if err := st.RecordAttempt(ctx, a); err != nil {
		return err
	}
	// Aside first: a proposal that is half removed must not be read.
	gone := filepath.Join(folder(p.home), tmpPrefix+p.ID)
	if err := os.Rename(p.dir(), gone); err != nil {
		return fmt.Errorf("remove proposal %q: %w", p.ID, err)
	}
	return os.RemoveAll(gone)
}
