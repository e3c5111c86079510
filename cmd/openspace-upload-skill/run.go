package main

import (
	"context"
	"flag"

	"github.com/openspace-dev/openspace/cmd/internal/account"
	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/parallel"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are the flags of the command.
type options struct {
	transfer.Upload
	jobs       account.Jobs
	dirs       *[]string
	groups     *[]string
	visibility string
	origin     string
	parents    string
	tags       string
	createdBy  string
	summary    string
	dryRun     bool
	signKey    string
	archive    string
}

func (o *options) flags(fs *flag.FlagSet) {
	o.dirs = cli.List(fs, "skill-dir", "publish the skill in `DIR`, as an argument does; may be repeated")
	fs.StringVar(&o.visibility, "visibility", "", "who may see the skills: `WHO` is public, private or group")
	o.groups = cli.List(fs, "group", "with --visibility group: a `GROUP` that may see the skills; may be repeated")
	fs.StringVar(&o.origin, "origin", "", "how the skills came to be: `ORIGIN` is imported, captured, derived or fixed")
	fs.StringVar(&o.parents, "parent-ids", "", "what they were made from: `ID[,ID]`")
	fs.StringVar(&o.tags, "tags", "", "what they are about: `TAG[,TAG]`")
	fs.StringVar(&o.createdBy, "created-by", "", "who made them: `NAME`")
	fs.StringVar(&o.summary, "change-summary", "", "what was changed: `TEXT`")
	account.Flag(fs)
	o.jobs.Flag(fs)
	fs.BoolVar(&o.dryRun, "dry-run", false, "list what would be sent and what would not; nothing is sent or changed")
	fs.BoolVar(&o.AllowSecret, "allow-secret", false, "send files although they hold what looks like a secret")
	fs.BoolVar(&o.NoWriteBack, "no-write-back", false, "leave .skill_id and the store as they are")
	fs.StringVar(&o.signKey, "sign-key", "", "sign with the Ed25519 key in `FILE` (PEM)")
	fs.StringVar(&o.archive, "archive", "", "write the archive of one skill to `FILE` (- for stdout) instead of sending it")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-upload-skill", Short: "publish skills in a registry", Args: "DIR…", Stdin: "skill folders, one a line", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
	}
}

// ahead is how many inputs are begun for each that is worked on: ids wait to be written back together with others.
const ahead = 16

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if err := o.check(env); err != nil {
		return err
	}
	if o.archive != "" {
		return o.pack(env)
	}
	st, err := store.Open(env.Settings.Home(), store.Options{})
	if err != nil {
		return fault.Of(err)
	}
	defer st.Close()
	o.Store, o.Jobs, o.Groups = st, int(o.jobs), *o.groups
	if !o.dryRun {
		if o.Client, err = account.Client(env, account.Settings); err != nil {
			return err
		}
	}
	u := transfer.NewUploader(o.Upload)
	accept := []string{wire.TypeSkill, wire.TypeImported, wire.TypeHit, wire.TypeResult, wire.TypeVersion}
	return parallel.Each(env, ahead*int(o.jobs), env.Inputs(accept...), func(in cli.Input) parallel.Emit {
		emit, err := o.one(ctx, env, u, in)
		if err != nil {
			return func() error { return env.Out.Fail(in.About(fault.Of(err))) }
		}
		return emit
	})
}

// check settles the flags before anything is read.
func (o *options) check(env *cli.Env) (err error) {
	if _, err := visible(o.visibility); o.visibility != "" && err != nil {
		return err
	}
	if len(*o.groups) > 0 && o.visibility != "group" {
		return wire.Errorf(wire.Usage, "--group goes with --visibility group")
	}
	if err := o.jobs.Check(); err != nil {
		return err
	}
	if o.signKey != "" {
		if o.SignKey, err = transfer.ReadSignKey(env.Abs(o.signKey)); err != nil {
			return err
		}
	}
	o.Limits = transfer.DefaultLimits()
	o.Said = o.said(env)
	if len(*o.dirs) > 0 {
		env.Args = append(append([]string{}, *o.dirs...), env.Args...)
	}
	return nil
}

// one publishes what an input names, or shows what would be published.
func (o *options) one(ctx context.Context, env *cli.Env, u *transfer.Uploader, in cli.Input) (parallel.Emit, error) {
	t, err := o.target(env, in)
	if err != nil {
		return nil, err
	}
	if o.dryRun {
		p, err := u.Plan(ctx, t.dir, t.visibility)
		if err != nil {
			return nil, err
		}
		return func() error { return show(env, in, p) }, nil
	}
	res, err := u.Publish(ctx, t.dir, t.visibility)
	return func() error { return emit(env, in, res) }, err
}

func emit(env *cli.Env, in cli.Input, res wire.Upload) error {
	if f := env.Out.Format(); f == cli.Table || f == cli.Plain {
		for _, w := range res.Warnings {
			env.Warn("%s: %s", res.SkillDir, w)
		}
	}
	res.ID = in.ID
	return env.Out.Emit(res)
}

// show lists the files of a plan, then what stays, then the upload that it would be.
func show(env *cli.Env, in cli.Input, p *transfer.Plan) error {
	for _, f := range p.FileRecords() {
		f.ID = in.ID
		if err := env.Out.Emit(f); err != nil {
			return err
		}
	}
	return emit(env, in, p.Result)
}
