package recording

import (
	"encoding/json"
	"time"
)

// Schema is the version of the format that this package writes.
const Schema = 1

// Meta is what is known of a task when it begins.
type Meta struct {
	Instruction  string
	WorkspaceDir string
	Model        string
	Version      string // of the program
	Backends     []string

	// Mask replaces secrets in every text before it is written; nil: texts are written as they are.
	Mask func(string) string
}

// Metadata is the content of metadata.json.
type Metadata struct {
	Schema           int             `json:"schema"`
	TaskID           string          `json:"task_id"`
	TaskName         string          `json:"task_name"`
	Instruction      string          `json:"instruction"`
	StartTime        time.Time       `json:"start_time"`
	EndTime          time.Time       `json:"end_time,omitzero"` // zero while the task runs, or when it was killed
	Version          string          `json:"version,omitempty"`
	Model            string          `json:"model,omitempty"`
	WorkspaceDir     string          `json:"workspace_dir,omitempty"`
	Backends         []string        `json:"backends"`
	SkillSelection   json.RawMessage `json:"skill_selection,omitempty"`
	RetrievedTools   json.RawMessage `json:"retrieved_tools,omitempty"`
	ExecutionOutcome *Outcome        `json:"execution_outcome,omitempty"`
	TotalSteps       int             `json:"total_steps"`
	BackendCounts    map[string]int  `json:"backend_counts,omitempty"`
	EnableScreenshot bool            `json:"enable_screenshot"`
	EnableVideo      bool            `json:"enable_video"`

	// Other has every other key.
	Other map[string]json.RawMessage `json:"-"`
}

// Outcome is how a task ended.
type Outcome struct {
	Status        string  `json:"status"` // success, incomplete, error or canceled
	Iterations    int     `json:"iterations"`
	ExecutionTime float64 `json:"execution_time"` // seconds
	Stop          string  `json:"stop,omitempty"` // why the last phase ended
	Response      string  `json:"response,omitempty"`
	Warning       string  `json:"warning,omitempty"`
	Error         string  `json:"error,omitempty"`
	Usage         *Usage  `json:"usage,omitempty"`
	Phases        any     `json:"phases,omitempty"` // as in the result of the task
}

// Usage is what calls of a model took; its fields are those of a model's usage.
type Usage struct {
	Calls     int64   `json:"calls"`
	Input     int64   `json:"input"`
	Cached    int64   `json:"cached,omitempty"`
	Output    int64   `json:"output"`
	Reasoning int64   `json:"reasoning,omitempty"`
	Cost      float64 `json:"cost"`
	Unpriced  int64   `json:"unpriced,omitempty"`
	Estimated int64   `json:"estimated,omitempty"`
}

// The types of a line of conversations.jsonl.
const (
	TypeSetup     = "setup"
	TypeIteration = "iteration"
)

// Setup begins a conversation.
type Setup struct {
	Type      string    `json:"type"`
	Agent     string    `json:"agent_name"`
	Phase     string    `json:"phase,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools"`
}

// Tool is a tool that an agent may use.
type Tool struct {
	Name        string `json:"name"`
	Backend     string `json:"backend,omitempty"`
	Server      string `json:"server_name,omitempty"`
	Description string `json:"description,omitempty"` // the first 200 bytes
}

// Iteration is one call of a model and what came of it.
type Iteration struct {
	Type      string    `json:"type"`
	Agent     string    `json:"agent_name"`
	Phase     string    `json:"phase,omitempty"`
	Iteration int       `json:"iteration"` // from 1
	Timestamp time.Time `json:"timestamp"`
	Response  Response  `json:"response_metadata"`
	Messages  []Message `json:"delta_messages"`
}

// Response says how a model's reply came.
type Response struct {
	HasToolCalls bool        `json:"has_tool_calls"`
	ToolCalls    int         `json:"tool_calls_count"`
	Model        string      `json:"model,omitempty"`
	Finish       string      `json:"finish,omitempty"`
	Attempts     int         `json:"attempts,omitempty"`
	ElapsedMS    int64       `json:"elapsed_ms,omitempty"`
	Usage        *Usage      `json:"usage,omitempty"`
	Error        string      `json:"error,omitempty"`
	Compaction   *Compaction `json:"compaction,omitempty"`
}

// Compaction says that older messages were shortened before a call.
type Compaction struct {
	Before int64 `json:"before"` // tokens, estimated
	After  int64 `json:"after"`
	Turns  int   `json:"turns,omitempty"` // that became part of the digest
}

// Message is one message of a conversation.
type Message struct {
	Role        string     `json:"role"`
	Content     string     `json:"content"`
	ContentFile string     `json:"content_file,omitempty"` // in the recording's folder: the whole content
	ToolCalls   []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID  string     `json:"tool_call_id,omitempty"`
	Name        string     `json:"name,omitempty"`
	Images      []Image    `json:"images,omitempty"`
}

// ToolCall is a call of a tool, in the shape in which models send it.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function Function `json:"function"`
	Problem  string   `json:"problem,omitempty"` // what is wrong with the arguments
}

// Function is what is called.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Image is a picture; its data go to a file.
type Image struct {
	MIME string `json:"mime"`
	File string `json:"file,omitempty"` // in the recording's folder
	Data []byte `json:"-"`
}

// Step is one call of a tool: a line of traj.jsonl.
type Step struct {
	Step       int             `json:"step"` // set by the recording, from 1
	Timestamp  time.Time       `json:"timestamp"`
	Agent      string          `json:"agent_name,omitempty"`
	Phase      string          `json:"phase,omitempty"`
	Iteration  int             `json:"iteration,omitempty"`
	CallID     string          `json:"tool_call_id,omitempty"`
	Backend    string          `json:"backend"`
	Server     string          `json:"server,omitempty"`
	Tool       string          `json:"tool"`
	Command    string          `json:"command"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Result     StepResult      `json:"result"`
	ElapsedMS  int64           `json:"elapsed_ms,omitempty"`
	Files      []string        `json:"files,omitempty"`     // that it wrote
	SkillIDs   []string        `json:"skill_ids,omitempty"` // that it found
}

// StepResult is what came of a call.
type StepResult struct {
	Status     string `json:"status"` // success or error
	ExitCode   *int   `json:"exit_code,omitempty"`
	Stdout     string `json:"stdout,omitempty"`
	Stderr     string `json:"stderr,omitempty"`
	Output     string `json:"output,omitempty"` // of anything but commands
	Error      string `json:"error,omitempty"`  // one line
	Code       string `json:"code,omitempty"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	Denied     bool   `json:"denied,omitempty"`
	OutputFile string `json:"output_file,omitempty"` // with the whole output
}

// Action is one run of an agent: a line of agent_actions.jsonl.
type Action struct {
	Step          int             `json:"step"` // set by the recording, from 1
	Timestamp     time.Time       `json:"timestamp"`
	Agent         string          `json:"agent_name"`
	AgentType     string          `json:"agent_type"`
	ActionType    string          `json:"action_type"`
	CorrelationID string          `json:"correlation_id"` // set by the recording
	Phase         string          `json:"phase,omitempty"`
	Input         ActionInput     `json:"input"`
	Reasoning     ActionReasoning `json:"reasoning"`
	Output        ActionOutput    `json:"output"`
}

// ActionInput is what an agent was asked.
type ActionInput struct {
	Instruction string `json:"instruction"`
}

// ActionReasoning is what an agent said and did.
type ActionReasoning struct {
	Response string       `json:"response"`
	Tools    []ActionTool `json:"tools_selected"`
}

// ActionTool is a tool that an agent used.
type ActionTool struct {
	Tool    string `json:"tool"`
	Backend string `json:"backend"`
	Status  string `json:"status"`
}

// ActionOutput is how a run of an agent ended.
type ActionOutput struct {
	Status     string `json:"status"`
	Iterations int    `json:"iterations"`
	ToolCalls  int    `json:"num_tool_executions"`
	Stop       string `json:"stop,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Summary is the content of summary.json.
type Summary struct {
	TaskID     string         `json:"task_id"`
	StartTime  time.Time      `json:"start_time"`
	EndTime    time.Time      `json:"end_time,omitzero"`
	Trajectory Trajectory     `json:"trajectory"`
	Actions    ActionsSummary `json:"agent_actions"`
}

// Trajectory counts calls of tools.
type Trajectory struct {
	TotalSteps   int            `json:"total_steps"`
	SuccessCount int            `json:"success_count"`
	SuccessRate  float64        `json:"success_rate"` // 0 without steps
	ByBackend    map[string]int `json:"by_backend"`
	ByTool       map[string]int `json:"by_tool"`
}

// ActionsSummary counts runs of agents.
type ActionsSummary struct {
	Total   int            `json:"total_actions"`
	ByAgent map[string]int `json:"by_agent"`
	ByType  map[string]int `json:"by_type"`
}
