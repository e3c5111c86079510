package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/scratch"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// withStore makes a verb without arguments of what is done to the store.
func withStore(do func(ctx context.Context, env *cli.Env, st *store.Store) error) func(context.Context, *cli.Env) error {
	return func(ctx context.Context, env *cli.Env) error {
		if len(env.Args) > 0 {
			return wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
		}
		st, err := openStore(env)
		if err != nil {
			return err
		}
		defer st.Close()
		return do(ctx, env, st)
	}
}

func (a *app) gc() *cli.Command {
	var force, dryRun bool
	return &cli.Command{
		Name: "gc", Short: "show what of the store nobody needs any more; with --force remove it",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&force, "force", false, "remove it")
			fs.BoolVar(&dryRun, "dry-run", false, "only show it, as without --force")
		},
		Signals: true,
		Run: withStore(func(ctx context.Context, env *cli.Env, st *store.Store) error {
			if force && dryRun {
				return wire.Errorf(wire.Usage, "--force and --dry-run exclude each other")
			}
			c, err := st.GC(ctx, !force)
			if err != nil {
				return err
			}
			rec := wire.Result{
				Status: "success", Action: "gc", Path: st.Home(), DryRun: !force, Count: c.Objects + c.Temps + c.Folders, SizeBytes: c.Bytes,
				Message: fmt.Sprintf("removed objects: %d (%d bytes), temporary files: %d, left folders: %d; kept objects: %d", c.Objects, c.Bytes, c.Temps, c.Folders, c.Kept),
			}
			if !force {
				rec.Status, rec.Message = "preview", "would have "+rec.Message+"; with --force it is done"
			}
			if err := env.Out.Emit(rec); err != nil {
				return err
			}
			if err := collectIndexes(env, st.Home(), force); err != nil {
				return err
			}
			return collectScratch(env, force)
		}),
	}
}

// collectIndexes removes, or counts, the search indexes of roots that are gone.
func collectIndexes(env *cli.Env, home string, force bool) error {
	orphans, bytes, err := index.Orphans(search.IndexDir(home))
	if err != nil || len(orphans) == 0 {
		return err
	}
	rec := wire.Result{
		Status: "success", Action: "gc", Path: search.IndexDir(home), DryRun: !force, Count: len(orphans), SizeBytes: bytes,
		Message: fmt.Sprintf("removed search indexes of roots that are gone: %d (%d bytes)", len(orphans), bytes),
	}
	if !force {
		rec.Status, rec.Message = "preview", "would have "+rec.Message+"; with --force it is done"
		return env.Out.Emit(rec)
	}
	for _, dir := range orphans {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return env.Out.Emit(rec)
}

// collectScratch removes, or counts, the temporary files that tasks left which were killed.
func collectScratch(env *cli.Env, force bool) error {
	left := scratch.Left(force)
	if len(left) == 0 {
		return nil
	}
	rec := wire.Result{
		Status: "success", Action: "gc", Path: os.TempDir(), DryRun: !force, Count: len(left),
		Message: fmt.Sprintf("removed folders of temporary files that killed tasks left: %d", len(left)),
	}
	if !force {
		rec.Status, rec.Message = "preview", "would have "+rec.Message+"; with --force it is done"
	}
	return env.Out.Emit(rec)
}

func (a *app) dump() *cli.Command {
	return &cli.Command{
		Name: "dump", Short: "write the whole store as lines",
		Run: withStore(func(_ context.Context, env *cli.Env, st *store.Store) error {
			return st.Dump(dumpWriter{env.Out})
		}),
	}
}

// dumpWriter takes one record of the store a call.
type dumpWriter struct{ out *cli.Printer }

func (w dumpWriter) Write(line []byte) (int, error) {
	return len(line), w.out.Emit(rawRecord(slices.Clone(bytes.TrimSpace(line))))
}

// rawRecord is a record that is JSON already.
type rawRecord []byte

// MarshalJSON returns the record.
func (r rawRecord) MarshalJSON() ([]byte, error) { return r, nil }

// Typed returns r, whose type is in it.
func (r rawRecord) Typed() wire.Record { return r }

// Columns and Cells are those of a record of any type.
func (rawRecord) Columns() []string { return []string{"TYPE", "ID", "RECORD"} }

// Cells returns the type, the id and all of it.
func (r rawRecord) Cells() []string {
	var head struct {
		Type    string `json:"type"`
		SkillID string `json:"skill_id"`
	}
	if jsonl.Unmarshal(r, &head) != nil {
		return []string{"", "", string(r)}
	}
	return []string{head.Type, head.SkillID, string(r)}
}

func (a *app) fsck() *cli.Command {
	return &cli.Command{
		Name: "fsck", Short: "read the whole store and check it against its checksums",
		Run: withStore(func(ctx context.Context, env *cli.Env, st *store.Store) error {
			found, err := st.Verify(ctx)
			if err := emitProblems(env, found); err != nil {
				return err
			}
			if err != nil {
				return err
			}
			errors := 0
			for _, d := range found {
				if d.Severity == skill.Error {
					errors++
				}
			}
			if errors > 0 {
				return wire.Errorf(wire.Corrupt, "the store is damaged in %d places", errors)
			}
			return env.Out.Emit(wire.Result{Status: "ok", Action: "fsck", Path: st.Home(), Count: len(found)})
		}),
	}
}
