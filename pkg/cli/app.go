package cli

import (
	"context"
	"flag"
	"io"

	urfave "github.com/urfave/cli/v2"
)

// newApp wraps a command for urfave/cli with everything off that prints, exits or guesses by itself: its
// help and version, its usage errors on stdout, its exits inside Run, its cutting of values at commas and
// its completion, which can run the command. Each flag is checked by us when it is set: value keeps the
// first error with the wording of setFlag.
func newApp(a *arranged, first *error, action func(context.Context, []string) error) *urfave.App {
	app := &urfave.App{
		Name: a.root.Name, Usage: a.root.Short, ArgsUsage: a.root.Args,
		HideHelp: true, HideHelpCommand: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(*urfave.Context, error) {},
		OnUsageError:   func(_ *urfave.Context, err error, _ bool) error { return usagef("%w", err) },
	}
	run := func(ctx *urfave.Context) error { return action(ctx.Context, ctx.Args().Slice()) }
	if a.cmd == a.root {
		app.Flags, app.Action = urfaveFlags(a.fs, first), run
		return app
	}
	app.Commands = []*urfave.Command{{
		Name: a.cmd.Name, Usage: a.cmd.Short, ArgsUsage: a.cmd.Args, HideHelp: true, HideHelpCommand: true,
		Flags: urfaveFlags(a.fs, first), Action: run, OnUsageError: app.OnUsageError,
	}}
	return app
}

// argv returns the arguments as the parser wants them.
func (a *arranged) argv() []string {
	argv := []string{a.root.Name}
	if a.cmd != a.root {
		argv = append(argv, a.cmd.Name)
	}
	argv = append(argv, a.flags...)
	return append(append(argv, "--"), a.args...)
}

func urfaveFlags(fs *flag.FlagSet, first *error) []urfave.Flag {
	var flags []urfave.Flag
	fs.VisitAll(func(f *flag.Flag) {
		flags = append(flags, &urfave.GenericFlag{Name: f.Name, Value: value{f, first}})
	})
	return flags
}

// value is a flag's value that keeps the first error of Set: the parser turns errors into text.
type value struct {
	f     *flag.Flag
	first *error
}

func (v value) String() string {
	if v.f == nil { // the zero value, which package flag makes to learn the default's text
		return ""
	}
	return v.f.Value.String()
}

func (v value) Set(s string) error {
	err := setFlag(v.f, "flag "+dashed(v.f.Name), s)
	if err != nil && *v.first == nil {
		*v.first = err
	}
	return err
}
