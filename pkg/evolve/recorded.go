package evolve

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/store"
)

// Names that the recording of a task gives to its parts.
const (
	workAgent    = "agent"
	fallbackPart = "without_skills"
	shellBackend = "shell"
	shellTool    = "run_shell"
)

// Recorded makes a run of the recording of a task. Skills that are selected in it and that the store knows count as offered, and so do those that a tool
// found; skills adds what the caller knows better.
func Recorded(st *store.Store, rec *recording.Saved) (Run, error) {
	run := Run{TaskID: rec.TaskID, Task: rec.Instruction, Dir: rec.Dir, Workspace: rec.WorkspaceDir, Status: "unknown", Ended: rec.EndTime}
	if o := rec.ExecutionOutcome; o != nil {
		run.Status, run.Answer = o.Status, o.Response
		run.Figures = store.RunFigures{Status: o.Status, Iterations: o.Iterations, MS: int64(o.ExecutionTime * 1000)}
		if o.Usage != nil {
			run.Figures.Tokens, run.Figures.CostUSD = o.Usage.Input+o.Usage.Output, o.Usage.Cost
		}
	}
	entries, _, err := rec.Conversations()
	if err != nil {
		return run, fmt.Errorf("read the conversation of task %q: %w", rec.TaskID, err)
	}
	steps, _, err := rec.Steps()
	if err != nil {
		return run, fmt.Errorf("read the calls of task %q: %w", rec.TaskID, err)
	}
	run.said(entries)
	var selection struct {
		Selected []string `json:"selected"`
	}
	_ = json.Unmarshal(rec.SkillSelection, &selection) // of another form: nothing was selected that is known
	for _, id := range selection.Selected {
		run.offer(st, id, false)
	}
	for _, s := range steps {
		run.step(s)
		for _, id := range s.SkillIDs {
			run.offer(st, id, true)
		}
	}
	return run, nil
}

// offer adds a skill, each once.
func (r *Run) offer(st *store.Store, id string, late bool) {
	for _, o := range r.Offered {
		if o.ID == id {
			return
		}
	}
	o := Offered{ID: id, Late: late}
	if rec, ok, err := st.Record(id); err == nil && ok {
		o.Name, o.Dir = rec.Name, rec.Dir()
	}
	r.Offered = append(r.Offered, o)
}

// said takes the conversations of the work; those of learning do not belong to it (B29).
func (r *Run) said(entries []recording.Entry) {
	for _, e := range entries {
		if s := e.Setup; s != nil && s.Agent == workAgent {
			for _, m := range s.Messages {
				r.say(r.phase(s.Phase), 0, m)
			}
		}
		if it := e.Iteration; it != nil && it.Agent == workAgent {
			for _, m := range it.Messages {
				r.say(r.phase(it.Phase), it.Iteration, m)
			}
		}
	}
}

// phase numbers a part of a run.
func (r *Run) phase(name string) int {
	if name == fallbackPart {
		r.Fellback = true
		return 2
	}
	return 1
}

func (r *Run) say(phase, iteration int, m recording.Message) {
	if m.Role == string(llm.System) {
		return
	}
	msg := llm.Message{Role: llm.Role(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, Name: m.Name}
	for _, c := range m.ToolCalls {
		msg.ToolCalls = append(msg.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments, Problem: c.Problem})
	}
	r.Said = append(r.Said, Said{Phase: phase, Iteration: iteration, Message: msg})
}

func (r *Run) step(s recording.Step) {
	if s.Agent != workAgent && s.Agent != "" {
		return
	}
	r.Steps = append(r.Steps, Step{
		Phase: r.phase(s.Phase), Backend: s.Backend, Server: s.Server, Tool: s.Tool, Command: s.Command, Script: script(s), OK: s.Result.Status == "success",
		Error: s.Result.Error, Exit: s.Result.Status != "success" && !recording.Blames(s.Result.Code) || s.Result.Denied, MS: s.ElapsedMS,
	})
}

// script is what a shell was told to run; "" of any other tool.
func script(s recording.Step) string {
	var p struct {
		Command string `json:"command"`
	}
	if s.Backend != shellBackend || s.Tool != shellTool || json.Unmarshal(s.Parameters, &p) != nil {
		return ""
	}
	return p.Command
}

// recalled reads the run of an earlier analysis again; nil when its recording is gone.
func (e *Engine) recalled(a store.Analysis) (*Run, error) {
	if a.RecDir == "" {
		return nil, nil
	}
	saved, err := recording.Open(filepath.Dir(a.RecDir), filepath.Base(a.RecDir))
	if err != nil {
		return nil, err
	}
	run, err := Recorded(e.o.Store, saved)
	return &run, err
}
