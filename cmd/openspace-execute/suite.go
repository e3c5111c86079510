package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/scratch"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// suite makes what all tasks share. Nothing is started before everything was checked; then the search is, so that it warms up beside the rest.
func (o *options) suite(ctx context.Context, env *cli.Env) (_ *task.Suite, done func(), err error) {
	s := &task.Suite{
		UserHome: env.Settings.Getenv("HOME"), Home: env.Settings.Home(), Version: cli.Version(), MaxSkills: o.skills, Environ: env.Environ, PassEnv: *o.passEnv,
		Sandbox: sandbox.Level(*o.sandbox), AllowPrivate: o.allowPrivate,
		Record: !o.noRecording && recordingOn(env), Repeatable: o.record != "" || o.replay != "", Replaying: o.replay != "",
	}
	if err := o.bounds(env, s); err != nil {
		return nil, nil, err
	}
	g, err := o.grounding.grounding(env)
	if err != nil {
		return nil, nil, err
	}
	if s.Grounding = g.Grounding; s.Rules == nil {
		s.Rules = g.rules
	}
	models, err := o.models(env, g.secrets)
	if err != nil {
		return nil, nil, err
	}
	s.Model, s.Mask = models.open, models.mask
	if s.Store, err = store.Open(s.Home, store.Options{}); err != nil {
		models.close()
		return nil, nil, fault.Of(err)
	}
	s.ReadDirs = append(s.ReadDirs, o.skillDirs(env)...)
	s.Commands = o.commands(env)
	s.Finder = task.NewFinder(ctx, s.Commands)
	s.Learn = o.learning(env, s)
	return s, func() {
		s.Finder.Close()
		if g.Pool != nil {
			g.Pool.Close()
		}
		s.Store.Close()
		scratch.Left(true) // by others that were killed
		if err := models.close(); err != nil {
			env.Warn("%v", err)
		}
	}, nil
}

// bounds reads what tasks may do.
func (o *options) bounds(env *cli.Env, s *task.Suite) (err error) {
	if s.WriteDirs, err = folders(env, "allow-write", *o.allowWrite); err != nil {
		return err
	}
	if s.ReadDirs, err = folders(env, "allow-read", *o.allowRead); err != nil {
		return err
	}
	if s.Policy, err = safety.ParsePolicy(o.policy); err != nil {
		return wire.Errorf(wire.Usage, "policy %q: %w", o.policy, err)
	}
	if s.Rules, err = o.commandRules(env); err != nil {
		return err
	}
	s.Web, err = o.web.web(env, s.Repeatable)
	return err
}

// skillDirs are the folders in which skills are found. What is wrong with them is told when tasks look for skills.
func (o *options) skillDirs(env *cli.Env) (dirs []string) {
	found, problems := skilldirs.Roots(env, *o.dirs)
	for _, r := range found {
		dirs = append(dirs, r.Dir)
	}
	if *o.scope != task.ScopeNone {
		for _, p := range problems {
			env.WarnOf(wire.NewProblem(p, ""))
		}
	}
	return dirs
}

// commandRules reads the user's rules for commands; nil when there are none.
func (o *options) commandRules(env *cli.Env) (*policy.Rules, error) {
	if o.rules == "" {
		return nil, nil
	}
	data, err := os.ReadFile(env.Abs(o.rules))
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "--command-rules: %w", err)
	}
	rules, notes, err := policy.ParseRules(data, runtime.GOOS)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "--command-rules %q: %w", o.rules, err)
	}
	for _, note := range notes {
		env.Warn("%s: %s", o.rules, note)
	}
	return &rules, nil
}

// commands says how the other commands of the suite are run: with what was said on our command line, and all else as we found it.
func (o *options) commands(env *cli.Env) task.Commands {
	var shared []string
	for _, name := range []string{"policy", "api-base"} {
		if v, ok := env.Settings.Get(name); ok && v.Source == settings.Flag {
			shared = append(shared, "--"+name+"="+v.Value)
		}
	}
	return task.Commands{
		Find: func(name string) (string, error) { return pipe.Find(name, env.Settings.Getenv("PATH")) },
		Dir:  env.Dir, Environ: env.Environ, Stderr: func(line string) { relay(env, line) },
		Import: append([]string{"--jsonl"}, append(shared, "-")...),
		Search: func(more []string) []string {
			args := append([]string{"--jsonl"}, shared...)
			for _, dir := range o.searched(env, more) {
				args = append(args, "--skill-dirs="+dir)
			}
			return append(args, "-")
		},
	}
}

// searched returns the folders for a search that looks into more of them; none when the search finds them itself.
func (o *options) searched(env *cli.Env, more []string) (dirs []string) {
	if v, ok := env.Settings.Get("skill-dirs"); len(more) == 0 && !(ok && v.Source == settings.Flag) {
		return nil
	}
	found, _ := skilldirs.Roots(env, *o.dirs)
	dirs = append(dirs, more...)
	for _, r := range found {
		dirs = append(dirs, r.Dir)
	}
	return dirs
}

// relay hands on what another command says to people. Its error about the run comes back in another way.
func relay(env *cli.Env, line string) {
	var p wire.Problem
	switch err := jsonl.Unmarshal([]byte(line), &p); {
	case err != nil:
		env.Out.WarnOnce(line)
	case p.Type == wire.TypeProblem:
		env.Out.WarnOnce(p.Message)
	}
}

// folders returns the folders of a flag, which must be there: a mistyped one would be found out in the middle of a task.
func folders(env *cli.Env, name string, dirs []string) (out []string, err error) {
	for _, dir := range dirs {
		if info, err := os.Stat(env.Abs(dir)); err != nil || !info.IsDir() {
			return nil, wire.Errorf(wire.Usage, "--%s %q: there is no such folder", name, dir)
		}
		out = append(out, env.Abs(dir))
	}
	return out, nil
}

// recordingOn reads the switch that has always been there.
func recordingOn(env *cli.Env) bool {
	switch strings.ToLower(strings.TrimSpace(env.Settings.Getenv("OPENSPACE_ENABLE_RECORDING"))) {
	case "", "true", "1", "yes", "on":
		return true
	}
	return false
}

// create opens a file for writing, with its folder.
func create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	var pe *os.PathError
	if errors.As(err, &pe) {
		return nil, pe.Err
	}
	return f, err
}
