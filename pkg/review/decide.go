package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The outcomes of attempts that stand in the store's journal when a proposal was made or decided on.
const (
	Proposed = "proposed"
	Approved = "approved"
	Rejected = "rejected"
)

// Approve puts a proposal in place. When its skill has changed since it was made it is ErrStale and stays, so that it can be looked at and
// rejected.
func Approve(ctx context.Context, st *store.Store, id string) (store.Record, error) {
	p, err := Open(st.Home(), id)
	if err != nil {
		return store.Record{}, err
	}
	c, err := p.change()
	if err != nil {
		return store.Record{}, err
	}
	rec, err := Apply(ctx, st, c)
	if err != nil {
		return rec, fmt.Errorf("approve %q: %w", id, hinted(err))
	}
	return rec, p.end(ctx, st, store.Attempt{Outcome: Approved, NewID: rec.SkillID})
}

// hinted says what to do about a stale proposal.
func hinted(err error) error {
	if e := wire.Errorf(wire.Invalid, "%w", err); errors.Is(err, ErrStale) {
		return e.WithHint("reject it, and have the skill fixed again as it is now")
	}
	return err
}

// Reject ends a proposal. The version that it was for is not changed by itself again.
func Reject(ctx context.Context, st *store.Store, id, reason string) error {
	p, err := Open(st.Home(), id)
	if err != nil {
		return err
	}
	return p.end(ctx, st, store.Attempt{Outcome: Rejected, Error: reason})
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
	gone := filepath.Join(folder(p.home), ".os-tmp-"+p.ID)
	if err := os.Rename(p.dir(), gone); err != nil {
		return fmt.Errorf("remove proposal %q: %w", p.ID, err)
	}
	return os.RemoveAll(gone)
}
