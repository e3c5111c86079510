package main

import (
	"context"
	"flag"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) pin() *cli.Command {
	var reason string
	return &cli.Command{
		Name: "pin", Short: "keep a skill as it is, whatever runs teach", Args: "ID|NAME|DIR…", Stdin: "ids, names or folders, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&reason, "reason", "", "`TEXT` that is shown to whoever wants to change it")
		},
		Run: a.onTargets(func(ctx context.Context, l *lookup, in cli.Input, t target) error {
			had, is, err := review.Pinned(l.st, t.dir)
			if err != nil {
				return err
			}
			if is && (reason == "" || reason == had) {
				return l.pinned(in, t, "unchanged", "pin", had)
			}
			if err := review.Pin(ctx, l.st, t.dir, reason); err != nil {
				return err
			}
			return l.pinned(in, t, "success", "pin", reason)
		}),
		Signals: true,
	}
}

func (a *app) unpin() *cli.Command {
	return &cli.Command{
		Name: "unpin", Short: "let a pinned skill change again", Args: "ID|NAME|DIR…", Stdin: "ids, names or folders, one a line",
		Run: a.onTargets(func(ctx context.Context, l *lookup, in cli.Input, t target) error {
			_, is, err := review.Pinned(l.st, t.dir)
			if err != nil {
				return err
			}
			if !is {
				return l.pinned(in, t, "unchanged", "unpin", "it was not pinned")
			}
			if err := review.Unpin(ctx, l.st, t.dir); err != nil {
				return err
			}
			return l.pinned(in, t, "success", "unpin", "")
		}),
		Signals: true,
	}
}

func (l *lookup) pinned(in cli.Input, t target, status, action, message string) error {
	return l.env.Out.Emit(wire.Result{ID: in.ID, Status: status, Action: action, SkillID: t.id, SkillDir: t.dir, Message: message})
}
