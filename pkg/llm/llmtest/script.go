package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Script is what a model says.
type Script struct {
	Model         string         `json:"model,omitempty"` // that it says it is; "": the one that was asked for
	Conversations []Conversation `json:"conversations,omitempty"`
	Rules         []Rule         `json:"rules,omitempty"`

	// Answer, when it is set, comes before all of these. It returns false to leave a request to them.
	Answer func(Request) (Step, bool) `json:"-"`
}

// Conversation is a row of steps.
type Conversation struct {
	Match  string `json:"match,omitempty"`  // in a user message of its requests; "" fits all
	Repeat bool   `json:"repeat,omitempty"` // begin again after the last step
	Steps  []Step `json:"steps"`
}

// Rule answers every request that fits.
type Rule struct {
	When Expect `json:"when,omitzero"`
	Step
}

// Step is one request and its answer.
type Step struct {
	Expect Expect `json:"expect,omitzero"`
	Reply  Reply  `json:"reply,omitzero"`
	Fault  Fault  `json:"fault,omitzero"`
}

// Expect says what a request is like. Everything that is set must hold.
type Expect struct {
	Model        string            `json:"model,omitempty"`
	Messages     int               `json:"messages,omitempty"` // how many
	Turn         *int              `json:"turn,omitempty"`     // how many messages of the assistant there are
	LastRole     string            `json:"last_role,omitempty"`
	LastContains []string          `json:"last_contains,omitempty"` // in the last message
	LastLacks    []string          `json:"last_lacks,omitempty"`
	Contains     []string          `json:"contains,omitempty"` // in the request as it was sent, decoded text of messages
	Lacks        []string          `json:"lacks,omitempty"`
	Tools        []string          `json:"tools,omitempty"`    // names that are offered, in any order, others may be there too
	NoTools      []string          `json:"no_tools,omitempty"` // names that are not offered; "*" for none at all
	Stream       *bool             `json:"stream,omitempty"`
	Fields       []string          `json:"fields,omitempty"`    // of the body
	NoFields     []string          `json:"no_fields,omitempty"` // of the body
	Echo         []string          `json:"echo,omitempty"`      // fields that every assistant message with tool calls has
	Headers      map[string]string `json:"headers,omitempty"`
	NoHeaders    []string          `json:"no_headers,omitempty"`
}

// Reply is what the model says. In Text and in string arguments {{last}} is the text of the request's last
// message.
type Reply struct {
	Text      string                     `json:"text,omitempty"`
	ToolCalls []Call                     `json:"tool_calls,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`  // more fields of the message, such as reasoning_content
	Finish    string                     `json:"finish,omitempty"` // "": stop, or tool_calls when there are some
	Usage     *Usage                     `json:"usage,omitempty"`  // nil: counted as bytes/4
	Pieces    int                        `json:"pieces,omitempty"` // events that text and arguments are cut into; 0: 2
}

// Call is a tool call. Arguments that are a JSON string are sent as the text in it, anything else as its JSON
// text.
type Call struct {
	ID        string                     `json:"id,omitempty"` // "": one is made
	Name      string                     `json:"name"`
	Arguments json.RawMessage            `json:"arguments,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`
}

// Usage is what the reply says that it took.
type Usage struct {
	Input     int64    `json:"input"`
	Cached    int64    `json:"cached,omitempty"`
	Output    int64    `json:"output"`
	Reasoning int64    `json:"reasoning,omitempty"`
	Cost      *float64 `json:"cost,omitempty"`
}

// Fault is what goes wrong with an answer.
type Fault struct {
	Status     int               `json:"status,omitempty"` // refuse with it
	RetryAfter string            `json:"retry_after,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       string            `json:"body,omitempty"`        // instead of the answer; with status 0 it is sent with 200 as JSON
	Raw        []string          `json:"raw,omitempty"`         // a whole stream, each text as it stands
	DelayMS    int               `json:"delay_ms,omitempty"`    // before the headers
	PauseMS    int               `json:"pause_ms,omitempty"`    // before each event
	CutAfter   *int              `json:"cut_after,omitempty"`   // events; then the connection breaks inside the next one
	Between    string            `json:"between,omitempty"`     // sent as it stands between two events, such as ": ping\n\n"
	Hang       bool              `json:"hang,omitempty"`        // after the events nothing more comes and the connection stays
	Index      string            `json:"index,omitempty"`       // of tool calls in a stream: missing, same
	IDs        string            `json:"ids,omitempty"`         // of tool calls: missing, empty, then_empty, same
	Reorder    bool              `json:"reorder,omitempty"`     // pieces of several calls in turn
	NoUsage    bool              `json:"no_usage,omitempty"`    // says nothing of usage
	NoDone     bool              `json:"no_done,omitempty"`     // the stream ends without [DONE]
	NoFinish   bool              `json:"no_finish,omitempty"`   // no finish_reason
	ArgsObject bool              `json:"args_object,omitempty"` // arguments as an object, not as text
}

// Parse reads a script. Unknown fields are errors, so that a slip in a script is seen.
func Parse(data []byte) (s Script, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("read script: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return s, fmt.Errorf("read script: more after the end of it at byte %d", d.InputOffset())
	}
	for i, c := range s.Conversations {
		if len(c.Steps) == 0 {
			return s, fmt.Errorf("read script: conversation %d (%q) has no steps", i+1, c.Match)
		}
	}
	return s, nil
}
