package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) doctor() *cli.Command {
	return &cli.Command{
		Name: "doctor", Args: "[HOST…]",
		Short: "show every setting and where it comes from, host agents, and the health of roots, store and index; with arguments only these host agents",
		Run: func(ctx context.Context, env *cli.Env) error {
			checks := []func(context.Context, *cli.Env) error{a.settings, a.checkHosts, a.checkServers, a.checkRoots, a.checkStore, a.checkIndexes}
			if len(env.Args) > 0 {
				if err := knownHosts(env.Args); err != nil {
					return err
				}
				checks = checks[1:2]
			}
			for _, check := range checks {
				// One thing that is broken must not hide the others.
				if err := check(ctx, env); err != nil {
					if err := env.Out.Fail(fault.Of(err)); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// settings shows every setting of the suite, those of other commands too.
func (a *app) settings(_ context.Context, env *cli.Env) error {
	names := settings.Known()
	for _, v := range env.Settings.All() {
		if _, own := env.Settings.Get(v.Name); !own && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(ofAccount, name) {
			continue
		}
		if err := env.Out.Emit(settingRecord(env, name)); err != nil {
			return err
		}
	}
	if err := accountRecords(env); err != nil {
		return err
	}
	if err := modelRecords(env); err != nil {
		return err
	}
	rec := wire.Setting{Name: "config_file", Value: env.Settings.ConfigFile(), Source: string(settings.Default)}
	if err := env.Out.Emit(rec); err != nil {
		return err
	}
	return a.variables(env)
}

func settingRecord(env *cli.Env, name string) wire.Setting {
	v, ok := env.Settings.Get(name)
	if !ok {
		if v, ok = env.Settings.Trace(name); !ok {
			v.Source = settings.Default
		}
	}
	return recordOf(env, v)
}

// recordOf shows a value, masked, with what it hides.
func recordOf(env *cli.Env, v settings.Value) wire.Setting {
	rec := wire.Setting{Name: v.Name, Value: settings.Masked(v.Name, v.Value), Source: string(v.Source), Where: v.Where}
	if v.Name == "home" {
		rec.Value = env.Settings.Home()
	}
	for _, s := range v.Shadowed {
		rec.Shadowed = append(rec.Shadowed, strings.TrimSuffix(string(s.Source)+" "+s.Where, " ")+": "+settings.Masked(s.Name, s.Value))
	}
	return rec
}

// variables shows what else of the environment begins like our variables, and which of it is probably a slip.
func (a *app) variables(env *cli.Env) error {
	known := map[string]bool{}
	var names []string
	for _, name := range settings.Known() {
		known[settings.EnvName(name)] = true
		names = append(names, settings.EnvName(name))
	}
	for _, pair := range slices.Sorted(slices.Values(env.Environ)) {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "OPENSPACE_") || known[name] {
			continue
		}
		if err := env.Out.Emit(wire.Setting{Name: name, Value: settings.Masked(name, value), Source: string(settings.Env), Where: name}); err != nil {
			return err
		}
		if near := settings.Nearest(name, names); near != "" && !slices.Contains(settings.OtherVariables(), name) {
			p := wire.Problem{Code: "unknown-variable", Severity: string(skill.Warning), Path: name,
				Message: "no command reads this variable", Hint: "did you mean " + near + "?"}
			if err := env.Out.Emit(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) checkRoots(ctx context.Context, env *cli.Env) error {
	where, bad := a.roots(env)
	for _, root := range where {
		tree, err := roots.Walk(ctx, root)
		if err != nil {
			return err
		}
		message := fmt.Sprintf("skills: %d, problems: %d, from: %s", len(tree.Folders), len(tree.Problems), root.Origin)
		if err := env.Out.Emit(wire.Result{Status: "ok", Action: "root", Path: root.Dir, Message: message, Count: len(tree.Folders)}); err != nil {
			return err
		}
		bad = append(bad, tree.Problems...)
	}
	return emitProblems(env, bad)
}

func emitProblems(env *cli.Env, ds []skill.Diagnostic) error {
	for _, d := range ds {
		if err := env.Out.Emit(problem(d, "")); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) checkStore(_ context.Context, env *cli.Env) error {
	st, err := openStore(env)
	if err != nil {
		return err
	}
	defer st.Close()
	n, err := st.Stats()
	if err != nil {
		return err
	}
	message := fmt.Sprintf("events: %d, records: %d, active: %d, analyses: %d, pending: %d", n.Events, n.Records, n.Active, n.Analyses, n.Pending)
	if err := env.Out.Emit(wire.Result{Status: "ok", Action: "store", Path: st.Home(), Message: message, Count: n.Records}); err != nil {
		return err
	}
	var bad []skill.Diagnostic
	if n.BadLines > 0 {
		bad = append(bad, storeProblem(st.Home(), "bad-line", "damaged journal lines that are skipped: %d", n.BadLines))
	}
	if n.Conflicts > 0 {
		bad = append(bad, storeProblem(st.Home(), "commit-conflict", "commits that do not fit what came before: %d", n.Conflicts))
	}
	return emitProblems(env, bad)
}

func (a *app) checkIndexes(_ context.Context, env *cli.Env) error {
	where, _ := a.roots(env)
	for _, root := range where {
		if err := env.Out.Emit(indexRecord(root, index.Inspect(root, search.IndexDir(env.Settings.Home()), false))); err != nil {
			return err
		}
	}
	return nil
}

func storeProblem(path, code, format string, n uint64) skill.Diagnostic {
	return skill.Diagnostic{Code: code, Severity: skill.Warning, Path: path, Message: fmt.Sprintf(format, n), Hint: "openspace-skills fsck tells which"}
}
