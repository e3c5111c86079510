package main

import (
	"context"
	"flag"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) register() *cli.Command {
	var bare bool
	return &cli.Command{
		Name: "register", Short: "record skills as they are now, so that they have a history", Args: "DIR…", Stdin: "folders, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&bare, "no-sidecar", false, "write no .skill_id into the folder; it is then known by its path")
		},
		Signals: true,
		Run: func(ctx context.Context, env *cli.Env) error {
			st, err := openStore(env)
			if err != nil {
				return err
			}
			defer st.Close()
			return each(env.Inputs(readsRecords...), env.Out, func(in cli.Input) error {
				dir, err := folderOf(env, in)
				if err != nil {
					return err
				}
				dirs, _, err := skillFolders(ctx, dir)
				if err != nil {
					return err
				}
				if len(dirs) == 0 {
					return wire.Errorf(wire.NotFound, "no skill in %q", dir)
				}
				for _, dir := range dirs {
					if err := registerOne(ctx, env, st, in, dir, !bare); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func registerOne(ctx context.Context, env *cli.Env, st *store.Store, in cli.Input, dir string, sidecar bool) error {
	reg, err := st.Register(ctx, dir, sidecar)
	if err != nil {
		return env.Out.Fail(aboutDir(in, dir, fault.Of(err)))
	}
	status := string(reg.Change)
	if reg.Change == store.NoChange {
		status = "unchanged"
	}
	return env.Out.Emit(wire.Result{ID: in.ID, Status: status, Action: "register", SkillID: reg.Record.SkillID, SkillDir: dir, Path: reg.Record.Path})
}
