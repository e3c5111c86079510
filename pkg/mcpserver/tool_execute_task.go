package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

func (s *Server) executeTask(background bool) tool {
	extra, hint := "", ""
	if background {
		extra = `,
		"background": {"type": "boolean", "default": false, "description": "return a task_id at once and work on; task_status and task_result tell the rest"}`
		hint = "\nFor work that may outlast your own time limit for a tool use background."
	}
	return tool{
		name: "execute_task", title: "Do a task",
		text: `Hand over a whole task. An agent with a shell, files and the web chooses skills that fit, does the work in workspace_dir, and answers; afterwards it mends or writes skills if there was something to learn. Takes seconds to many minutes.
Say everything that it needs to know: it does not see your conversation. When the result has evolved_skills, do what action_required says.` + hint,
		input: `{
	"type": "object",
	"properties": {
		"task": {"type": "string", "description": "what is to be done, with all that one must know for it"},
		"workspace_dir": {"type": "string", "description": "folder to work in, absolute; left out: the server's"},
		"max_iterations": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "most calls of the model; left out: the server's setting"},
		"skill_dirs": {"type": "array", "items": {"type": "string"}, "description": "more folders with skills to choose from; new skills go to the first"},
		"search_scope": {"type": "string", "enum": ["all", "local"], "default": "all", "description": "all: also look for skills in the registry"}` + extra + `
	},
	"required": ["task"]
}`,
		output: taskOutput,
		hints:  hints{readOnly: false, destructive: true, idempotent: false, openWorld: true},
		run:    s.runTask,
	}
}

const taskOutput = `{
	"type": "object",
	"properties": {
		"status": {"type": "string", "description": "success; incomplete when a budget ran out; error; canceled; running in the background"},
		"response": {"type": "string", "description": "the answer"},
		"execution_time": {"type": "number", "description": "seconds"},
		"iterations": {"type": "integer"},
		"skills_used": {"type": "array", "items": {"type": "string"}},
		"task_id": {"type": "string"},
		"tool_call_count": {"type": "integer"},
		"tool_summary": {"type": "array", "items": {"type": "object", "properties": {
			"tool": {"type": "string"}, "status": {"type": "string"}, "error": {"type": ["string", "null"]}
		}}},
		"warning": {"type": "string", "description": "why the task is incomplete"},
		"warnings": {"type": "array", "items": {"type": "string"}},
		"evolved_skills": {"type": "array", "items": {"type": "object", "properties": {
			"skill_dir": {"type": "string"}, "name": {"type": "string"}, "origin": {"type": "string", "description": "fixed, derived or captured"},
			"change_summary": {"type": "string"}, "upload_ready": {"type": "boolean"}
		}}},
		"action_required": {"type": "string", "description": "what you should do now"},
		"imported_skills": {"type": "array", "items": {"type": "object", "properties": {
			"skill_id": {"type": "string"}, "name": {"type": "string"}, "import_status": {"type": "string"},
			"local_path": {"type": "string"}, "error": {"type": "string"}
		}}},
		"cost": {"type": "number", "description": "US dollars, as far as it is known"},
		"workspace_dir": {"type": "string"},` + failureFields + `
	}
}`

// taskResult is the result of execute_task.
type taskResult struct {
	Status         string        `json:"status"`
	Response       string        `json:"response"`
	ExecutionTime  float64       `json:"execution_time"`
	Iterations     int           `json:"iterations"`
	SkillsUsed     []string      `json:"skills_used"`
	TaskID         string        `json:"task_id"`
	ToolCallCount  int           `json:"tool_call_count"`
	ToolSummary    []toolCall    `json:"tool_summary"`
	Warning        string        `json:"warning,omitempty"`
	Warnings       []string      `json:"warnings,omitempty"`
	EvolvedSkills  []evolved     `json:"evolved_skills,omitempty"`
	ActionRequired string        `json:"action_required,omitempty"`
	ImportedSkills []wire.Import `json:"imported_skills,omitempty"`
	Cost           float64       `json:"cost,omitempty"`
	WorkspaceDir   string        `json:"workspace_dir,omitempty"`
	Error          string        `json:"error,omitempty"`
	Code           wire.Code     `json:"code,omitempty"`
	Hint           string        `json:"hint,omitempty"`
}

// toolCall is a use of a tool. Hosts read its error whether there is one or not.
type toolCall struct {
	Tool   string  `json:"tool"`
	Status string  `json:"status"`
	Error  *string `json:"error"` // null: there is none
}

// callsOf is what a host is told of uses of tools.
func callsOf(calls []wire.ToolCall) []toolCall {
	told := []toolCall{}
	for _, c := range calls {
		t := toolCall{Tool: c.Tool, Status: c.Status}
		if c.Error != "" {
			t.Error = &c.Error
		}
		told = append(told, t)
	}
	return told
}

// failed says that a task ended without an answer that could be used.
func (r taskResult) failed() bool { return r.Error != "" }

// evolved is a skill that was made or mended.
type evolved struct {
	SkillDir      string `json:"skill_dir"`
	Name          string `json:"name"`
	Origin        string `json:"origin"`
	ChangeSummary string `json:"change_summary"`
	UploadReady   bool   `json:"upload_ready"`
}

// taskRecord is the result record of a task with what hosts are told of it.
type taskRecord struct {
	wire.Result
	Evolved []struct {
		evolved
		Path string `json:"path"`
	} `json:"evolved_skills"`
}

// runTask does a task while the host waits, or begins one.
func (s *Server) runTask(ctx context.Context, a args) (any, error) {
	t := wire.Task{
		ID: "1", Task: a.text("task"), TaskID: newTaskID(), MaxIterations: a.number("max_iterations"), SearchScope: a.text("search_scope"),
	}
	if dir := a.text("workspace_dir"); dir != "" {
		t.WorkspaceDir = s.runs.abs(dir)
	}
	for _, dir := range a.list("skill_dirs") {
		t.SkillDirs = append(t.SkillDirs, s.runs.abs(dir))
	}
	run, err := s.tasks.begin(t)
	if err != nil {
		return nil, err
	}
	if a.yes("background") {
		return started{Status: "running", TaskID: t.TaskID, Message: "the task is being worked on; ask task_status and task_result"}, nil
	}
	return s.tasks.follow(ctx, run)
}

// started is the result of a task in the background.
type started struct {
	Status  string `json:"status"`
	TaskID  string `json:"task_id"`
	Message string `json:"message"`
}

func newTaskID() string {
	var b [6]byte
	rand.Read(b[:])
	return "task_" + hex.EncodeToString(b[:])
}

// resultOf is what a host is told of a task's result.
func resultOf(r taskRecord) taskResult {
	res := taskResult{
		Status: r.Status, Response: r.Response, ExecutionTime: r.ExecutionTime, Iterations: r.Iterations, SkillsUsed: orEmpty(r.SkillsUsed),
		TaskID: r.TaskID, ToolCallCount: r.ToolCallCount, ToolSummary: callsOf(r.ToolSummary), Warning: r.Warning, Warnings: r.Warnings,
		ActionRequired: r.ActionRequired, ImportedSkills: r.ImportedSkills, Cost: r.Cost, WorkspaceDir: r.WorkspaceDir,
	}
	if e := r.Error; e != nil {
		res.Error, res.Code, res.Hint = e.Message, e.Code, e.Hint
	}
	var ready []string
	for _, e := range r.Evolved {
		if e.SkillDir == "" {
			e.SkillDir = strings.TrimSuffix(e.Path, "/SKILL.md")
		}
		if e.UploadReady = e.SkillDir != ""; e.UploadReady {
			ready = append(ready, e.Name)
		}
		res.EvolvedSkills = append(res.EvolvedSkills, e.evolved)
	}
	if len(ready) > 0 && res.ActionRequired == "" {
		res.ActionRequired = fmt.Sprintf("%d skill(s) were made or mended: %s. Decide about each by the rules for uploading in your delegate-task skill, "+
			"call upload_skill for those that others should have, and tell the user.", len(ready), strings.Join(ready, ", "))
	}
	return res
}

// orEmpty returns a list that is never null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
