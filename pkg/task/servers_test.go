package task_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/mcpclient"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Servers of the MCP project, from npm, in a task. scripts/test-mcp-servers installs them.
func TestRealServers(t *testing.T) {
	dir := os.Getenv("OPENSPACE_TEST_MCP")
	if dir == "" {
		t.Skip("OPENSPACE_TEST_MCP names no folder with servers from npm; scripts/test-mcp-servers makes one")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node in PATH")
	}
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "note.txt"), []byte("buy milk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := func(name string, args ...string) mcpclient.Server {
		return mcpclient.Server{Name: name, Kind: mcpclient.Stdio, Command: filepath.Join(dir, "node_modules", ".bin", "mcp-server-"+name), Args: args,
			Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(docs, "memory.json")}}
	}
	steps := []struct {
		tool string
		args map[string]any
		want string
	}{
		{"everything__echo", map[string]any{"message": "hello there"}, "hello there"},
		{"everything__get-sum", map[string]any{"a": 2, "b": "40"}, "42"}, // "40" is mended
		{"everything__get-tiny-image", nil, "Picture 1: image/png"},
		{"everything__get-structured-content", map[string]any{"location": "Chicago"}, "temperature"},
		{"everything__get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1}, "resource"},
		{"filesystem__read_text_file", map[string]any{"path": filepath.Join(docs, "note.txt")}, "buy milk"},
		{"filesystem__list_directory", map[string]any{"path": docs}, "note.txt"},
		{"filesystem__write_file", map[string]any{"path": filepath.Join(docs, "new.txt"), "content": "made"}, "uccess"},
		{"filesystem__read_text_file", map[string]any{"path": "/etc/passwd"}, "failed="},
		{"memory__create_entities", map[string]any{"entities": []any{map[string]any{"name": "Bob", "entityType": "person", "observations": []any{"likes cats"}}}}, "Bob"},
		{"memory__search_nodes", map[string]any{"query": "cats"}, "likes cats"},
	}
	m := &scripted{work: func(n int, _ llm.Request) llm.Reply {
		if n <= len(steps) {
			return calls(steps[n-1].tool, steps[n-1].args)
		}
		return text("done")
	}}
	s := suite(t, m, false)
	pool := mcpclient.Open(mcpclient.Options{
		Servers: []mcpclient.Server{server("everything"), server("filesystem", docs), server("memory")}, Environ: os.Environ(), Dir: docs, Cache: mcpclient.CacheDir(s.Home),
	})
	defer pool.Close()
	s.Grounding = task.Grounding{Pool: pool, MaxTools: 100}
	res, _ := run(t, s, wire.Task{Task: "try everything", MaxIterations: 30, TimeoutMS: 120_000})
	if res.Status != "success" || len(res.Warnings) > 0 {
		t.Fatalf("got %s, %q, %v", res.Status, res.Warnings, res.Error)
	}
	requests := m.requests()
	t.Logf("%d tools: %s", len(offered(requests[0])), strings.Join(offered(requests[0]), " "))
	for i, step := range steps {
		if last := requests[i+1].Messages[len(requests[i+1].Messages)-1].Content; !strings.Contains(last, step.want) {
			t.Errorf("%s: got %q, want %q in it", step.tool, last, step.want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(docs, "new.txt")); err != nil || string(data) != "made" {
		t.Errorf("got %q, %v", data, err)
	}
}

// The same over both HTTP transports.
func TestRealServersHTTP(t *testing.T) {
	dir := os.Getenv("OPENSPACE_TEST_MCP")
	if dir == "" {
		t.Skip("OPENSPACE_TEST_MCP names no folder with servers from npm; scripts/test-mcp-servers makes one")
	}
	for mode, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(mode, func(t *testing.T) {
			address := serve(t, filepath.Join(dir, "node_modules", ".bin", "mcp-server-everything"), mode)
			m := &scripted{work: func(n int, _ llm.Request) llm.Reply {
				if n == 1 {
					return calls("far__echo", map[string]any{"message": "hello there"})
				}
				return text("done")
			}}
			s := suite(t, m, false)
			kind := mcpclient.HTTP
			if mode == "sse" {
				kind = mcpclient.SSE
			}
			pool := mcpclient.Open(mcpclient.Options{Servers: []mcpclient.Server{{Name: "far", Kind: kind, URL: "http://" + address + path}}})
			defer pool.Close()
			s.Grounding = task.Grounding{Pool: pool}
			res, _ := run(t, s, wire.Task{Task: "echo", TimeoutMS: 60_000})
			requests := m.requests()
			if res.Status != "success" || len(res.Warnings) > 0 || len(requests) != 2 || !strings.Contains(requests[1].Messages[len(requests[1].Messages)-1].Content, "hello there") {
				t.Fatalf("got %s, %q, %v", res.Status, res.Warnings, res.Error)
			}
		})
	}
}

// serve starts a server of HTTP and returns its address.
func serve(t *testing.T, program, mode string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cmd := exec.Command(program, mode)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address := "127.0.0.1:" + port
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}
