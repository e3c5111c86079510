package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// When a task is learnt from.
const (
	learnWait   = "wait"
	learnDetach = "detach"
	learnOff    = "off"
)

// learning returns what the suite does between an answer and its result; nil when nothing is learnt.
func (o *options) learning(env *cli.Env, s *task.Suite) func(context.Context, task.Learning) (task.Learnt, error) {
	switch {
	case *o.learn == learnOff || !s.Record || s.Repeatable:
		return nil
	case *o.learn == learnDetach:
		return func(_ context.Context, l task.Learning) (task.Learnt, error) {
			if l.Recording == nil {
				return task.Learnt{}, errors.New("there is no recording")
			}
			o.ran.add(l.Recording.Dir(), l.CaptureDir)
			return task.Learnt{Later: true}, nil
		}
	}
	return func(ctx context.Context, l task.Learning) (task.Learnt, error) { return o.learnNow(ctx, env, s, l) }
}

// learnNow learns from a task whose answer is there.
func (o *options) learnNow(ctx context.Context, env *cli.Env, s *task.Suite, l task.Learning) (task.Learnt, error) {
	if l.Recording == nil {
		return task.Learnt{}, errors.New("there is no recording")
	}
	run, err := runOf(s.Store, l)
	if err != nil {
		return task.Learnt{}, err
	}
	e, err := o.engine(env, s.Store, l.Model, s.Mask.Text, cmp.Or(o.captureDir, l.CaptureDir), func(x evolve.Exchange) {
		if err := l.Recording.Iteration(exchange(x)); err != nil {
			env.Warn("record what is learnt: %v", err)
		}
	}, s.Finder)
	if err != nil {
		return task.Learnt{}, err
	}
	got, err := e.Learn(ctx, run)
	for _, c := range got.Changes {
		l.EmitStep("notice", changed(c))
	}
	for _, n := range got.Notes {
		l.EmitStep("notice", n)
	}
	return task.Learnt{Skills: evolved(got), Waiting: waiting(got), Usage: got.Usage}, err
}

// engine is what learns.
func (o *options) engine(env *cli.Env, st *store.Store, model llm.Model, mask func(string) string, root string, observe func(evolve.Exchange), finder *task.Finder) (*evolve.Engine, error) {
	if root == "" {
		root = filepath.Join(env.Settings.Home(), "skills")
	}
	var similar func(context.Context, string) ([]string, error)
	if finder != nil {
		similar = func(ctx context.Context, text string) ([]string, error) {
			hits, err := finder.Find(ctx, wire.Query{Query: text, Limit: 10})
			var dirs []string
			for _, h := range hits {
				dirs = append(dirs, h.SkillDir)
			}
			return dirs, err
		}
	}
	box := evolve.Box{Level: sandbox.Level(*o.sandbox), Path: env.Settings.Getenv("PATH"), Home: env.Settings.Getenv("HOME")}
	return evolve.New(evolve.Options{
		Store: st, Model: model, Mode: evolve.Mode(*o.evolution), Root: env.Abs(root), Similar: similar, Mask: mask, Observe: observe, Warn: env.Warn, Force: o.force,
		Check: box.Check, Replay: box.Replay,
	})
}

// runOf is a run as the task tells of it, with what its recording has.
func runOf(st *store.Store, l task.Learning) (evolve.Run, error) {
	saved, err := recording.Open(filepath.Dir(l.Recording.Dir()), filepath.Base(l.Recording.Dir()))
	if err != nil {
		return evolve.Run{}, err
	}
	run, err := evolve.Recorded(st, saved)
	if err != nil {
		return run, err
	}
	run.TaskID, run.Status, run.Answer, run.Ended = l.TaskID, l.Result.Status, l.Result.Response, time.Now()
	run.Figures = store.RunFigures{Status: l.Result.Status, Iterations: l.Result.Iterations, CostUSD: l.Result.Cost, MS: l.Result.ElapsedMS}
	if l.Result.Tokens != nil {
		run.Figures.Tokens = l.Result.Tokens.Total
	}
	run.Offered = nil
	for _, s := range l.Skills {
		id := s.ID
		if head, ok, err := st.HeadAt(s.Dir); err == nil && ok {
			id = head.SkillID
		}
		run.Offered = append(run.Offered, evolve.Offered{ID: id, Dir: s.Dir})
	}
	for _, id := range l.Asked {
		if rec, ok, err := st.Record(id); err == nil && ok {
			run.Offered = append(run.Offered, evolve.Offered{ID: id, Name: rec.Name, Dir: rec.Dir(), Late: true})
		}
	}
	return run, nil
}

// exchange is a question of learning as the recording of its task has it.
func exchange(x evolve.Exchange) recording.Iteration {
	it := recording.Iteration{Agent: x.Agent, Phase: "learn", Response: recording.Response{
		ToolCalls: len(x.Reply.ToolCalls), HasToolCalls: len(x.Reply.ToolCalls) > 0,
		Usage: &recording.Usage{Calls: x.Usage.Calls, Input: x.Usage.Input, Cached: x.Usage.Cached, Output: x.Usage.Output, Reasoning: x.Usage.Reasoning, Cost: x.Usage.Cost,
			Unpriced: x.Usage.Unpriced, Estimated: x.Usage.Estimated},
	}}
	for _, m := range append(append([]llm.Message{}, x.Messages...), x.Reply) {
		msg := recording.Message{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, Name: m.Name}
		for _, c := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, recording.ToolCall{ID: c.ID, Type: "function", Function: recording.Function{Name: c.Name, Arguments: c.Arguments}, Problem: c.Problem})
		}
		it.Messages = append(it.Messages, msg)
	}
	return it
}

// changed says what came of a change in a line.
func changed(c evolve.Result) string {
	if c.Outcome == review.Proposed {
		return fmt.Sprintf("proposed: %s of %s: %s; openspace-skills approve %s makes it", c.Kind, c.Name, c.Summary, c.Proposal)
	}
	return fmt.Sprintf("%s %s: %s", c.Record.Lineage.Origin, c.Record.SkillID, c.Summary)
}

// waiting are the changes that wait for a yes.
func waiting(l evolve.Learned) (out []string) {
	for _, c := range l.Changes {
		if c.Outcome == review.Proposed {
			out = append(out, changed(c))
		}
	}
	return out
}

// evolved are the new versions, as a result tells of them.
func evolved(l evolve.Learned) (out []wire.Skill) {
	for _, c := range l.Changes {
		if c.Outcome == review.Proposed {
			continue
		}
		out = append(out, wire.Skill{
			SkillID: c.Record.SkillID, SkillDir: c.Dir, Name: c.Name, Description: c.Record.Description, Path: c.Record.Path, Origin: c.Record.Lineage.Origin,
			Generation: c.Record.Lineage.Generation, ParentSkillIDs: c.Record.Lineage.ParentSkillIDs, ChangeSummary: c.Summary, UploadReady: true,
		})
	}
	return out
}

// learnOnly learns from a task that is over.
func (o *options) learnOnly(ctx context.Context, env *cli.Env) error {
	models, err := o.models(env, nil)
	if err != nil {
		return err
	}
	defer models.close()
	model, err := models.open(o.model, nil)
	if err != nil {
		return err
	}
	st, err := store.Open(env.Settings.Home(), store.Options{})
	if err != nil {
		return fault.Of(err)
	}
	defer st.Close()
	run, err := o.recorded(env, st)
	if err != nil {
		return err
	}
	run.Again = true
	e, err := o.engine(env, st, model, models.mask.Text, o.captureDir, nil, nil)
	if err != nil {
		return err
	}
	got, err := e.Learn(ctx, run)
	if err != nil {
		return fault.Of(err)
	}
	res := wire.Result{Status: "success", Action: "learn", TaskID: run.TaskID, EvolvedSkills: evolved(got), Warnings: got.Notes, Model: model.Name(),
		Message: got.Analysis.ExecutionNote, RecordingDir: run.Dir, Cost: got.Usage.Cost,
		Tokens: &wire.Tokens{Calls: got.Usage.Calls, Input: got.Usage.Input, Cached: got.Usage.Cached, Output: got.Usage.Output, Reasoning: got.Usage.Reasoning,
			Total: got.Usage.Tokens(), Unpriced: got.Usage.Unpriced, Estimated: got.Usage.Estimated},
	}
	res.Warnings = append(res.Warnings, waiting(got)...)
	if len(got.Changes) == 0 {
		res.Status = "unchanged"
		env.Out.Miss(wire.StatusNone)
	}
	return env.Out.Emit(res)
}

// recorded reads the run of a recording that is over.
func (o *options) recorded(env *cli.Env, st *store.Store) (evolve.Run, error) {
	dir, id := filepath.Join(env.Settings.Home(), "recordings"), o.learnFrom
	if filepath.Base(id) != id {
		dir, id = filepath.Split(env.Abs(id))
	}
	saved, err := recording.Open(dir, id)
	if errors.Is(err, recording.ErrNotFound) {
		return evolve.Run{}, wire.Errorf(wire.NotFound, "--learn-from %q: %w", o.learnFrom, err).WithHint("openspace-skills recordings list shows what there is")
	}
	if err != nil {
		return evolve.Run{}, fault.Of(err)
	}
	if saved.EndTime.IsZero() {
		return evolve.Run{}, wire.Errorf(wire.Invalid, "--learn-from %q: the task is not over, or was killed", o.learnFrom)
	}
	run, err := evolve.Recorded(st, saved)
	run.TaskID = saved.Name
	return run, err
}

// recordings are those that other processes are to learn from, and where new skills go.
type recordings struct {
	mu   sync.Mutex
	dirs map[string]string
}

func (r *recordings) add(dir, captureDir string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirs == nil {
		r.dirs = map[string]string{}
	}
	r.dirs[dir] = captureDir
}

// take returns whether a recording is to be learnt from, once.
func (r *recordings) take(dir string) (captureDir string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	captureDir, ok = r.dirs[dir]
	delete(r.dirs, dir)
	return captureDir, ok
}

// learnApart starts a process that learns from a task whose result was written, and does not wait for it.
func (o *options) learnApart(env *cli.Env, res wire.Result) {
	captureDir, ok := o.ran.take(res.RecordingDir)
	if !ok {
		return
	}
	args := []string{"--jsonl", "--learn-from=" + res.RecordingDir, "--sandbox=" + *o.sandbox, "--evolution=" + *o.evolution}
	if o.model != "" {
		args = append(args, "--model="+o.model)
	}
	if dir := cmp.Or(o.captureDir, captureDir); dir != "" {
		args = append(args, "--capture-dir="+dir)
	}
	if err := detach(args, env); err != nil {
		env.Warn("learn from task %s: %v", res.TaskID, err)
	}
}
