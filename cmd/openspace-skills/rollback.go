package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

type rollback struct {
	app    *app
	to     string
	dryRun bool
}

func (a *app) rollback() *cli.Command {
	r := &rollback{app: a}
	return &cli.Command{
		Name: "rollback", Short: "put an earlier version of a skill back", Args: "DIR|ID|NAME…", Stdin: "folders, ids or names, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&r.to, "to", "", "the version `ID` to put back; without it the one before the present state")
			fs.BoolVar(&r.dryRun, "dry-run", false, "show what would change and write nothing")
		},
		Run: r.run, Signals: true,
	}
}

func (r *rollback) run(ctx context.Context, env *cli.Env) error {
	if r.to != "" && len(env.Args) != 1 {
		return wire.Errorf(wire.Usage, "--to goes with one skill, not %d", len(env.Args))
	}
	return r.app.onTargets(r.one)(ctx, env)
}

func (r *rollback) one(ctx context.Context, l *lookup, in cli.Input, t target) error {
	to, err := r.goal(l, t)
	if err != nil {
		return err
	}
	if r.dryRun {
		return r.preview(l, in, t, to)
	}
	rec, err := l.st.Rollback(ctx, t.dir, to.SkillID)
	if err != nil {
		return err
	}
	return l.env.Out.Emit(wire.Result{
		ID: in.ID, Status: "success", Action: "rollback", SkillID: rec.SkillID, SkillDir: t.dir, Path: rec.Path,
		Message: "put back " + to.SkillID,
	})
}

// goal decides which version to put back. A target that is an old version is the goal itself; a folder that was edited by
// hand goes back to its head, another to the parent of its head. More than one parent, or none, is nobody's to guess.
func (r *rollback) goal(l *lookup, t target) (store.Record, error) {
	versions, err := l.versions(t)
	if err != nil {
		return store.Record{}, err
	}
	if r.to == "" && t.old() {
		return t.rec, nil
	}
	if r.to != "" {
		return r.named(t, versions)
	}
	status, err := l.st.Status(t.dir)
	if err != nil || status == store.Dirty {
		return t.rec, err
	}
	var before []store.Record
	for _, v := range versions {
		if slices.Contains(t.rec.Lineage.ParentSkillIDs, v.SkillID) {
			before = append(before, v)
		}
	}
	if len(before) != 1 {
		return store.Record{}, wire.Errorf(wire.Invalid, "%s has %d versions before it in its folder", t.id, len(before)).
			WithHint("openspace-skills history lists the versions that --to takes")
	}
	return before[0], nil
}

func (r *rollback) named(t target, versions []store.Record) (store.Record, error) {
	for _, v := range versions {
		if v.SkillID == r.to {
			return v, nil
		}
	}
	return store.Record{}, wire.Errorf(wire.NotFound, "%q is no version of %s", r.to, t.dir).
		WithHint("openspace-skills history lists the versions")
}

// preview shows the change as diff records and says what would be done.
func (r *rollback) preview(l *lookup, in cli.Input, t target, to store.Record) error {
	from, err := diskSide(t.dir)
	if err != nil {
		return err
	}
	goal, err := l.versionSide(to.SkillID)
	if err != nil {
		return err
	}
	d := &differ{lookup: l}
	if err := d.emit(in.ID, t.dir, from, goal); err != nil {
		return err
	}
	return l.env.Out.Emit(wire.Result{
		ID: in.ID, Status: "preview", Action: "rollback", SkillDir: t.dir, DryRun: true,
		Message: fmt.Sprintf("would put back %s; without --dry-run it is done", to.SkillID),
	})
}
