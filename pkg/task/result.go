package task

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxListedCalls is how many calls of tools a result lists.
const maxListedCalls = 20

// result is what came of the task, whatever it came to.
func (r *run) result() wire.Result {
	res := wire.Result{
		ID: r.t.ID, Status: r.status, TaskID: r.id, Response: r.response, ExecutionTime: seconds(r.answered), ElapsedMS: time.Since(r.start).Milliseconds(),
		Iterations: r.iterations, Warning: r.warning, Warnings: r.warnings, ImportedSkills: r.imports, EvolvedSkills: r.evolved, Phases: r.phases,
		Tokens: tokens(r.total), Cost: r.total.Cost, ActionRequired: actionRequired(r.evolved),
	}
	if r.err != nil {
		res.Error = wire.AsError(r.err)
		res.Error.Message = r.mask(res.Error.Message)
	}
	if r.model != nil {
		res.Model = r.model.Name()
	}
	for _, s := range r.skills {
		res.SkillsUsed = appendNew(res.SkillsUsed, s.ID)
	}
	res.SkillsUsed = appendNew(res.SkillsUsed, r.asked...)
	for _, o := range r.outcomes {
		res.ToolCallCount += len(o.Calls)
		for _, c := range o.Calls {
			if len(res.ToolSummary) < maxListedCalls {
				res.ToolSummary = append(res.ToolSummary, toolCall(c))
			}
		}
	}
	if r.ws != nil && !r.ws.gone {
		res.WorkspaceDir, res.Files = r.ws.dir, r.files
	}
	if r.rec != nil {
		res.RecordingDir = r.rec.Dir()
	}
	return res
}

// seconds is a duration to two decimals.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*100) / 100 }

func toolCall(c agent.Execution) wire.ToolCall {
	t := wire.ToolCall{Tool: oneLine(c.Tool, 100), Status: success}
	if c.Result.Failed() {
		t.Status, t.Error = failed, cut(c.Result.Error, 200)
	}
	return t
}

// actionRequired tells a caller that is an agent what to do with new skills.
func actionRequired(evolved []wire.Skill) string {
	var names []string
	for _, s := range evolved {
		if s.SkillDir != "" {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%d skills changed: %s. Decide by your rules for sharing whether to publish them with upload_skill, and tell the user.", len(names), strings.Join(names, ", "))
}

// outcome writes down how the task ended.
func (r *run) outcome() {
	if r.ws != nil {
		r.files = r.ws.changes()
	}
	if r.rec == nil {
		return
	}
	stop := ""
	if n := len(r.outcomes); n > 0 {
		stop = string(r.outcomes[n-1].Stop)
	}
	u := r.total
	o := recording.Outcome{
		Status: r.status, Iterations: r.iterations, ExecutionTime: seconds(r.answered), Stop: stop, Response: r.response, Warning: r.warning,
		Usage: &recording.Usage{
			Calls: u.Calls, Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Cost: u.Cost, Unpriced: u.Unpriced, Estimated: u.Estimated,
		},
		Phases: r.phases,
	}
	if r.err != nil {
		o.Error = r.err.Error()
	}
	r.ending = o
	r.set("execution_outcome", o)
}

// about is what a call is about, in one line: the command, the path, the address, else the arguments.
func about(c *agent.Execution) string {
	var fields map[string]any
	if json.Unmarshal(c.Args, &fields) != nil {
		return string(c.Args)
	}
	for _, name := range []string{"command", "task", "path", "file_path", "pattern", "query", "url", "status"} {
		if text, ok := fields[name].(string); ok && text != "" {
			return text
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return string(c.Args)
}

// end closes the recording.
func (r *run) end() {
	if r.rec == nil {
		return
	}
	if err := r.rec.Close(r.ending); err != nil {
		r.warn(err.Error())
	}
}
