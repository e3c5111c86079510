package main

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/account"
	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are the flags of the command.
type options struct {
	workspace, model, policy, rules string
	dirs                            *[]string
	scope, sandbox                  *string
	iterations, skills, jobs        int
	tokens                          int64
	cost                            float64
	timeout                         time.Duration
	record, replay                  string
	noRecording                     bool
	learn, evolution                *string
	learnFrom, captureDir           string
	force                           bool
	ran                             recordings // that another process is to learn from

	passEnv, allowWrite, allowRead *[]string
	allowPrivate                   bool
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.workspace, "workspace-dir", "", "work in `DIR` (default $OPENSPACE_WORKSPACE, else a new folder for each task)")
	fs.StringVar(&o.model, "model", "", "ask this model: `PROVIDER/NAME`")
	fs.IntVar(&o.iterations, "max-iterations", 20, "call the model at most `N` times for the work on a task")
	fs.Int64Var(&o.tokens, "max-tokens", 0, "send and receive at most `N` tokens for a task (0: no limit)")
	fs.Float64Var(&o.cost, "max-cost", 0, "spend at most `USD` dollars on a task (0: no limit)")
	fs.DurationVar(&o.timeout, "timeout", 0, "work on a task for at most `TIME`, such as 90s or 10m (0: no limit)")
	o.dirs = skilldirs.Flag(fs)
	o.scope = cli.Choice(fs, "search-scope", "where skills come from: `WHERE` is local (this machine), all (a registry, too) or none", task.Scopes()...)
	fs.IntVar(&o.skills, "max-skills", 2, "show the model at most `N` skills before a task")
	account.Flag(fs)
	fs.StringVar(&o.policy, "policy", "", "which skills are left out as unsafe: `POLICY` is block, warn, allow, strict or a list such as block=critical,high;allow=rule-id")
	fs.IntVar(&o.jobs, "jobs", 1, "work on `N` tasks at once")
	fs.StringVar(&o.record, "record", "", "write every exchange with the model to `FILE`")
	fs.StringVar(&o.replay, "replay", "", "answer from `FILE` instead of a model")
	fs.BoolVar(&o.noRecording, "no-recording", false, "keep no recording of what happens")
	o.learn = cli.Choice(fs, "learn", "learn from each task: `WHEN` is wait (before its result), detach (afterwards, in a process of its own) or off", learnWait, learnDetach, learnOff)
	o.evolution = cli.Choice(fs, "evolution", "what becomes of changes that a task suggests for skills: `MODE` is guarded (they are made, but in folders under version control they wait), auto (they are made), propose (they wait for openspace-skills approve) or off",
		string(evolve.Guarded), string(evolve.Auto), string(evolve.Propose), string(evolve.Off))
	fs.StringVar(&o.captureDir, "capture-dir", "", "make new skills in `DIR` (default: the first of a task's skill_dirs, else $OPENSPACE_HOME/skills)")
	fs.StringVar(&o.learnFrom, "learn-from", "", "run no task, but learn from the recording with this `ID` or folder")
	fs.BoolVar(&o.force, "force", false, "with --learn-from: make a new skill although there is one like it")
	o.sandbox = cli.Choice(fs, "sandbox", "how commands are confined: `LEVEL` is best-effort, strict (or they do not run) or off",
		string(sandbox.BestEffort), string(sandbox.Strict), string(sandbox.Off))
	fs.StringVar(&o.rules, "command-rules", "", "allow, ask and deny commands by the JSON rules in `FILE`, too")
	o.passEnv = cli.List(fs, "pass-env", "let commands see the variable `NAME`; may be repeated")
	o.allowWrite = cli.List(fs, "allow-write", "let tasks write below `DIR`, too; may be repeated")
	o.allowRead = cli.List(fs, "allow-read", "let tasks read below `DIR`, too; may be repeated")
	fs.BoolVar(&o.allowPrivate, "allow-private-addresses", false, "let fetch_url reach this machine and private networks")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-execute", Short: "run tasks end to end", Args: "WORDS…", Stdin: "tasks, one a line", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
	}
}

// maxJobs bounds the tasks at once.
const maxJobs = 64

// check settles the flags before anything is done.
func (o *options) check() error {
	switch {
	case o.jobs < 1 || o.jobs > maxJobs:
		return wire.Errorf(wire.Usage, "--jobs: want a number from 1 to %d, got %d", maxJobs, o.jobs)
	case o.iterations < 1:
		return wire.Errorf(wire.Usage, "--max-iterations: want a number from 1 on, got %d", o.iterations)
	case o.skills < 1 || o.skills > 20:
		return wire.Errorf(wire.Usage, "--max-skills: want a number from 1 to 20, got %d", o.skills)
	case o.tokens < 0 || o.cost < 0 || o.timeout < 0:
		return wire.Errorf(wire.Usage, "--max-tokens, --max-cost and --timeout must not be below zero")
	case o.record != "" && o.replay != "":
		return wire.Errorf(wire.Usage, "--record and --replay exclude each other")
	}
	return nil
}

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.learnFrom != "" {
		return o.learnOnly(ctx, env)
	}
	if o.force {
		return wire.Errorf(wire.Usage, "--force goes with --learn-from")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	suite, done, err := o.suite(ctx, env)
	if err != nil {
		return err
	}
	defer done()
	if len(env.Args) > 1 {
		env.Args = []string{strings.Join(env.Args, " ")}
	}
	return o.tasks(ctx, cancel, env, suite)
}

// task returns the task of an input: a record, or a text and the flags.
func (o *options) task(env *cli.Env, in cli.Input) (wire.Task, error) {
	t := wire.Task{Task: in.Value}
	if in.Data != nil {
		if err := in.Decode(&t); err != nil {
			return t, err
		}
	}
	t.ID = in.ID
	if err := task.Check(t); err != nil {
		return t, err
	}
	return o.filled(env, t), nil
}

// filled puts in what a task leaves out. Paths of a record are seen from the working directory.
func (o *options) filled(env *cli.Env, t wire.Task) wire.Task {
	switch {
	case t.WorkspaceDir != "":
	case t.Workspace != "":
		t.WorkspaceDir = t.Workspace
	case o.workspace != "":
		t.WorkspaceDir = o.workspace
	default:
		t.WorkspaceDir = env.Settings.Getenv("OPENSPACE_WORKSPACE")
	}
	if t.WorkspaceDir != "" {
		t.WorkspaceDir = env.Abs(t.WorkspaceDir)
	}
	for i, dir := range t.SkillDirs {
		t.SkillDirs[i] = env.Abs(dir)
	}
	if t.SearchScope == "" {
		t.SearchScope = *o.scope
	}
	if t.Model == "" {
		t.Model = o.model
	}
	if t.MaxIterations == 0 {
		t.MaxIterations = o.iterations
	}
	if t.MaxTokens == 0 {
		t.MaxTokens = o.tokens
	}
	if t.MaxCost == 0 {
		t.MaxCost = o.cost
	}
	if t.TimeoutMS == 0 {
		t.TimeoutMS = (o.timeout + time.Millisecond - 1).Milliseconds() // a short limit is not none
	}
	return t
}
