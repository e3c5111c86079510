package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func TestOf(t *testing.T) {
	if err := fault.Of(nil); err != nil {
		t.Errorf("got %v for nil", err)
	}
	for _, tc := range []struct {
		err  error
		want wire.Code
	}{
		{store.ErrLocked, wire.Locked},
		{&index.VersionError{Needs: 2, Have: 1}, wire.WrongVersion},
		{index.ErrDamaged, wire.Corrupt},
		{index.ErrLocked, wire.Locked},
		{store.ErrVersion, wire.WrongVersion},
		{store.ErrCorrupt, wire.Corrupt},
		{store.ErrExists, wire.Exists},
		{store.ErrNotFound, wire.NotFound},
		{store.ErrInvalid, wire.Invalid},
		{store.ErrUnchanged, wire.Invalid},
		{&store.ConflictError{Dir: "d"}, wire.Invalid},
		{fs.ErrNotExist, wire.NotFound},
		{context.Canceled, wire.Canceled},
		{errors.New("disk on fire"), wire.Internal},
		{store.ErrHome, wire.Usage},
		{syscall.ENOTDIR, wire.Invalid},
		{wire.Errorf(wire.Unsafe, "kept: %w", store.ErrNotFound), wire.Unsafe},
	} {
		err := fault.Of(fmt.Errorf("read %q: %w", "x", tc.err))
		if got := wire.CodeOf(err); got != tc.want {
			t.Errorf("%v: got code %s, want %s", tc.err, got, tc.want)
		}
		if !errors.Is(err, tc.err) {
			t.Errorf("%v is no longer in the chain", tc.err)
		}
	}
}

// A disk that takes no more is no fault of ours: the hint says what to do.
func TestFullDisk(t *testing.T) {
	for errno, hint := range map[syscall.Errno]string{
		syscall.ENOSPC: "free space and run it again", syscall.EDQUOT: "free space and run it again", syscall.EROFS: "read-only",
	} {
		cause := &os.PathError{Op: "write", Path: "x", Err: errno}
		for _, err := range []error{cause, fmt.Errorf("%w: %w", index.ErrDamaged, cause)} {
			got := wire.AsError(fault.Of(fmt.Errorf("append to journal: %w", err)))
			if got.Code != wire.Internal || got.Code.Exit() != 5 || !strings.Contains(got.Hint, hint) {
				t.Errorf("%v: got %+v, want internal with a hint %q", errno, got, hint)
			}
		}
	}
}
