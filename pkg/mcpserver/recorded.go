package mcpserver

import (
	"cmp"
	"context"
	"regexp"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// recorded is what the recording of a task says of it, for tasks that this server does not know any more.
type recorded struct {
	TaskID        string   `json:"task_id"`
	Status        string   `json:"status"` // of the task, or unfinished
	Response      string   `json:"response"`
	ExecutionTime float64  `json:"execution_time"`
	Iterations    int      `json:"iterations"`
	SkillsUsed    []string `json:"skills_used"`
	ToolCallCount int      `json:"tool_call_count"`
	Warning       string   `json:"warning"`
	Message       string   `json:"message"`
	Cost          float64  `json:"cost"`
}

// taskName is what a task can be called; it becomes an argument.
var taskName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// recording looks for a task in what was recorded.
func (s *Server) recording(ctx context.Context, tool, id string) (rec recorded, err error) {
	unknown := wire.Errorf(wire.NotFound, "%s: there is no task %q", tool, id).WithHint("take the task_id that execute_task returned")
	if !taskName.MatchString(id) {
		return rec, unknown
	}
	found := false
	err = s.runs.once(ctx, "openspace-skills", []string{"recordings", "show", "--jsonl", id}, nil, func(r pipe.Record) {
		found = found || r.Type == "recording" && r.Decode(&rec) == nil
	})
	switch {
	case wire.CodeOf(err) == wire.NotFound, err == nil && !found:
		return rec, unknown
	case err != nil:
		return rec, err
	case rec.Status == "unfinished":
		rec.Warning = "the task has not come to its end: it was broken off, or another server works on it"
	}
	return rec, nil
}

// result is what task_result says of a recorded task.
func (r recorded) result() taskResult {
	res := taskResult{
		Status: r.Status, Response: r.Response, ExecutionTime: r.ExecutionTime, Iterations: r.Iterations, SkillsUsed: orEmpty(r.SkillsUsed),
		TaskID: r.TaskID, ToolCallCount: r.ToolCallCount, ToolSummary: callsOf(nil), Warning: r.Warning, Cost: r.Cost,
	}
	switch r.Status {
	case "error":
		res.Error, res.Code = cmp.Or(r.Message, "the task failed"), wire.Internal
	case "canceled":
		res.Error, res.Code = cmp.Or(r.Message, "the task was canceled"), wire.Canceled
	}
	return res
}
