package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const typeRecording = "recording"

// task is the record of a recording.
type task struct {
	Type          string       `json:"type"`
	ID            string       `json:"id,omitempty"`
	TaskID        string       `json:"task_id"`
	Name          string       `json:"name"` // of the folder
	RecordingDir  string       `json:"recording_dir"`
	Status        string       `json:"status"` // of the task, or unfinished
	Stop          string       `json:"stop,omitempty"`
	Task          string       `json:"task,omitempty"`
	StartTime     string       `json:"start_time"`
	EndTime       string       `json:"end_time,omitempty"`
	ExecutionTime float64      `json:"execution_time,omitempty"` // seconds
	Model         string       `json:"model,omitempty"`
	WorkspaceDir  string       `json:"workspace_dir,omitempty"`
	SkillsUsed    []string     `json:"skills_used,omitempty"`
	Iterations    int          `json:"iterations,omitempty"`
	ToolCallCount int          `json:"tool_call_count,omitempty"`
	ToolErrors    int          `json:"tool_error_count,omitempty"`
	Tokens        *wire.Tokens `json:"tokens,omitempty"`
	Cost          float64      `json:"cost,omitempty"` // US dollars
	Response      string       `json:"response,omitempty"`
	Warning       string       `json:"warning,omitempty"`
	Message       string       `json:"message,omitempty"` // what went wrong
}

// taskRecord returns what is known of a task.
func taskRecord(s *recording.Saved, sum recording.Summary) task {
	rec := task{
		TaskID: s.TaskID, Name: s.Name, RecordingDir: s.Dir, Status: s.State(), Task: s.Instruction, Model: s.Model, WorkspaceDir: s.WorkspaceDir,
		StartTime: stamp(s.StartTime), EndTime: stamp(s.EndTime), ToolCallCount: sum.Trajectory.TotalSteps,
		ToolErrors: sum.Trajectory.TotalSteps - sum.Trajectory.SuccessCount,
	}
	var chosen struct {
		Selected []string `json:"selected"`
	}
	if json.Unmarshal(s.SkillSelection, &chosen) == nil {
		rec.SkillsUsed = chosen.Selected
	}
	o := s.ExecutionOutcome
	if o == nil {
		return rec
	}
	rec.Stop, rec.ExecutionTime, rec.Iterations = o.Stop, o.ExecutionTime, o.Iterations
	rec.Response, rec.Warning, rec.Message = o.Response, o.Warning, o.Error
	if u := o.Usage; u != nil {
		rec.Cost = u.Cost
		rec.Tokens = &wire.Tokens{
			Calls: u.Calls, Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Total: u.Input + u.Output,
			Unpriced: u.Unpriced, Estimated: u.Estimated,
		}
	}
	return rec
}

// Typed returns a copy with its type set.
func (t task) Typed() wire.Record { t.Type = typeRecording; return t }

// Columns are the headings of Cells.
func (task) Columns() []string {
	return []string{"NAME", "STATUS", "STARTED", "TASK", "ITERATIONS", "TOOLS", "TOKENS", "COST"}
}

// Cells are the values of a row.
func (t task) Cells() []string {
	tokens := ""
	if t.Tokens != nil {
		tokens = strconv.FormatInt(t.Tokens.Total, 10)
	}
	return []string{t.Name, t.Status, t.StartTime, t.Task, strconv.Itoa(t.Iterations), strconv.Itoa(t.ToolCallCount), tokens, money(t.Cost)}
}

func money(dollars float64) string {
	if dollars == 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", dollars)
}

// whole is a recording with all that show tells.
type whole struct {
	task
	Trajectory   []recording.Step `json:"trajectory,omitempty"`
	Conversation []said           `json:"conversation,omitempty"`
}

// said is a line of a conversation, written as it is in the file.
type said struct{ recording.Entry }

// MarshalJSON writes the line.
func (e said) MarshalJSON() ([]byte, error) {
	if e.Setup != nil {
		return jsonl.Marshal(e.Setup)
	}
	return jsonl.Marshal(e.Iteration)
}

// Typed returns a copy with its type set.
func (w whole) Typed() wire.Record { w.Type = typeRecording; return w }

// Columns is nil: the record is text for people, never a row.
func (whole) Columns() []string { return nil }

// Cells is nil, as Columns is.
func (whole) Cells() []string { return nil }

// Text is the record for people: the summary, the steps, the conversation when it was asked for, and the answer.
func (w whole) Text() string {
	var b strings.Builder
	w.head(&b)
	if len(w.Trajectory) > 0 {
		b.WriteString("\nsteps:\n")
	}
	phase := ""
	for _, s := range w.Trajectory {
		if s.Phase != phase {
			phase = s.Phase
			fmt.Fprintf(&b, "  %s\n", phase)
		}
		fmt.Fprintf(&b, "  %4d  %-14s %-10s %7s  %s\n", s.Step, s.Tool, stepState(s.Result), time.Duration(s.ElapsedMS)*time.Millisecond, oneLine(s.Command, 120))
		if s.Result.Error != "" {
			fmt.Fprintf(&b, "        %s\n", oneLine(s.Result.Error, 160))
		}
	}
	for _, e := range w.Conversation {
		e.text(&b)
	}
	if w.Response != "" {
		fmt.Fprintf(&b, "\nanswer:\n%s\n", strings.TrimSpace(w.Response))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (w whole) head(b *strings.Builder) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "%-12s %s\n", name+":", oneLine(value, 2000))
		}
	}
	line("task", w.Task)
	line("id", w.TaskID)
	line("status", strings.TrimSpace(w.Status+" "+inBrackets(w.Stop)))
	line("problem", w.Message)
	line("warning", w.Warning)
	line("started", w.StartTime)
	if w.ExecutionTime > 0 {
		line("took", fmt.Sprintf("%.1f s", w.ExecutionTime))
	}
	line("model", w.Model)
	line("skills", strings.Join(w.SkillsUsed, ", "))
	line("workspace", w.WorkspaceDir)
	line("recording", w.RecordingDir)
	if t := w.Tokens; t != nil {
		line("tokens", fmt.Sprintf("%d sent (%d of them cached), %d received, in %d calls %s", t.Input, t.Cached, t.Output, t.Calls, money(w.Cost)))
	}
	line("work", fmt.Sprintf("%d iterations, %d calls of tools, %d of them failed", w.Iterations, w.ToolCallCount, w.ToolErrors))
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func stepState(r recording.StepResult) string {
	switch {
	case r.TimedOut:
		return "timed out"
	case r.Denied:
		return "denied"
	case r.ExitCode != nil && *r.ExitCode != 0:
		return "exit " + strconv.Itoa(*r.ExitCode)
	case r.Status == "success":
		return "ok"
	}
	return r.Status
}

// text writes an entry of a conversation for people.
func (e said) text(b *strings.Builder) {
	agent, phase, n, messages := "", "", 0, []recording.Message(nil)
	if s := e.Setup; s != nil {
		agent, phase, messages = s.Agent, s.Phase, s.Messages
	} else {
		agent, phase, n, messages = e.Iteration.Agent, e.Iteration.Phase, e.Iteration.Iteration, e.Iteration.Messages
	}
	fmt.Fprintf(b, "\n=== %s\n", strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", agent, phase, ordinal(n))), " · "))
	if e.Iteration != nil && e.Iteration.Response.Error != "" {
		fmt.Fprintf(b, "--- problem\n%s\n", e.Iteration.Response.Error)
	}
	for _, m := range messages {
		fmt.Fprintf(b, "--- %s\n", strings.TrimSpace(m.Role+" "+m.Name+" "+m.ToolCallID))
		if m.Content != "" {
			b.WriteString(strings.TrimRight(m.Content, "\n") + "\n")
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(b, "→ %s %s %s\n", c.Function.Name, c.ID, c.Function.Arguments)
		}
		for _, img := range m.Images {
			fmt.Fprintf(b, "[picture: %s]\n", img.File)
		}
	}
}

func ordinal(n int) string {
	if n == 0 {
		return "begin"
	}
	return strconv.Itoa(n)
}

// oneLine returns a text on one line, cut after about limit characters.
func oneLine(s string, limit int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return string(r)
}
