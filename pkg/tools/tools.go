package tools

import (
	"context"
	"encoding/json"
	"time"
)

// Tool is something that an agent can do. Run may be called by several goroutines at once.
type Tool interface {
	Spec() Spec
	Run(ctx context.Context, call Call) Result
}

// Spec describes a tool to a model and to the recording.
type Spec struct {
	Name        string
	Aliases     []string // other names under which a model may call it; not shown to it
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object
	Backend     string          // shell, system, web or mcp
	Server      string          // of MCP
	ReadOnly    bool            // it changes nothing, so that calls may run side by side
	Hidden      bool            // models are not told of it, but may call it: an older name
	Quiet       []string        // parameters that models are not told of, but may give: hardly used ones, known from elsewhere
}

// Call is one use of a tool.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage // a JSON object, checked against the parameters
}

// Result is what came of a call.
type Result struct {
	Content string // what the model reads, never empty, secrets masked, bounded
	Error   string // one line: why it failed; empty when it did not
	Code    string // of the failure: a code of package wire, or denied, timeout, exit

	Shell     *ShellResult  // of commands
	Elapsed   time.Duration //
	FullPath  string        // file with all of the output, when Content is not all
	LeftOut   int64         // bytes that are not in Content
	Images    []Image       // for a model that sees
	SkillIDs  []string      // of retrieve_skill: what was found
	Files     []string      // that the tool wrote, absolute
	Finish    *Finish       // of the tool that ends a task
	Transient bool          // the same call may work later
}

// ShellResult is how a command ended.
type ShellResult struct {
	Command  string
	Dir      string
	ExitCode int    // 128 and the signal's number when it was ended by one
	Stdout   string // bounded, as in Content
	Stderr   string
	TimedOut bool
	Denied   bool
	Job      string // its handle, when it goes on in the background
}

// Image is a picture that came of a call.
type Image struct {
	MIME string
	Data []byte
}

// Finish is a model's decision that its task is over.
type Finish struct {
	Done   bool // false: it cannot be done
	Answer string
}

// Failed tells whether the call did not do what was asked.
func (r Result) Failed() bool { return r.Error != "" }
