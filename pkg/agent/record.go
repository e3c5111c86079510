package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// note takes an error of the recorder: people are told, the run goes on.
func (r *run) note(err error) {
	if err != nil {
		r.notice("the recording is not complete: " + err.Error())
	}
}

func (r *run) recordSetup() {
	if r.o.Recorder == nil {
		return
	}
	s := recording.Setup{Agent: r.o.Name, Phase: r.o.Phase, Messages: recorded(r.talk.news())}
	if r.o.Tools != nil {
		for _, t := range r.o.Tools.Specs() {
			s.Tools = append(s.Tools, recording.Tool{Name: t.Name, Backend: t.Backend, Server: t.Server, Description: t.Description})
		}
	}
	r.note(r.o.Recorder.Setup(s))
}

func (r *run) recordIteration(info recording.Response) {
	news := r.talk.news()
	if r.o.Recorder == nil {
		return
	}
	r.note(r.o.Recorder.Iteration(recording.Iteration{
		Agent: r.o.Name, Phase: r.o.Phase, Iteration: r.out.Iterations, Response: info, Messages: recorded(news),
	}))
}

// recordPending records a reply before its calls run.
func (r *run) recordPending(m llm.Message) {
	if r.o.Recorder == nil {
		return
	}
	r.note(r.o.Recorder.Pending(recording.Iteration{
		Agent: r.o.Name, Phase: r.o.Phase, Iteration: r.out.Iterations, Messages: recorded(r.talk.fresh),
		Response: recording.Response{HasToolCalls: true, ToolCalls: len(m.ToolCalls)},
	}))
}

func responseInfo(reply llm.Reply, c *recording.Compaction) recording.Response {
	info := recording.Response{
		HasToolCalls: len(reply.Message.ToolCalls) > 0, ToolCalls: len(reply.Message.ToolCalls), Model: reply.Model,
		Finish: string(reply.Finish), Attempts: reply.Attempts, Compaction: c,
	}
	if reply.Usage != (llm.Usage{}) {
		u := recording.Usage(reply.Usage)
		info.Usage = &u
	}
	return info
}

func recorded(in []llm.Message) []recording.Message {
	out := make([]recording.Message, len(in))
	for i, m := range in {
		out[i] = recording.Message{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, Name: m.Name}
		for _, c := range m.ToolCalls {
			out[i].ToolCalls = append(out[i].ToolCalls, recording.ToolCall{
				ID: c.ID, Function: recording.Function{Name: c.Name, Arguments: c.Arguments}, Problem: c.Problem,
			})
		}
		for _, img := range m.Images {
			out[i].Images = append(out[i].Images, recording.Image{MIME: img.MIME, Data: img.Data})
		}
	}
	return out
}

func (r *run) recordStep(e Execution) {
	if r.o.Recorder == nil {
		return
	}
	s := recording.Step{
		Agent: r.o.Name, Phase: r.o.Phase, Iteration: e.Iteration, CallID: e.ID, Backend: e.Backend, Server: e.Server, Tool: e.Remote(),
		Command: e.Command(), ElapsedMS: e.Result.Elapsed.Milliseconds(), Files: e.Result.Files, SkillIDs: e.Result.SkillIDs, Result: stepResult(e.Result),
	}
	if json.Valid(e.Args) {
		s.Parameters = e.Args
	} else if raw, err := json.Marshal(string(e.Args)); err == nil {
		s.Parameters = raw
	}
	r.note(r.o.Recorder.Step(s))
}

func stepResult(res tools.Result) recording.StepResult {
	out := recording.StepResult{Status: "success", Error: res.Error, Code: res.Code, OutputFile: res.FullPath}
	if res.Failed() {
		out.Status = "error"
	}
	if s := res.Shell; s != nil {
		code := s.ExitCode
		out.ExitCode, out.Stdout, out.Stderr, out.TimedOut, out.Denied = &code, s.Stdout, s.Stderr, s.TimedOut, s.Denied
		return out
	}
	out.Output = res.Content
	return out
}

// about are the arguments that say best what a call is about.
var about = []string{"command", "path", "file", "directory", "url", "pattern", "query", "name", "job", "status"}

// Command returns the call in short, for people and recordings: the command of a shell tool, server.tool of
// MCP, else the tool and what it is about.
func (e Execution) Command() string {
	if e.Result.Shell != nil && e.Result.Shell.Command != "" {
		return e.Result.Shell.Command
	}
	if e.Server != "" {
		return e.Server + "." + e.Remote()
	}
	var args map[string]any
	if json.Unmarshal(e.Args, &args) != nil {
		return e.Tool
	}
	for _, key := range about {
		if text, ok := args[key].(string); ok && text != "" {
			if key == "command" {
				return text
			}
			return e.Tool + "(" + oneLine(text, maxLine) + ")"
		}
	}
	return e.Tool
}

// Remote is the tool's name at its server, as far as it can be told from the name that models call it by; else its name.
func (e Execution) Remote() string {
	if _, own, ok := strings.Cut(e.Tool, "__"); ok && e.Server != "" {
		return own
	}
	return e.Tool
}

// recordAction records the run as a whole.
func (r *run) recordAction() {
	if r.o.Recorder == nil {
		return
	}
	a := recording.Action{
		Agent: r.o.Name, AgentType: "agent", ActionType: "execute", Phase: r.o.Phase, Input: recording.ActionInput{Instruction: r.o.Task},
		Reasoning: recording.ActionReasoning{Response: r.out.Response},
		Output: recording.ActionOutput{
			Status: string(r.out.Status), Stop: string(r.out.Stop), Iterations: r.out.Iterations, ToolCalls: len(r.out.Calls),
		},
	}
	if r.out.Err != nil {
		a.Output.Error = r.out.Err.Error()
	}
	for _, e := range r.out.Calls {
		used := recording.ActionTool{Tool: e.Tool, Backend: e.Backend, Status: stepResult(e.Result).Status}
		if !slices.Contains(a.Reasoning.Tools, used) {
			a.Reasoning.Tools = append(a.Reasoning.Tools, used)
		}
	}
	r.note(r.o.Recorder.Action(a))
}
