package mcpserver

import (
	"context"
	"time"
)

func (s *Server) taskStatus() tool {
	return tool{
		name: "task_status", title: "How a task is doing",
		text: `Tell how far a task is that was started with background. Returns at once.`,
		input: `{
	"type": "object",
	"properties": {
		"task_id": {"type": "string", "description": "as execute_task returned it"}
	},
	"required": ["task_id"]
}`,
		output: `{
	"type": "object",
	"properties": {
		"task_id": {"type": "string"},
		"status": {"type": "string", "description": "running, or how it ended: success, incomplete, error or canceled; unfinished when it was broken off"},
		"steps": {"type": "integer", "description": "things that happened so far"},
		"last_step": {"type": "string"},
		"elapsed_seconds": {"type": "integer"},
		"answered": {"type": "boolean", "description": "the answer is there, and the suite is learning from the task"},
		"response": {"type": "string", "description": "the answer"},` + failureFields + `
	}
}`,
		hints: hints{readOnly: true, destructive: false, idempotent: true, openWorld: false},
		run: func(ctx context.Context, a args) (any, error) {
			if r := s.tasks.find(a.text("task_id")); r != nil {
				return r.status(), nil
			}
			r, err := s.recording(ctx, "task_status", a.text("task_id"))
			if err != nil {
				return nil, err
			}
			return statusResult{
				TaskID: r.TaskID, Status: r.Status, Steps: r.ToolCallCount, Elapsed: int(r.ExecutionTime), Answered: r.Response != "", Response: r.Response,
			}, nil
		},
	}
}

// statusResult is the result of task_status.
type statusResult struct {
	TaskID   string `json:"task_id"`
	Status   string `json:"status"`
	Steps    int    `json:"steps"`
	Last     string `json:"last_step,omitempty"`
	Elapsed  int    `json:"elapsed_seconds"`
	Answered bool   `json:"answered"`
	Response string `json:"response,omitempty"`
}

func (r *taskRun) status() statusResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	res := statusResult{TaskID: r.id, Status: "running", Steps: r.steps, Last: r.last, Elapsed: int(time.Since(r.started).Seconds())}
	if r.answer != nil {
		res.Answered, res.Response = true, r.answer.Response
	}
	if r.ended.IsZero() {
		return res
	}
	res.Elapsed = int(r.ended.Sub(r.started).Seconds())
	if res.Status = r.result.Status; r.err != nil {
		res.Status = "error"
	}
	return res
}
