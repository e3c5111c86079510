package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// EndIdle ends the sessions that nobody has used since a time.
func (h *HTTP) EndIdle(since time.Time) { h.endIdle(since) }

// AddSample adds a tool of the protocol's conformance suite, past the catalogue.
func (s *Server) AddSample(name, schema string, run func(say func(progress, log string)) *mcp.CallToolResult) {
	tool := mcp.NewToolWithRawSchema(name, "a sample", json.RawMessage(schema))
	s.lib.AddTool(tool, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return run(func(progress, log string) {
			callOf(ctx).progress(progress)
			callOf(ctx).log(mcp.LoggingLevelWarning, "sample", log)
		}), nil
	})
}
