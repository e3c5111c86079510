package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/chat"
	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/parallel"
	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/scratch"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are the flags of the command.
type options struct {
	dirs      *[]string
	direction string
	model     string
	dryRun    bool
	jobs      int
	wait      time.Duration
	sandbox   *string
}

func (o *options) flags(fs *flag.FlagSet) {
	o.dirs = cli.List(fs, "skill-dir", "repair the skill in `DIR`, as an argument does; may be repeated")
	fs.StringVar(&o.direction, "direction", "", "what is wrong or what is to be changed: `TEXT`")
	fs.StringVar(&o.model, "model", "", "ask this model: `PROVIDER/NAME`")
	fs.BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
	fs.IntVar(&o.jobs, "jobs", 1, "work on `N` skills at once")
	fs.DurationVar(&o.wait, "wait", 0, "wait for at most `TIME` for somebody else who changes the skill, such as 30s or 5m")
	o.sandbox = cli.Choice(fs, "sandbox", "how the checks of a skill are confined: `LEVEL` is best-effort, strict (or they do not run) or off",
		string(sandbox.BestEffort), string(sandbox.Strict), string(sandbox.Off))
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-fix-skill", Short: "repair a skill", Args: "DIR…", Stdin: "skill folders, one a line", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
	}
}

// maxJobs bounds how many skills are worked on at once.
const maxJobs = 64

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if o.jobs < 1 || o.jobs > maxJobs {
		return wire.Errorf(wire.Usage, "--jobs: want a number from 1 to %d, got %d", maxJobs, o.jobs)
	}
	env.Args = append(append([]string{}, *o.dirs...), env.Args...)
	model, secrets, err := chat.Open(env, o.model)
	if err != nil {
		return err
	}
	skilldirs.WarnHome(env)
	st, err := store.Open(env.Settings.Home(), store.Options{})
	if err != nil {
		return fault.Of(err)
	}
	defer st.Close()
	defer scratch.Left(true) // by others that were killed
	box := evolve.Box{Level: sandbox.Level(*o.sandbox), Path: env.Settings.Getenv("PATH"), Home: env.Settings.Getenv("HOME")}
	e, err := evolve.New(evolve.Options{
		Store: st, Model: model, Mask: chat.Mask(env, secrets).Text, Warn: env.Warn, Wait: o.wait,
		Check: box.Check,
	})
	if err != nil {
		return err
	}
	accept := []string{wire.TypeSkill, wire.TypeImported, wire.TypeHit, wire.TypeResult, wire.TypeVersion}
	return parallel.Each(env, o.jobs, env.Inputs(accept...), func(in cli.Input) parallel.Emit {
		req, err := o.request(env, in)
		var res evolve.Result
		if err == nil {
			res, err = e.Evolve(ctx, req)
		}
		return func() error { return o.emit(env, in, req, res, model.Name(), err) }
	})
}

// request reads one input. A skill file stands for its folder.
func (o *options) request(env *cli.Env, in cli.Input) (evolve.Request, error) {
	rec := struct {
		SkillDir  string `json:"skill_dir"`
		SkillID   string `json:"skill_id"`
		Direction string `json:"direction"`
	}{SkillDir: in.Value}
	if in.Data != nil {
		if err := in.Decode(&rec); err != nil {
			return evolve.Request{}, err
		}
	}
	req := evolve.Request{Kind: review.Fix, Trigger: evolve.Manual, Direction: rec.Direction, DryRun: o.dryRun}
	if req.Direction == "" {
		req.Direction = o.direction
	}
	switch {
	case rec.SkillDir != "":
		if req.Dir = env.Abs(rec.SkillDir); isFile(req.Dir) {
			req.Dir = filepath.Dir(req.Dir)
		}
	case rec.SkillID != "":
		req.Targets = []string{rec.SkillID}
	default:
		return req, wire.Errorf(wire.Invalid, "the record has no skill_dir and no skill_id")
	}
	return req, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// emit writes what came of one input.
func (o *options) emit(env *cli.Env, in cli.Input, req evolve.Request, res evolve.Result, model string, err error) error {
	spent := wire.Tokens{
		Calls: res.Usage.Calls, Input: res.Usage.Input, Cached: res.Usage.Cached, Output: res.Usage.Output, Reasoning: res.Usage.Reasoning,
		Total: res.Usage.Tokens(), Unpriced: res.Usage.Unpriced, Estimated: res.Usage.Estimated,
	}
	out := wire.Result{
		ID: in.ID, Action: "fix", SkillDir: res.Dir, SkillID: res.Head.SkillID, DryRun: o.dryRun, Model: model, Tokens: &spent, Cost: res.Usage.Cost, Warnings: res.Warnings,
	}
	switch {
	case errors.Is(err, evolve.ErrDeclined):
		out.Status, out.Message = "unchanged", err.Error()
		env.Out.Miss(wire.StatusNone)
		return env.Out.Emit(out)
	case err != nil:
		return env.Out.Fail(in.About(coded(err)))
	case res.Outcome == "preview":
		return o.preview(env, in, res, out)
	}
	out.Status, out.SkillID, out.Path, out.Message = "success", res.Record.SkillID, res.Record.Path, res.Summary
	out.NewSkill = &wire.Skill{
		SkillID: res.Record.SkillID, SkillDir: res.Dir, Name: res.Name, Description: res.Record.Description, Path: res.Record.Path, Origin: res.Record.Lineage.Origin,
		Generation: res.Record.Lineage.Generation, ParentSkillIDs: res.Record.Lineage.ParentSkillIDs, ChangeSummary: res.Summary, UploadReady: true,
	}
	return env.Out.Emit(out)
}

// preview shows the change, then says what would be done.
func (o *options) preview(env *cli.Env, in cli.Input, res evolve.Result, out wire.Result) error {
	for _, f := range res.Diff {
		d := wire.Diff{ID: in.ID, SkillDir: res.Dir, From: "disk", To: "proposed", Path: f.Path, Change: f.Change}
		if !f.Binary {
			d.Diff = f.Patch
		}
		if err := env.Out.Emit(d); err != nil {
			return err
		}
	}
	out.Status, out.Message = "preview", res.Summary+"; without --dry-run a change like it is made"
	return env.Out.Emit(out)
}

// coded gives an error of a model the code that the suite has for it.
func coded(err error) error {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return fault.Of(err)
	}
	e := wire.Errorf(wire.Code(llm.Code(err)), "%w", err)
	e.Hint = llm.Hint(err)
	return e
}
