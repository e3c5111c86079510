package main

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) diff() *cli.Command {
	return &cli.Command{
		Name: "diff", Short: "show what changed between versions, or since the last one", Args: "A [B]", Stdin: "ids or folders, one a line",
		Run: func(ctx context.Context, env *cli.Env) error {
			st, err := openStore(env)
			if err != nil {
				return err
			}
			defer st.Close()
			d := &differ{lookup: &lookup{app: a, env: env, st: st}, env: env}
			if env.Out.Format() == cli.Plain && !env.StdoutTerminal {
				d.patch = env.Out.Document() // to the byte: a terminal gets text without control characters
			}
			return d.run(ctx)
		},
	}
}

type differ struct {
	*lookup
	env   *cli.Env
	patch io.Writer // nil: records
}

func (d *differ) run(ctx context.Context) error {
	args := d.env.Args
	switch {
	case len(args) > 2:
		return wire.Errorf(wire.Usage, "want one or two of ID, NAME or DIR, got %d", len(args))
	case len(args) == 2:
		return d.pair(ctx, args[0], args[1])
	}
	return each(d.env.Inputs(readsRecords...), d.env.Out, func(in cli.Input) error {
		t, err := d.input(ctx, in)
		if err != nil {
			return err
		}
		from, to, err := d.single(t)
		if err != nil {
			return err
		}
		return d.emit(in.ID, t.dir, from, to)
	})
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

// side is one state of a skill's files.
type side struct {
	name  string // an id, "disk" or "none"
	files map[string]store.TreeFile
	read  func(store.TreeFile) ([]byte, error)
}

// side returns the files that a target has: those of the version when it was named by its id, else those on disk.
func (d *differ) side(t target) (side, error) {
	if t.byID {
		return versionSide(d.st, t.rec)
	}
	return diskSide(t.dir)
}

// single returns what one target changed: a version against its parent, a folder against its head.
func (d *differ) single(t target) (from, to side, err error) {
	if t.byID {
		if to, err = versionSide(d.st, t.rec); err != nil {
			return from, to, err
		}
		from, err = d.parent(t.rec)
		return from, to, err
	}
	if !t.known {
		return from, to, unrecorded(t)
	}
	if from, err = versionSide(d.st, t.rec); err != nil {
		return from, to, err
	}
	to, err = diskSide(t.dir)
	return from, to, err
}

func unrecorded(t target) error {
	return wire.Errorf(wire.NotFound, "no version of %q is recorded", t.dir).WithHint("openspace-skills register records it as it is now")
}

// parent returns the version before rec. Of several parents the first is the one that rec was made from.
func (d *differ) parent(rec store.Record) (side, error) {
	for _, id := range rec.Lineage.ParentSkillIDs {
		parent, ok, err := d.st.Record(id)
		if err != nil {
			return side{}, err
		}
		if ok {
			return versionSide(d.st, parent)
		}
	}
	return side{name: "none"}, nil
}

func versionSide(st *store.Store, rec store.Record) (side, error) {
	files, err := st.TreeFiles(rec.Lineage.Tree)
	return side{name: rec.SkillID, files: byPath(files), read: func(f store.TreeFile) ([]byte, error) { return st.ReadObject(f.SHA256) }}, err
}

func diskSide(dir string) (side, error) {
	tree, err := store.Snapshot(dir)
	read := func(f store.TreeFile) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	return side{name: "disk", files: byPath(tree.Files), read: read}, err
}

func byPath(files []store.TreeFile) map[string]store.TreeFile {
	out := make(map[string]store.TreeFile, len(files))
	for _, f := range files {
		out[f.Path] = f
	}
	return out
}

// changes lists the files that differ, sorted by path.
func changes(from, to side) ([]fileChange, error) {
	paths := map[string]bool{}
	for path := range from.files {
		paths[path] = true
	}
	for path := range to.files {
		paths[path] = true
	}
	var out []fileChange
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, b := from.files[path], to.files[path]
		if a.SHA256 == b.SHA256 && a.Mode == b.Mode {
			continue
		}
		c := fileChange{path: path, beforeMode: a.Mode, afterMode: b.Mode}
		var err error
		if c.before, err = content(from, a); err == nil {
			c.after, err = content(to, b)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func content(s side, f store.TreeFile) ([]byte, error) {
	if f.Path == "" {
		return nil, nil
	}
	return s.read(f)
}

// emit writes the changes as records, or as one patch.
func (d *differ) emit(id, dir string, from, to side) error {
	all, err := changes(from, to)
	if err != nil {
		return err
	}
	for _, c := range all {
		rec := wire.Diff{ID: id, SkillDir: dir, From: from.name, To: to.name, Path: c.path, Change: c.kind(), Diff: unified(c)}
		if d.patch == nil {
			err = d.env.Out.Emit(rec)
		} else if rec.Diff != "" {
			_, err = io.WriteString(d.patch, rec.Diff)
		} else {
			_, err = io.WriteString(d.patch, "Binary files "+label("a/"+c.path)+" and "+label("b/"+c.path)+" differ\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
