// Package fault gives errors of the packages below the code by which commands report them.
package fault

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// kinds is searched in order: an error may match several.
var kinds = []struct {
	err  error
	code wire.Code
	hint string
}{
	{context.Canceled, wire.Canceled, ""},
	{syscall.ENOSPC, wire.Internal, "the disk is full; free space and run it again"},
	{syscall.EDQUOT, wire.Internal, "the disk quota is used up; free space and run it again"},
	{syscall.EROFS, wire.Internal, "the file system is read-only; use another folder, or set OPENSPACE_HOME"},
	{store.ErrHome, wire.Usage, "set OPENSPACE_HOME to a folder that can be written"},
	{atomicfile.ErrLocked, wire.Locked, "wait for the other command, or end it"},
	{index.ErrLocked, wire.Locked, "wait for the other command, or end it"},
	{index.ErrVersion, wire.WrongVersion, "use the version of the suite that wrote it, or delete the index: it is built again"},
	{index.ErrDamaged, wire.Corrupt, "openspace-skills index rebuild makes it anew"},
	{store.ErrVersion, wire.WrongVersion, "use the version of the suite that wrote it"},
	{store.ErrCorrupt, wire.Corrupt, "openspace-skills doctor tells more"},
	{store.ErrConflict, wire.Invalid, "look at the folder and run the command again"},
	{store.ErrExists, wire.Exists, ""},
	{store.ErrNotFound, wire.NotFound, ""},
	{store.ErrInvalid, wire.Invalid, ""},
	{store.ErrUnchanged, wire.Invalid, "there is nothing to do"},
	{fs.ErrNotExist, wire.NotFound, ""},
	{fs.ErrPermission, wire.Invalid, "check the permissions"},
	{syscall.ENOTDIR, wire.Invalid, "a part of the path is a file and no folder"},
}

// Of returns err as a record with a code. An error that has a code already keeps it, and nil stays nil.
func Of(err error) error {
	var coded *wire.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			e := wire.Errorf(k.code, "%w", err)
			e.Hint = k.hint
			return e
		}
	}
	return wire.Errorf(wire.Internal, "%w", err)
}
