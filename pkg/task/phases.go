package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// perform does the work: with the skills when there are some, and anew without them when that can help.
func (r *run) perform(ctx context.Context) {
	set, err := r.tools()
	if err != nil {
		r.fail(ctx, err)
		return
	}
	if len(r.skills) == 0 {
		o := r.phase(ctx, phasePlain, set, nil)
		r.judge(o)
		r.settle(o)
		return
	}
	first := r.phase(ctx, phaseGuided, set, nil)
	r.judge(first)
	r.settle(first)
	if why, ok := r.again(first); ok {
		r.step("phase", phaseAnew, why)
		r.settle(r.phase(ctx, phaseAnew, set, first))
	}
}

// settle makes the outcome of a phase that of the task.
func (r *run) settle(o *agent.Outcome) {
	r.status, r.response, r.warning, r.err = string(o.Status), o.Response, r.warningOf(o), o.Err
	switch {
	case o.Status == agent.Canceled:
		r.err = wire.Errorf(wire.Canceled, "%w", o.Err)
	case o.Err != nil:
		r.err = modelError(o.Err)
	}
}

// warningOf says why a phase is incomplete. Limits are those of the whole task, not what was left of them.
func (r *run) warningOf(o *agent.Outcome) string {
	switch o.Stop {
	case agent.OutOfSteps:
		return fmt.Sprintf("reached the limit of %d iterations; the task may need more of them, or a clearer description", r.most())
	case agent.OutOfTime:
		return fmt.Sprintf("reached the time limit of %s", r.limit())
	case agent.OutOfTokens:
		return fmt.Sprintf("reached the limit of %d tokens: %d are used, one more call would need more than is left", r.t.MaxTokens, r.total.Tokens())
	case agent.OutOfMoney:
		return fmt.Sprintf("reached the cost limit of $%.4g", r.t.MaxCost)
	}
	return o.Warning
}

// most is the limit of iterations.
func (r *run) most() int {
	if r.t.MaxIterations > 0 {
		return r.t.MaxIterations
	}
	return agent.DefaultIterations
}

// modelError gives an error of a model its code and its hint.
func modelError(err error) error {
	var ours *wire.Error
	if errors.As(err, &ours) {
		return err
	}
	e := wire.Errorf(wire.Code(llm.Code(err)), "%w", err)
	if hint := llm.Hint(err); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e
}

// judge notes what the first phase, the one with the skills, says about them. A model that cannot be reached, and a user who gives up, say nothing.
func (r *run) judge(o *agent.Outcome) {
	r.guidedWell = o.Status == agent.Success
	if r.guidedWell || mendable(o) || o.Stop == agent.OutOfSteps {
		for _, s := range r.skills {
			r.guided = append(r.guided, s.ID)
		}
		r.guided = appendNew(r.guided, r.asked...)
	}
}

// mendable tells whether a run without the skills, and with an empty conversation, can do better than this one.
func mendable(o *agent.Outcome) bool {
	var e *llm.Error
	switch {
	case o.Status == agent.Success || o.Status == agent.Canceled:
		return false
	case o.Blocked:
		return true
	case errors.As(o.Err, &e):
		return e.Kind == llm.TooLarge
	}
	return o.Stop == agent.Repeated || o.Stop == agent.EmptyReplies || o.Stop == agent.CutReplies
}

// What a second phase needs at least.
const (
	leastIterations = 2
	leastTime       = 5 * time.Second
)

// again decides whether there is a second phase, and why.
func (r *run) again(first *agent.Outcome) (why string, ok bool) {
	if !mendable(first) {
		return "", false
	}
	left, err := r.left()
	if err != nil || left.Iterations < leastIterations || left.Time > 0 && left.Time < leastTime {
		return "", false
	}
	return "again without the skills: " + oneLine(reasonOf(first), 300), true
}

// left is what of the budget is not used yet. Its error says that a limit is reached.
func (r *run) left() (b agent.Budget, err error) {
	r.mu.Lock()
	used := r.total
	r.mu.Unlock()
	if b.Iterations = r.most() - r.iterations; b.Iterations <= 0 {
		return b, fmt.Errorf("reached the limit of %d iterations", r.most())
	}
	if r.t.MaxTokens > 0 {
		if b.Tokens = r.t.MaxTokens - used.Tokens(); b.Tokens <= 0 {
			return b, fmt.Errorf("reached the limit of %d tokens", r.t.MaxTokens)
		}
	}
	if r.t.MaxCost > 0 {
		if b.Cost = r.t.MaxCost - used.Cost; b.Cost <= 0 {
			return b, fmt.Errorf("reached the cost limit of $%.4g", r.t.MaxCost)
		}
	}
	if r.t.TimeoutMS > 0 {
		if b.Time = r.limit() - time.Since(r.start); b.Time <= 0 {
			return b, fmt.Errorf("reached the time limit of %s", r.limit())
		}
	}
	return b, nil
}

// phase runs the agent with what is left of the budget. before is the phase that this one follows.
func (r *run) phase(ctx context.Context, name string, set *tools.Set, before *agent.Outcome) *agent.Outcome {
	began := time.Now()
	p := agent.Prompt{Workspace: r.ws.dir, Files: r.ws.names(r.t.Task), Channel: r.t.Channel}
	phase := wire.Phase{Name: name}
	if name == phaseGuided {
		p.Skills = r.skills
		for _, s := range r.skills {
			phase.Skills = append(phase.Skills, s.ID)
		}
	}
	if name != phaseAnew {
		r.step("phase", name, "")
	}
	o := &agent.Outcome{Status: agent.Incomplete}
	budget, err := r.left()
	if err != nil {
		o.Warning = err.Error()
	} else {
		options := agent.Options{
			Model: r.model, Tools: set, System: p.Parts(), History: history(r.t.History), Task: r.t.Task, Budget: budget, Phase: name,
			OutputDir: r.env.OutputDir, Events: r.events(name),
		}
		if before != nil {
			options.System = append(options.System, secondNote(r.skills, before, r.ws.changes()))
		}
		if r.rec != nil {
			options.Recorder = r.rec
		}
		if o, err = agent.Run(ctx, options); err != nil {
			o = &agent.Outcome{Status: agent.Errored, Stop: agent.ByError, Err: err}
		}
	}
	r.ended(o, phase, time.Since(began))
	return o
}

// ended adds a phase to what the task took.
func (r *run) ended(o *agent.Outcome, phase wire.Phase, took time.Duration) {
	r.iterations += o.Iterations
	r.outcomes = append(r.outcomes, o)
	for _, c := range o.Calls {
		r.asked = appendNew(r.asked, c.Result.SkillIDs...)
	}
	for _, n := range o.Notices {
		r.warn(n)
	}
	phase.Status, phase.Stop, phase.Reason = string(o.Status), string(o.Stop), oneLine(reasonOf(o), 300)
	phase.Iterations, phase.Tokens, phase.Cost, phase.ElapsedMS = o.Iterations, tokens(o.Usage), o.Usage.Cost, took.Milliseconds()
	r.phases = append(r.phases, phase)
}

// tools makes what the agent can do.
func (r *run) tools() (*tools.Set, error) {
	r.env = &tools.Env{
		Workspace: r.ws.dir, WriteDirs: r.s.WriteDirs, ReadDirs: r.readable(), Environ: r.s.Environ, PassEnv: r.s.PassEnv,
		Sandbox: r.s.Sandbox, Confined: r.confined, Mask: r.s.Mask, AllowPrivate: r.s.AllowPrivate,
	}
	if r.rec != nil {
		dir, err := r.rec.FilesDir()
		if err != nil {
			r.warn(err.Error())
		}
		r.env.OutputDir = dir
	}
	if r.s.Rules != nil {
		r.env.Policy = policy.New(policy.Paths{Workspace: r.ws.dir, Write: r.s.WriteDirs, Read: r.env.ReadDirs, Home: r.s.UserHome}, *r.s.Rules)
	}
	more := []tools.Tool{tools.FinishTool()}
	if r.finder != nil {
		more = append(more, tools.RetrieveSkill(r.retrieve))
	}
	return r.env.NewSet(more...)
}

// confined writes down how much of the sandbox commands have, and warns when it is less than was asked for.
func (r *run) confined(got sandbox.Report) {
	r.set("sandbox", got)
	if text := lessConfined(r.s.Sandbox, got); text != "" {
		r.warn(text)
	}
}

func lessConfined(asked sandbox.Level, got sandbox.Report) string {
	if asked == sandbox.Off || len(got.Missing) == 0 {
		return ""
	}
	return "commands are less confined than on other machines: sandbox " + got.String() + "; --sandbox strict runs none then"
}

// readable are the folders that may be read beside the workspace.
func (r *run) readable() (dirs []string) {
	dirs = appendNew(dirs, r.s.ReadDirs...)
	for _, s := range r.skills {
		dirs = appendNew(dirs, s.Dir)
	}
	return appendNew(dirs, r.t.SkillDirs...)
}

// retrieve answers the agent's question for a skill.
func (r *run) retrieve(ctx context.Context, query string) ([]tools.FoundSkill, error) {
	hits, err := r.search(ctx, cut(query, maxQuery), maxOffered)
	if err != nil {
		return nil, err
	}
	for _, h := range candidates(hits, r.onProbation, &Selection{}) {
		if h.SkillDir == "" {
			continue // of the registry: it is not fetched in the middle of the work
		}
		s, err := load(h, r.s.Policy)
		if err != nil {
			continue
		}
		if r.s.Repeatable {
			if err := r.model.add(h); err != nil {
				return nil, err
			}
		}
		r.found.Lock()
		r.folders[s.ID] = s.Dir
		r.found.Unlock()
		return []tools.FoundSkill{{ID: s.ID, Dir: s.Dir, Name: h.Name, Description: h.Description, Body: s.Body}}, nil
	}
	return nil, nil
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		known := m == ""
		for _, l := range list {
			known = known || l == m
		}
		if !known {
			list = append(list, m)
		}
	}
	return list
}
