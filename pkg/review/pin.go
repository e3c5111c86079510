package review

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// ErrPinned: somebody wants the skill to stay as it is.
var ErrPinned = errors.New("the skill is pinned")

// pinKind is the kind of the marks that pins are. A pin is a mark of the folder and one of its head, so that it is found after the folder was
// moved and after a rollback.
const pinKind = "pin"

// pinned and unpinned begin the state of such a mark; a reason may follow.
const pinned, unpinned = "pinned ", "free"

// Pin keeps the skill in a folder as it is until Unpin: no change is made or proposed. People may still edit it.
func Pin(ctx context.Context, st *store.Store, dir, reason string) error {
	dir, err := store.Canonical(dir)
	if err != nil {
		return err
	}
	marks := []store.Mark{{Kind: pinKind, Key: dir}}
	head, ok, err := st.HeadAt(dir)
	if ok {
		marks = append(marks, store.Mark{Kind: pinKind, SkillID: head.SkillID})
	}
	for _, m := range marks {
		m.State = pinned + strings.TrimSpace(reason)
		if err == nil {
			err = st.RecordMark(ctx, m)
		}
	}
	return err
}

// Unpin lets the skill in a folder change again.
func Unpin(ctx context.Context, st *store.Store, dir string) error {
	marks, err := pinMarks(st, dir)
	for _, m := range marks {
		var state string
		if err == nil {
			state, _, err = st.MarkState(m)
		}
		if m.State = unpinned; err == nil && strings.HasPrefix(state, pinned) {
			err = st.RecordMark(ctx, m)
		}
	}
	return err
}

// Pinned tells whether the skill in a folder is pinned, and why.
func Pinned(st *store.Store, dir string) (reason string, is bool, err error) {
	marks, err := pinMarks(st, dir)
	for _, m := range marks {
		state, _, err := st.MarkState(m)
		if err != nil {
			return "", false, err
		}
		if why, ok := strings.CutPrefix(state, pinned); ok {
			return why, true, nil
		}
	}
	return "", false, err
}

// CheckPin is ErrPinned with the reason when the skill in a folder is pinned.
func CheckPin(st *store.Store, dir string) error {
	why, is, err := Pinned(st, dir)
	if err != nil || !is {
		return err
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return wire.Errorf(wire.Invalid, "change %q: %w%s", dir, ErrPinned, why).WithHint("openspace-skills unpin lets it change again")
}

// pinMarks returns the marks that can pin a folder: its own, and those of the versions that it had.
func pinMarks(st *store.Store, dir string) ([]store.Mark, error) {
	dir, err := store.Canonical(dir)
	if err != nil {
		return nil, fmt.Errorf("look for a pin of %q: %w", dir, err)
	}
	marks := []store.Mark{{Kind: pinKind, Key: dir}}
	versions, err := st.Versions(dir)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	for _, v := range versions {
		marks = append(marks, store.Mark{Kind: pinKind, SkillID: v.SkillID})
	}
	return marks, nil
}
