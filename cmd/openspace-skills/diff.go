package main

import (
	"context"
	"io"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) diff() *cli.Command {
	return &cli.Command{
		Name: "diff", Short: "show what changed between versions, or since the last one", Args: "A [B]", Stdin: "ids or folders, one a line",
		Run: a.runDiff,
	}
}

func (a *app) runDiff(ctx context.Context, env *cli.Env) error {
	if len(env.Args) > 2 {
		return wire.Errorf(wire.Usage, "want one or two of ID, NAME or DIR, got %d", len(env.Args))
	}
	var patch io.Writer
	if env.Out.Format() == cli.Plain && !env.StdoutTerminal {
		patch = env.Out.Document() // to the byte: a terminal gets text without control characters
	}
	if len(env.Args) == 2 {
		return a.diffPair(ctx, env, patch)
	}
	return a.onTargets(func(_ context.Context, l *lookup, in cli.Input, t target) error {
		d := &differ{lookup: l, patch: patch}
		from, to, err := d.single(t)
		if err != nil {
			return err
		}
		return d.emit(in.ID, t.dir, from, to)
	})(ctx, env)
}

// differ writes differences as records, or as a patch when patch is not nil.
type differ struct {
	*lookup
	patch io.Writer
}

func (a *app) diffPair(ctx context.Context, env *cli.Env, patch io.Writer) error {
	st, err := openStore(env)
	if err != nil {
		return err
	}
	defer st.Close()
	d := &differ{lookup: &lookup{app: a, env: env, st: st}, patch: patch}
	return fault.Of(d.pair(ctx, env.Args[0], env.Args[1]))
}

func (d *differ) pair(ctx context.Context, a, b string) error {
	first, err := d.word(ctx, a)
	if err != nil {
		return err
	}
	second, err := d.word(ctx, b)
	if err != nil {
		return err
	}
	from, err := d.side(first)
	if err != nil {
		return err
	}
	to, err := d.side(second)
	if err != nil {
		return err
	}
	return d.emit("", second.dir, from, to)
}

// side is one state of a skill's files: a version by its id, or "disk", or "none".
type side struct {
	store.Side
	name string
}

// side returns the files that a target has: those of the version when it was named by its id, else those on disk.
func (d *differ) side(t target) (side, error) {
	if t.byID {
		return d.versionSide(t.id)
	}
	return diskSide(t.dir)
}

// single returns what one target changed: a version against its parent, a folder against its head.
func (d *differ) single(t target) (from, to side, err error) {
	switch {
	case t.byID:
		if from, err = d.parent(t.rec); err == nil {
			to, err = d.versionSide(t.id)
		}
	case !t.known:
		err = unrecorded(t)
	default:
		if from, err = d.versionSide(t.id); err == nil {
			to, err = diskSide(t.dir)
		}
	}
	return from, to, err
}

func unrecorded(t target) error {
	return wire.Errorf(wire.NotFound, "no version of %q is recorded", t.dir).WithHint("openspace-skills register records it as it is now")
}

// parent returns the version before rec. Of several parents the first is the one that rec was made from.
func (d *differ) parent(rec store.Record) (side, error) {
	for _, id := range rec.Lineage.ParentSkillIDs {
		_, ok, err := d.st.Record(id)
		if err != nil {
			return side{}, err
		}
		if ok {
			return d.versionSide(id)
		}
	}
	return side{name: "none"}, nil
}

func (l *lookup) versionSide(id string) (side, error) {
	s, err := l.st.VersionSide(id)
	return side{s, id}, err
}

func diskSide(dir string) (side, error) {
	s, err := store.DiskSide(dir)
	return side{s, "disk"}, err
}

// emit writes the changes as records, or as one patch.
func (d *differ) emit(id, dir string, from, to side) error {
	all, err := store.Compare(from.Side, to.Side)
	if err != nil {
		return err
	}
	for _, f := range all {
		if d.patch != nil {
			_, err = io.WriteString(d.patch, patchOf(f))
		} else {
			rec := diffRecord(f)
			rec.ID, rec.SkillDir, rec.From, rec.To = id, dir, from.name, to.name
			err = d.env.Out.Emit(rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// patchOf leaves the header of a binary file out: with it, patch(1) and git apply refuse the whole patch, while they pass over the
// line which says that the file differs.
func patchOf(f store.FileDiff) string {
	if !f.Binary {
		return f.Patch
	}
	return f.Patch[strings.LastIndexByte(strings.TrimSuffix(f.Patch, "\n"), '\n')+1:]
}

func diffRecord(f store.FileDiff) wire.Diff {
	rec := wire.Diff{Path: f.Path, Change: f.Change, Diff: f.Patch}
	if f.Binary {
		rec.Diff = ""
	}
	return rec
}
