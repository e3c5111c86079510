package main

import (
	"bytes"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// pack writes the archive of one skill.
func (o *options) pack(env *cli.Env) error {
	dir, err := env.Single("skill folder")
	if err != nil {
		return err
	}
	t, err := (&options{dryRun: true}).target(env, cli.Input{Value: dir})
	if err != nil {
		return err
	}
	p, err := transfer.Pack(t.dir, o.Limits)
	if err != nil {
		return err
	}
	if err := o.Upload.CheckSecrets(p); err != nil {
		return err
	}
	if o.archive == "-" {
		return p.Archive(env.Out.Document())
	}
	var b bytes.Buffer
	if err := p.Archive(&b); err != nil {
		return err
	}
	path := env.Abs(o.archive)
	if err := atomicfile.Write(path, b.Bytes(), 0o644); err != nil {
		return wire.Errorf(wire.Invalid, "%w", err)
	}
	return env.Out.Emit(wire.Result{
		Status: "success", Action: "archive", SkillDir: t.dir, Path: path, Count: len(p.Files), SizeBytes: int64(b.Len()),
	})
}
