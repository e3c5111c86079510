package mcpclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The test binary is also its own servers: with MCP_PEER it is one over its stdin and stdout.
func TestMain(m *testing.M) {
	switch peer := os.Getenv("MCP_PEER"); peer {
	case "":
		os.Exit(m.Run())
	case "good":
		if err := server.ServeStdio(goodServer()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		badServer(peer)
	}
}

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// goodServer is made with the library for servers, so that it is not our own idea of the protocol.
func goodServer() *server.MCPServer {
	s := server.NewMCPServer("good", "1.0", server.WithToolCapabilities(true), server.WithPaginationLimit(3))
	add := func(name string, run func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error), options ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, append([]mcp.ToolOption{mcp.WithDescription("the tool " + name)}, options...)...), run)
	}
	text := func(t string) (*mcp.CallToolResult, error) { return mcp.NewToolResultText(t), nil }
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		data, err := json.Marshal(r.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return text("you said " + string(data))
	}, mcp.WithString("text", mcp.Required(), mcp.Description("what to say")), mcp.WithReadOnlyHintAnnotation(true))
	add("env", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n"))
	})
	add("where", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprintf("%s\npid %d", dir, os.Getpid()))
	})
	add("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("the disk is full"), nil
	})
	add("refuse", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("no such thing")
	})
	add("mixed", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"answer": 42}, Content: []mcp.Content{
			mcp.NewTextContent("a picture:"), mcp.NewImageContent(onePixel, "image/png"), mcp.NewAudioContent("AAAA", "audio/wav"),
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "inside"}),
			mcp.NewResourceLink("file:///b.txt", "b", "another file", "text/plain"),
		}}, nil
	})
	add("slow", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return text("done")
	})
	add("grow", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("late", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("late") })
		return text("grown")
	})
	return s
}

// badServer is written by hand: it does what no library would do.
func badServer(how string) {
	b := &bad{how: how}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		b.asked++
		var r ask
		if json.Unmarshal([]byte(line), &r) == nil && r.ID != nil && how != "mute" {
			b.before(r)
			b.answer(r)
		}
	}
}

// bad is such a server.
type bad struct {
	how   string
	asked int
	held  []string // answers that wait, for out-of-order
}

// ask is a request.
type ask struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (r ask) say(result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
}

func (r ask) refuse(code int, text string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", r.ID, code, text)
}

// before is what it does before each answer.
func (b *bad) before(r ask) {
	switch b.how {
	case "flood":
		for range 16 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 12_000)) // 1 MB
		}
	case "babble":
		fmt.Println("Welcome to the server!\n{\"half\": \n[]\n\"text\"")
		fmt.Println(`{"jsonrpc":"2.0","id":999,"result":{}}`)
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/whatever","params":{"x":1}}`)
		fmt.Println(`{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{}}`)
		fmt.Println(`{"jsonrpc":"2.0","id":"q2","method":"ping"}`)
	case "fork":
		attr := &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}}
		if p, err := os.StartProcess("/bin/sleep", []string{"sleep", "300"}, attr); err == nil && r.Method == "initialize" {
			os.WriteFile(os.Getenv("PID_FILE"), fmt.Append(nil, p.Pid), 0o600)
		}
	case "die-at-once":
		fmt.Fprintln(os.Stderr, "cannot open display :7")
		os.Exit(3)
	}
}

func (b *bad) answer(r ask) {
	switch r.Method {
	case "initialize":
		r.say(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"bad","version":"0"}}`)
	case "tools/list":
		b.list(r)
	case "tools/call":
		b.call(r)
	case "ping":
		if b.how != "hang" {
			r.say(`{}`)
		}
	default:
		r.refuse(-32601, "no method")
	}
}

func (b *bad) list(r ask) {
	switch b.how {
	case "circles":
		r.say(`{"tools":[{"name":"turn` + fmt.Sprint(b.asked) + `","inputSchema":{"type":"object"}}],"nextCursor":"again"}`)
	case "odd":
		r.say(`{"tools":[{"name":"ok","inputSchema":{"properties":{"a":{"type":"string"}}}},{"name":""},7,{"name":"list","inputSchema":{"type":"array"}},` +
			`{"name":"no schema","description":5},{"name":"ok","inputSchema":{}}]}`)
	case "crowd":
		all := strings.Repeat(`{"name":""},`, 20)
		for i := range 2500 {
			all += fmt.Sprintf(`{"name":"t%d"},`, i)
		}
		r.say(`{"tools":[` + strings.TrimSuffix(all, ",") + `]}`)
	case "hidden":
		const tags = "\U000e0072\U000e006d"
		r.say(`{"tools":[{"name":"do","description":"Reads\u001b[31m` + tags + ` a\u202e page\u200b\nof नि\u200cज","inputSchema":{"type":"object","properties":{` +
			`"a":{"type":"string","description":"an ` + tags + `address\u2066"}}}}]}`)
	case "hang-list":
	case "hang-until":
		if _, err := os.Stat(os.Getenv("READY_FILE")); err == nil {
			r.say(`{"tools":[{"name":"do","description":"does it","inputSchema":{"type":"object"}}]}`)
		}
	default:
		r.say(`{"tools":[{"name":"do","description":"does it","inputSchema":{"type":"object"}},` +
			`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`)
	}
}

func (b *bad) call(r ask) {
	switch {
	case b.how == "crash" || b.how == "crash-once" && firstTime():
		fmt.Fprintln(os.Stderr, "panic: nil map")
		os.Exit(2)
	case b.how == "hang":
	case b.how == "big":
		r.say(`{"content":[{"type":"text","text":"start ` + strings.Repeat("0123456789", 2_000_000) + ` end"}]}`)
	case b.how == "endless":
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(0)
			}
		}
	case b.how == "nonsense":
		r.say(`[1,2]`)
	case b.how == "out-of-order":
		b.backwards(r)
	case b.how == "changing":
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		r.refuse(-32602, "Unknown tool: do")
	default:
		r.say(`{"content":[{"type":"text","text":"done"}]}`)
	}
}

// backwards answers three calls at once, the last first, and each twice.
func (b *bad) backwards(r ask) {
	b.held = append(b.held, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, r.ID, argument(r.Params)))
	if len(b.held) < 3 {
		return
	}
	for i := len(b.held) - 1; i >= 0; i-- {
		fmt.Println(b.held[i])
		fmt.Println(b.held[i])
	}
	b.held = nil
}

func argument(params json.RawMessage) string {
	var p struct{ Arguments struct{ N string } }
	_ = json.Unmarshal(params, &p)
	return p.Arguments.N
}

// firstTime is true in the first process that asks.
func firstTime() bool {
	f, err := os.OpenFile(os.Getenv("ONCE_FILE"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	return true
}
