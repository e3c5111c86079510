package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// gc is the verb gc.
func (a *app) gc() *cli.Command {
	var force, dryRun bool
	var keep time.Duration
	return &cli.Command{
		Name: "gc", Short: "show what nobody needs any more; with --force remove it", Signals: true,
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&force, "force", false, "remove it")
			fs.BoolVar(&dryRun, "dry-run", false, "only show it, as without --force")
			fs.DurationVar(&keep, "keep", 24*time.Hour, "spare uploads that are younger than `TIME` and not published yet")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			if force && dryRun {
				return wire.Errorf(wire.Usage, "--force and --dry-run exclude each other")
			}
			if err := none(env); err != nil {
				return err
			}
			return a.withFiles(env, func(s *registry.Files) error { return collect(ctx, env, s, keep, force) })
		},
	}
}

func collect(ctx context.Context, env *cli.Env, s *registry.Files, keep time.Duration, force bool) error {
	before := time.Now().Add(-keep)
	rec := wire.Result{Status: "success", Action: "gc", Path: s.Dir()}
	if !force {
		got, err := s.Unused(ctx, before)
		if err != nil {
			return err
		}
		rec.Status, rec.DryRun, rec.Count, rec.SizeBytes = "preview", true, got.Blobs, got.Bytes
		rec.Message = fmt.Sprintf("would remove %d blobs (%d bytes); with --force it is done", got.Blobs, got.Bytes)
		return env.Out.Emit(rec)
	}
	got, err := s.Collect(ctx, before)
	if err != nil {
		return err
	}
	saved, err := compact(ctx, s)
	rec.Count, rec.SizeBytes = got.Blobs, got.Bytes+saved
	rec.Message = fmt.Sprintf("removed %d blobs (%d bytes), and %d bytes of the journal", got.Blobs, got.Bytes, saved)
	if errors.Is(err, atomicfile.ErrLocked) {
		err = nil
		rec.Message = fmt.Sprintf("removed %d blobs (%d bytes); the journal is not touched while a server runs", got.Blobs, got.Bytes)
	}
	if err != nil {
		return err
	}
	return env.Out.Emit(rec)
}

func compact(ctx context.Context, s *registry.Files) (int64, error) {
	l, err := s.Lock()
	if err != nil {
		return 0, err
	}
	saved, err := s.Compact(ctx)
	return saved, errors.Join(err, l.Unlock())
}

// verify is the verb verify.
func (a *app) verify() *cli.Command {
	return &cli.Command{
		Name: "verify", Short: "check every line, every archive and every signature", Signals: true,
		Run: func(ctx context.Context, env *cli.Env) error {
			if err := none(env); err != nil {
				return err
			}
			return a.withFiles(env, func(s *registry.Files) error { return verify(ctx, env, s) })
		},
	}
}

func verify(ctx context.Context, env *cli.Env, s *registry.Files) error {
	problems := 0
	checked, err := s.Verify(ctx, func(p registry.Problem) error {
		problems++
		return env.Out.Emit(wire.Problem{Code: p.Code, Severity: "error", Path: p.Path, Message: p.Message, Hint: p.Hint})
	})
	if err != nil {
		return err
	}
	if problems > 0 {
		return wire.Errorf(wire.Corrupt, "%d of %d records and blobs are damaged, or lines of the journal are", problems, checked)
	}
	return env.Out.Emit(wire.Result{Status: "success", Action: "verify", Path: s.Dir(), Count: checked,
		Message: fmt.Sprintf("checked %d records and blobs", checked)})
}
