package mcpserver

import (
	"context"
	"time"
)

func (s *Server) taskResult() tool {
	return tool{
		name: "task_result", title: "Result of a task",
		text: `Fetch the result of a task that was started with background: the same as execute_task returns. While the task is running status is "running"; with wait_seconds the call waits for its end.`,
		input: `{
	"type": "object",
	"properties": {
		"task_id": {"type": "string", "description": "as execute_task returned it"},
		"wait_seconds": {"type": "integer", "minimum": 0, "maximum": 50, "default": 0, "description": "how long to wait for the end"}
	},
	"required": ["task_id"]
}`,
		output: taskOutput,
		hints:  hints{readOnly: true, destructive: false, idempotent: true, openWorld: false},
		run:    s.runTaskResult,
	}
}

func (s *Server) runTaskResult(ctx context.Context, a args) (any, error) {
	r := s.tasks.find(a.text("task_id"))
	if r == nil {
		rec, err := s.recording(ctx, "task_result", a.text("task_id"))
		if err != nil {
			return nil, err
		}
		return rec.result(), nil
	}
	if wait := a.number("wait_seconds"); wait > 0 {
		timer := time.NewTimer(time.Duration(wait) * time.Second)
		defer timer.Stop()
		select {
		case <-r.done:
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case <-r.done:
		return r.outcome()
	default:
		return started{Status: "running", TaskID: r.id, Message: "the task is still being worked on"}, nil
	}
}
