package main

import (
	"context"

	"github.com/openspace-dev/openspace/cmd/internal/parallel"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// name is what one input says about a skill.
type name struct {
	id   string
	dir  string // absolute; of an argument it may not exist
	file string // an archive
	hit  wire.Hit
}

// named reads one input.
func named(env *cli.Env, in cli.Input) (name, error) {
	if in.Data == nil {
		n := name{id: in.Value, dir: env.Abs(in.Value)}
		if isArchive(in.Value) {
			n.file = n.dir
		}
		return n, nil
	}
	var rec struct {
		wire.Hit
		RecordID string `json:"record_id"`
	}
	if err := in.Decode(&rec); err != nil {
		return name{}, err
	}
	n := name{id: rec.SkillID, dir: rec.SkillDir, hit: rec.Hit}
	if n.id == "" {
		n.id = rec.RecordID
	}
	if n.dir != "" {
		n.dir = env.Abs(n.dir)
	}
	if n.id == "" && n.dir == "" {
		return n, wire.Errorf(wire.Invalid, "the record has no skill_id")
	}
	return n, nil
}

// mode returns what is done with each input.
func (o *options) mode(ctx context.Context, env *cli.Env, d *transfer.Downloader) func(in cli.Input, n name) (parallel.Emit, error) {
	installed := func(do func(in cli.Input, dir string) (parallel.Emit, error)) func(in cli.Input, n name) (parallel.Emit, error) {
		return func(in cli.Input, n name) (parallel.Emit, error) {
			dir, err := d.Locate(n.dir, n.id)
			if err != nil {
				return nil, err
			}
			return do(in, dir)
		}
	}
	switch {
	case o.update:
		return installed(func(in cli.Input, dir string) (parallel.Emit, error) {
			res, err := d.Update(ctx, dir)
			return emitImported(env, in, res, err)
		})
	case o.diff:
		return installed(func(in cli.Input, dir string) (parallel.Emit, error) {
			diffs, err := d.Diff(ctx, dir)
			return func() error {
				for _, one := range diffs {
					one.ID = in.ID
					if err := env.Out.Emit(one); err != nil {
						return err
					}
				}
				return nil
			}, err
		})
	case o.pin, o.unpin:
		return installed(func(in cli.Input, dir string) (parallel.Emit, error) {
			res, err := d.Pin(ctx, dir, o.pin)
			res.ID = in.ID
			return func() error { return env.Out.Emit(res) }, err
		})
	}
	return func(in cli.Input, n name) (parallel.Emit, error) {
		res, err := importOne(ctx, d, n)
		return emitImported(env, in, res, err)
	}
}

// importOne imports what an input names. A hit of the search on this machine is there already.
func importOne(ctx context.Context, d *transfer.Downloader, n name) (wire.Imported, error) {
	switch {
	case n.file != "":
		return d.ImportArchive(ctx, n.file)
	case n.hit.Source == localSource && n.dir != "":
		h := n.hit
		return wire.Imported{Status: transfer.StatusExists, SkillID: n.id, SkillDir: n.dir, LocalPath: n.dir, Name: h.Name, Description: h.Description}, nil
	}
	return d.Import(ctx, n.id)
}

// localSource is the source of hits that are on this machine.
const localSource = "openspace-local"

func emitImported(env *cli.Env, in cli.Input, res wire.Imported, err error) (parallel.Emit, error) {
	return func() error {
		for _, w := range res.Warnings {
			if f := env.Out.Format(); f == cli.Table || f == cli.Plain {
				env.Warn("%s: %s", res.Name, w)
			}
		}
		res.ID = in.ID
		return env.Out.Emit(res)
	}, err
}
