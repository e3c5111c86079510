package mcpserver_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
)

// schemaSample is the input schema that the suite wants to get back as it is.
const schemaSample = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{
	"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`

// TestConformance runs scenarios of the protocol's conformance suite that want tools of their own. It needs
// Node and the suite, whose index.js $OPENSPACE_CONFORMANCE names; scripts/test-hosts sets both up, and runs
// the scenarios that need no such tools against the real server.
func TestConformance(t *testing.T) {
	suite := os.Getenv("OPENSPACE_CONFORMANCE")
	if suite == "" {
		t.Skip("OPENSPACE_CONFORMANCE is not set: scripts/test-hosts runs this")
	}
	s := serverFor(t)
	text := func(text string, failed bool) func(func(string, string)) *mcp.CallToolResult {
		return func(func(string, string)) *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, IsError: failed}
		}
	}
	slow := func(say func(string, string)) *mcp.CallToolResult {
		for _, step := range []string{"begun", "half done", "done"} {
			say(step, "Tool "+step)
			time.Sleep(50 * time.Millisecond)
		}
		return mcp.NewToolResultText("done")
	}
	const none = `{"type":"object","properties":{}}`
	s.AddSample("json_schema_2020_12_tool", schemaSample, text("", false))
	s.AddSample("test_simple_text", none, text("This is a simple text response for testing.", false))
	s.AddSample("test_error_handling", none, text("This tool intentionally returns an error for testing", true))
	s.AddSample("test_tool_with_progress", none, slow)
	s.AddSample("test_tool_with_logging", none, slow)
	w := listen(t, s, mcpserver.HTTPOptions{Loopback: true})
	for _, scenario := range []string{
		"json-schema-2020-12", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress", "tools-call-with-logging", "server-sse-multiple-streams",
	} {
		t.Run(scenario, func(t *testing.T) {
			out, err := exec.Command("node", suite, "server", "--url", w.url+"/mcp", "--scenario", scenario).CombinedOutput()
			if err != nil || !strings.Contains(string(out), " 0 failed, 0 warnings") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
