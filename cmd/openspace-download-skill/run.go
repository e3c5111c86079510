package main

import (
	"context"
	"flag"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/account"
	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/parallel"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are the flags of the command.
type options struct {
	transfer.Download
	jobs     account.Jobs
	ids      *[]string
	into     string
	policy   string
	signedBy *[]string

	update, diff, pin, unpin bool
}

func (o *options) flags(fs *flag.FlagSet) {
	o.ids = cli.List(fs, "skill-id", "import the skill with this `ID`, as an argument does; may be repeated")
	fs.StringVar(&o.into, "into", "home", "put skills below `WHERE`: home, host or a folder")
	fs.StringVar(&o.into, "output-dir", "home", "the same as --into")
	account.Flag(fs)
	o.jobs.Flag(fs)
	fs.BoolVar(&o.Force, "force", false, "fetch again what is there; local edits become a version in the store first")
	fs.BoolVar(&o.DryRun, "dry-run", false, "say what would be done; nothing is fetched or changed")
	fs.BoolVar(&o.update, "update", false, "bring installed skills to their newest version")
	fs.BoolVar(&o.AnyOwner, "any-owner", false, "with --update: take newer versions of other publishers too")
	fs.BoolVar(&o.diff, "diff", false, "show what an update would change in installed skills")
	fs.BoolVar(&o.pin, "pin", false, "let --update pass over installed skills")
	fs.BoolVar(&o.unpin, "unpin", false, "end --pin")
	fs.BoolVar(&o.RequireSignature, "require-signature", false, "refuse skills that nobody signed")
	o.signedBy = cli.List(fs, "signed-by", "refuse skills that are not signed by the key with this `FINGERPRINT`; may be repeated")
	fs.StringVar(&o.policy, "policy", "", "what the safety scan blocks, such as `block=critical,high`")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-download-skill", Short: "import skills from a registry", Args: "ID…", Stdin: "record ids, one a line", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
	}
}

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if err := o.check(env); err != nil {
		return err
	}
	st, err := store.Open(env.Settings.Home(), store.Options{})
	if err != nil {
		return fault.Of(err)
	}
	defer st.Close()
	o.Store, o.Jobs, o.Limits, o.SignedBy = st, int(o.jobs), transfer.DefaultLimits(), *o.signedBy
	if !o.pin && !o.unpin {
		// An archive needs no registry, so that a missing key is an error only of what needs one.
		if o.Client, err = account.Client(env, account.Settings); err != nil && !o.archivesOnly(env) {
			return err
		}
	}
	d := transfer.NewDownloader(o.Download)
	do := o.mode(ctx, env, d)
	return parallel.Each(env, ahead*int(o.jobs), env.Inputs(reads...), func(in cli.Input) parallel.Emit {
		n, err := named(env, in)
		if err == nil {
			var emit parallel.Emit
			if emit, err = do(in, n); err == nil {
				return emit
			}
		}
		return func() error { return env.Out.Fail(in.About(fault.Of(err))) }
	})
}

// ahead is how many inputs are begun for each that is worked on: what is ready waits to be put in place together with others.
const ahead = 16

// reads are the records that name a skill.
var reads = []string{wire.TypeHit, wire.TypeSkill, wire.TypeImported, wire.TypeUpload, wire.TypeVersion}

// check settles the flags before anything is done.
func (o *options) check(env *cli.Env) error {
	modes := 0
	for _, on := range []bool{o.update, o.diff, o.pin, o.unpin} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return wire.Errorf(wire.Usage, "--update, --diff, --pin and --unpin exclude each other")
	case o.DryRun && (o.diff || o.pin || o.unpin):
		return wire.Errorf(wire.Usage, "--dry-run goes with an import or --update")
	case o.AnyOwner && !o.update:
		return wire.Errorf(wire.Usage, "--any-owner goes with --update")
	}
	if err := o.jobs.Check(); err != nil {
		return err
	}
	var err error
	if o.Policy, err = safety.ParsePolicy(o.policy); err != nil {
		return wire.Errorf(wire.Usage, "policy %q: %w", o.policy, err)
	}
	if o.Root, err = root(env, o.into); err != nil {
		return err
	}
	if len(*o.ids) > 0 {
		env.Args = append(append([]string{}, *o.ids...), env.Args...)
	}
	return nil
}

// root returns the folder that --into names.
func root(env *cli.Env, into string) (string, error) {
	switch into {
	case "":
		return "", wire.Errorf(wire.Usage, "--into: empty folder name")
	case "home":
		return filepath.Join(env.Settings.Home(), "skills"), nil
	case "host":
		v, ok := env.Settings.HostSkillDir()
		for _, p := range env.Settings.HostProblems() {
			env.Out.WarnOnce(p.String())
		}
		if !ok {
			return "", wire.Errorf(wire.Usage, "--into host: no host agent's skill folder is known").WithHint("set OPENSPACE_HOST_SKILL_DIRS")
		}
		return v.Value, nil
	}
	return env.Abs(into), nil
}

func (o *options) archivesOnly(env *cli.Env) bool {
	for _, arg := range env.Args {
		if !isArchive(arg) {
			return false
		}
	}
	return len(env.Args) > 0 && !o.update && !o.diff
}

func isArchive(arg string) bool { return strings.HasSuffix(strings.ToLower(arg), ".zip") }
