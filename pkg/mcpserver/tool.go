package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// tool is one tool as hosts see it.
type tool struct {
	name, title, text string
	input, output     string // JSON schemas
	hints             hints
	run               func(ctx context.Context, a args) (any, error)
}

// hints tell a host what a tool may do. They are promises, so they say the worst that the arguments allow.
type hints struct {
	readOnly, destructive, idempotent, openWorld bool
}

// catalogue returns all tools. Tasks in the background are part of execute_task only when their results can
// be fetched.
func (s *Server) catalogue(background bool) map[string]tool {
	res := map[string]tool{}
	for _, t := range []tool{
		s.executeTask(background), s.searchSkills(), s.fixSkill(), s.uploadSkill(), s.taskStatus(), s.taskResult(),
	} {
		res[t.name] = t
	}
	return res
}

func (t tool) definition() mcp.Tool {
	return mcp.Tool{
		Name: t.name, Title: t.title, Description: t.text,
		RawInputSchema: compact(t.input), RawOutputSchema: compact(t.output),
		Annotations: mcp.ToolAnnotation{
			Title: t.title, ReadOnlyHint: &t.hints.readOnly, DestructiveHint: &t.hints.destructive,
			IdempotentHint: &t.hints.idempotent, OpenWorldHint: &t.hints.openWorld,
		},
	}
}

// compact takes the white space out of a schema.
func compact(schema string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(schema)); err != nil {
		panic(err) // the schemas are constants
	}
	return b.Bytes()
}

// handler runs a tool for the library. Whatever goes wrong is a result that the model can read (MC-21).
func (s *Server) handler(t tool) server.ToolHandlerFunc {
	parse, err := readSchema(t.input)
	if err != nil {
		panic(err) // the schemas are constants
	}
	return func(ctx context.Context, req mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if v := recover(); v != nil {
				s.o.Log("internal fault in %s: %v", t.name, v)
				res = failure(wire.Errorf(wire.Internal, "%s: internal fault: %v", t.name, v))
			}
		}()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			return failure(wire.Errorf(wire.RateLimited, "%d calls are under way, which is all that are taken at once", maxCalls).
				WithHint("call again when others have ended")), nil
		}
		a, err := parse.read(t.name, req.GetArguments())
		if err != nil {
			return failure(err), nil
		}
		v, err := t.run(ctx, a)
		if err != nil {
			return failure(err), nil
		}
		return success(v), nil
	}
}

// success is the result of a tool that did what it should: the same as text and as an object. A result that
// tells of a failure by itself, such as that of a task, is marked as one.
func success(v any) *mcp.CallToolResult {
	var text bytes.Buffer
	if err := json.Indent(&text, encode(v), "", "  "); err != nil {
		panic(err)
	}
	failed, _ := v.(interface{ failed() bool })
	return &mcp.CallToolResult{
		Content: []mcp.Content{mcp.NewTextContent(text.String())}, StructuredContent: v, IsError: failed != nil && failed.failed(),
	}
}

// failed is the result of a tool that could not do what it should.
type failed struct {
	Error      string    `json:"error"`
	Status     string    `json:"status"`
	Code       wire.Code `json:"code"`
	Hint       string    `json:"hint,omitempty"`
	RetryAfter int       `json:"retry_after,omitempty"`
}

// failure is the result for an error.
func failure(err error) *mcp.CallToolResult {
	e := wire.AsError(err)
	f := failed{Error: e.Message, Status: "error", Code: cmp.Or(e.Code, wire.Internal), Hint: e.Hint, RetryAfter: e.RetryAfter}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(encode(f)))}, StructuredContent: f, IsError: true}
}

// failureFields are members that every output schema has: those of failed.
const failureFields = `
	"error": {"type": "string", "description": "what went wrong; only in a failure"},
	"code": {"type": "string", "description": "kind of the failure, such as usage, not_found, auth, network or rate_limited"},
	"hint": {"type": "string", "description": "what to do about the failure"},
	"retry_after": {"type": "integer", "description": "seconds after which to try again"}`

// say names a tool's argument in an error.
func say(tool, argument, format string, a ...any) *wire.Error {
	return wire.Errorf(wire.Usage, "%s: argument %q %s", tool, argument, fmt.Sprintf(format, a...))
}

// Definitions returns the tools as hosts get them, sorted by name: one a line, or one indented array.
func (s *Server) Definitions(lines bool) []byte {
	tools := s.lib.ListTools()
	var all []mcp.Tool
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		all = append(all, tools[name].Tool)
	}
	var b bytes.Buffer
	if !lines {
		if err := json.Indent(&b, encode(all), "", "  "); err != nil {
			panic(err)
		}
		b.WriteByte('\n')
		return b.Bytes()
	}
	for _, t := range all {
		b.Write(append(encode(t), '\n'))
	}
	return b.Bytes()
}

// skillDirHint helps a model that named a folder that is no skill.
const skillDirHint = "skill_dir must be the folder that holds the SKILL.md; search_skills tells it"

// withHint gives an error of that code a hint that a model can follow, in place of one for somebody at a shell.
func withHint(err error, code wire.Code, hint string) error {
	if e := wire.AsError(err); e.Code == code {
		return e.WithHint("%s", hint)
	}
	return err
}
