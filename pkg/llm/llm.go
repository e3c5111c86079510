package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	Images     []Image    `json:"images,omitempty"`       // of a user's message
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant's message
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's message: the call that it answers
	Name       string     `json:"name,omitempty"`         // of a tool's message: the tool

	// Extra has fields of the provider's own that must go back with the message, such as reasoning_content.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Image is a picture that is shown to the model.
type Image struct {
	MIME string `json:"mime"` // such as image/png
	Data []byte `json:"data"`
}

// ToolCall is the model's wish to run a tool.
type ToolCall struct {
	ID        string `json:"id"` // never empty: one is made when the provider gives none
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // a JSON object; as sent when Problem is set

	// Problem says what is wrong with the arguments and where; such a call is not to be run.
	Problem string                     `json:"problem,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra,omitempty"` // as of a message
}

// ToolSpec is a tool as the model sees it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema of type object
}

// Choice says whether the model may call tools.
type Choice string

// The choices.
const (
	Auto     Choice = "" // it may
	None     Choice = "none"
	Required Choice = "required"
)

// Request is one call of a model.
type Request struct {
	Messages    []Message
	Tools       []ToolSpec
	ToolChoice  Choice
	MaxOutput   int64    // tokens; 0: the model's own limit, and the field is not sent
	Temperature *float64 // nil: the model's own, and the field is not sent
	JSON        bool     // the answer is to be one JSON object

	// OnText gets the answer's text piece by piece. A try that failed is taken back by a call with an empty piece.
	OnText func(piece string)
}

// Finish says why the model stopped.
type Finish string

// The reasons.
const (
	Stopped  Finish = "stop"
	Called   Finish = "tool_calls"
	Cut      Finish = "length" // at its limit of tokens
	Filtered Finish = "content_filter"
)

// Reply is what a model answered.
type Reply struct {
	Message  Message
	Finish   Finish
	Usage    Usage
	Model    string // that answered, as the provider names it
	Attempts int    // from 1
}

// Usage counts what calls of a model took. Usages are added up with Add.
type Usage struct {
	Calls     int64   `json:"calls"`
	Input     int64   `json:"input"`               // tokens sent, with those that the provider had cached
	Cached    int64   `json:"cached,omitempty"`    // part of Input
	Output    int64   `json:"output"`              // tokens received, with those of reasoning
	Reasoning int64   `json:"reasoning,omitempty"` // part of Output
	Cost      float64 `json:"cost"`                // US dollars
	Unpriced  int64   `json:"unpriced,omitempty"`  // calls whose price is not known and not in Cost
	Estimated int64   `json:"estimated,omitempty"` // calls whose tokens the provider did not tell and that were estimated
}

// Add adds u to the usage.
func (sum *Usage) Add(u Usage) {
	sum.Calls += u.Calls
	sum.Input += u.Input
	sum.Cached += u.Cached
	sum.Output += u.Output
	sum.Reasoning += u.Reasoning
	sum.Cost += u.Cost
	sum.Unpriced += u.Unpriced
	sum.Estimated += u.Estimated
}

// Tokens returns all tokens sent and received.
func (sum Usage) Tokens() int64 { return sum.Input + sum.Output }

// Model answers requests. It is safe for concurrent use.
type Model interface {
	Name() string
	Window() int64 // tokens of request and answer together; 0: not known
	Chat(ctx context.Context, r Request) (Reply, error)
}

// Kind is the class of an error of a model.
type Kind string

// The kinds.
const (
	BadAuth     Kind = "auth"           // key missing or refused
	Limited     Kind = "rate_limited"   // after all attempts
	TooLarge    Kind = "context_length" // more than the model's window
	BadRequest  Kind = "invalid_request"
	NotFound    Kind = "not_found" // no such model
	Server      Kind = "server"
	Unreachable Kind = "network"
	Late        Kind = "timeout"
	Broken      Kind = "cut" // the answer broke off
	NoQuota     Kind = "quota"
	Diverged    Kind = "diverged" // a replay has no answer to this request
)

// Error is what went wrong at a model.
type Error struct {
	Kind       Kind
	Model      string // as it was asked for
	Message    string // the provider's own words where there are any, secrets masked
	Endpoint   string // without credentials
	Status     int    // of HTTP; 0 when there was none
	RequestID  string
	RetryAfter time.Duration
	Attempts   int
	Err        error

	param string // the field that the provider names
	final bool   // trying again does not help
}
