package main

import (
	"flag"
	"iter"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// app is what all verbs share.
type app struct{ dirs *[]string }

func command(manual string) *cli.Command {
	a := &app{}
	return &cli.Command{
		Name: "openspace-skills", Short: "look after the skills on this machine", Manual: manual,
		Flags: func(fs *flag.FlagSet) { a.dirs = skilldirs.Flag(fs) },
		Verbs: []*cli.Command{
			a.list(), a.duplicates(), a.show(), a.validate(), a.scan(), a.history(), a.diff(), a.rollback(), a.register(),
			a.pin(), a.unpin(), a.proposals(), a.approve(), a.reject(),
			a.doctor(), a.fsck(), a.gc(), a.dump(), a.index(), a.recordings(),
		},
	}
}

// roots returns the skill roots that the flag and the settings name.
func (a *app) roots(env *cli.Env) ([]roots.Root, []skill.Diagnostic) {
	return skilldirs.Roots(env, *a.dirs)
}

func openStore(env *cli.Env) (*store.Store, error) {
	skilldirs.WarnHome(env)
	st, err := store.Open(env.Settings.Home(), store.Options{})
	return st, fault.Of(err)
}

// each calls do for every input. An error becomes a record in the place of the input's result; only an error of the output
// itself ends the run.
func each(inputs iter.Seq[cli.Input], out *cli.Printer, do func(cli.Input) error) error {
	for in := range inputs {
		if err := do(in); err != nil {
			if err := out.Fail(in.About(fault.Of(err))); err != nil {
				return err
			}
		}
	}
	return nil
}

// readsRecords are the records that name a skill.
var readsRecords = []string{wire.TypeSkill, wire.TypeHit, wire.TypeVersion, wire.TypeResult, wire.TypeImported, wire.TypeUpload}

// problem returns a diagnostic as a record.
func problem(d skill.Diagnostic, dir string) wire.Problem {
	return wire.Problem{
		Code: d.Code, Severity: string(d.Severity), Path: d.Path, Line: d.Line, Column: d.Column,
		Message: d.Message, Hint: d.Hint, Fixable: d.Fixable, SkillDir: dir,
	}
}

func problems(ds []skill.Diagnostic, dir string) []wire.Problem {
	var out []wire.Problem
	for _, d := range ds {
		out = append(out, problem(d, dir))
	}
	return out
}

// forPeople tells whether the output is read by people, who get problems on stderr.
func forPeople(out *cli.Printer) bool {
	return out.Format() == cli.Table || out.Format() == cli.Plain
}
