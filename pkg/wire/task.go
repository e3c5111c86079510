package wire

import "encoding/json"

// Task asks for work to be done. What it leaves out is as the command's flags say. It cannot widen what a task may touch:
// sandbox, environment and addresses are set by flags alone.
type Task struct {
	Type          string    `json:"type"`
	ID            string    `json:"id,omitempty"`
	Task          string    `json:"task"`
	TaskID        string    `json:"task_id,omitempty"`        // a name for the recording; absent: one is made
	WorkspaceDir  string    `json:"workspace_dir,omitempty"`  // where the work is done
	Workspace     string    `json:"workspace,omitempty"`      // the same, under its older name
	SkillDirs     []string  `json:"skill_dirs,omitempty"`     // look for skills there, too
	SearchScope   string    `json:"search_scope,omitempty"`   // local or all
	Model         string    `json:"model,omitempty"`          // such as openai/gpt-5
	MaxIterations int       `json:"max_iterations,omitempty"` // calls of the model
	MaxTokens     int64     `json:"max_tokens,omitempty"`     // sent and received
	MaxCost       float64   `json:"max_cost,omitempty"`       // US dollars
	TimeoutMS     int64     `json:"timeout_ms,omitempty"`     // of the whole task
	History       []Message `json:"history,omitempty"`        // of the conversation that the task goes on with, oldest first
	Channel       *Channel  `json:"channel,omitempty"`        // of the chat that it came from
}

// Message is one message of an earlier conversation.
type Message struct {
	Role    string `json:"role"` // user or assistant; others are passed over
	Content string `json:"content"`
}

// UnmarshalJSON also takes a content that is a list of parts: their texts, one a line.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.Role, m.Content = raw.Role, ""
	if len(raw.Content) == 0 || string(raw.Content) == "null" {
		return nil
	}
	if raw.Content[0] != '[' {
		return json.Unmarshal(raw.Content, &m.Content)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Text == "" {
			continue
		}
		if m.Content != "" {
			m.Content += "\n"
		}
		m.Content += p.Text
	}
	return nil
}

// Channel says where in a chat a task came from.
type Channel struct {
	Platform         string       `json:"platform,omitempty"`
	ChatType         string       `json:"chat_type,omitempty"` // such as dm or group
	ChatID           string       `json:"chat_id,omitempty"`
	ChatName         string       `json:"chat_name,omitempty"`
	ThreadID         string       `json:"thread_id,omitempty"`
	UserName         string       `json:"user_name,omitempty"`
	UserID           string       `json:"user_id,omitempty"`
	SessionKey       string       `json:"session_key,omitempty"`
	MessageID        string       `json:"message_id,omitempty"`
	ReplyToMessageID string       `json:"reply_to_message_id,omitempty"`
	ReplyToText      string       `json:"reply_to_text,omitempty"`
	Attachments      []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file that came with a message.
type Attachment struct {
	Kind string `json:"kind,omitempty"` // such as image; absent: file
	Path string `json:"path"`
	Name string `json:"name,omitempty"`
}

// Step is something that happened while a task ran.
type Step struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Step      int    `json:"step"`            // from 1, counting on through the task
	Kind      string `json:"kind"`            // start, skills, import, phase, model, notice or warning
	Phase     string `json:"phase,omitempty"` // with_skills, without_skills or plain
	Message   string `json:"message,omitempty"`
	Time      string `json:"time,omitempty"`
	ElapsedMS int64  `json:"elapsed_ms,omitempty"` // since the task began
}

// Tool is one use of a tool: a record when it starts and one when it has ended.
type Tool struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Iteration int    `json:"iteration"`         // from 1
	CallID    string `json:"call_id,omitempty"` // the same in both records
	Name      string `json:"name"`
	Backend   string `json:"backend,omitempty"`   // shell, system, web or mcp
	Server    string `json:"server,omitempty"`    // of mcp
	Status    string `json:"status"`              // started, success or error
	ExitCode  *int   `json:"exit_code,omitempty"` // of a command
	Summary   string `json:"summary,omitempty"`   // one line: what it was called with; once it has ended, what came of it
	Error     string `json:"error,omitempty"`     // one line
	Code      string `json:"code,omitempty"`      // of the error: a code of these records, or denied, timeout, exit
	ElapsedMS int64  `json:"elapsed_ms,omitempty"`
}

// Text is a piece of what the model says, as it comes.
type Text struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Iteration int    `json:"iteration"`
	Piece     string `json:"text,omitempty"`
	Reset     bool   `json:"reset,omitempty"` // what this iteration said so far is void: the call is tried again
}

// Spent is the usage record: what one call of the model took, and the task so far.
type Spent struct {
	Type      string  `json:"type"`
	ID        string  `json:"id,omitempty"`
	Iteration int     `json:"iteration,omitempty"` // absent: a call beside the work, such as the choice of skills
	Phase     string  `json:"phase,omitempty"`
	Tokens    Tokens  `json:"tokens"`
	Cost      float64 `json:"cost,omitempty"` // US dollars
	Total     Tokens  `json:"total"`
	TotalCost float64 `json:"total_cost,omitempty"`
	ElapsedMS int64   `json:"elapsed_ms,omitempty"`
}

// Tokens counts what calls of a model took.
type Tokens struct {
	Calls     int64 `json:"calls"`
	Input     int64 `json:"input"`            // sent
	Cached    int64 `json:"cached,omitempty"` // part of Input that the provider had kept
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning,omitempty"` // part of Output
	Total     int64 `json:"total"`
	Unpriced  int64 `json:"unpriced,omitempty"`  // calls whose price is not known and not in the cost
	Estimated int64 `json:"estimated,omitempty"` // calls whose tokens the provider did not tell
}

// Answer is the answer to a task, as soon as it is there.
type Answer struct {
	Type     string `json:"type"`
	ID       string `json:"id,omitempty"`
	TaskID   string `json:"task_id,omitempty"`
	Status   string `json:"status"` // as in the result that follows
	Response string `json:"response"`
}

// ToolCall is one line of a result's tool_summary.
type ToolCall struct {
	Tool   string `json:"tool"`
	Status string `json:"status"`          // success or error
	Error  string `json:"error,omitempty"` // at most 200 characters
}

// Import is a skill that was fetched from the registry for a task, or was not.
type Import struct {
	SkillID      string `json:"skill_id"`
	Name         string `json:"name,omitempty"`
	ImportStatus string `json:"import_status"` // as in imported records, or error
	LocalPath    string `json:"local_path,omitempty"`
	Error        string `json:"error,omitempty"`
}

// Phase is one part of the work on a task.
type Phase struct {
	Name       string   `json:"name"`             // select, with_skills, without_skills, plain or learn
	Status     string   `json:"status"`           // success, incomplete, error or canceled
	Stop       string   `json:"stop,omitempty"`   // why it ended: answered, finished, iterations, time, tokens, cost, empty, cut, error or canceled
	Reason     string   `json:"reason,omitempty"` // in words
	Iterations int      `json:"iterations,omitempty"`
	Skills     []string `json:"skills,omitempty"`
	Tokens     *Tokens  `json:"tokens,omitempty"`
	Cost       float64  `json:"cost,omitempty"`
	ElapsedMS  int64    `json:"elapsed_ms,omitempty"`
}

// FileChange is a file of the workspace that is not as it was before the task.
type FileChange struct {
	Path      string `json:"path"`   // absolute
	Change    string `json:"change"` // created, changed or removed
	SizeBytes int64  `json:"size_bytes,omitempty"`
}
