package task_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/mcpclient"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// shopServer is an MCP server of as many tools as MCP_TOOLS says, over stdin and stdout. The tool called broken fails.
func shopServer(how string) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct{ Name string }
		}
		if json.Unmarshal([]byte(line), &r) != nil || r.ID == nil || strings.HasPrefix(how, "mute") {
			continue
		}
		if how == "flood" {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 200_000))
		}
		if r.Method == "tools/call" && how == "hang" {
			continue
		}
		if r.Method == "tools/call" && how == "crash" {
			os.Exit(7)
		}
		result := `{"content":[{"type":"text","text":"` + r.Params.Name + ` did it"}]}`
		switch {
		case r.Method == "tools/call" && how == "big":
			result = `{"content":[{"type":"text","text":"` + strings.Repeat("0123456789", 2_000_000) + `"}]}`
		case r.Method == "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}`
		case r.Method == "tools/list":
			tools := []string{`{"name":"pack_parcel","description":"Pack a parcel for a customer","inputSchema":{"type":"object","properties":{"order":{"type":"string"}}}}`,
				`{"name":"broken","description":"Print a label","inputSchema":{"type":"object"}}`}
			for i := range 60 {
				if how == "many" {
					tools = append(tools, fmt.Sprintf(`{"name":"count_%d","description":"Count the coins in drawer %d","inputSchema":{"type":"object"}}`, i, i))
				}
			}
			result = `{"tools":[` + strings.Join(tools, ",") + `]}`
		case r.Params.Name == "broken":
			result = `{"isError":true,"content":[{"type":"text","text":"the printer is on fire"}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
	}
}

// grounded gives a suite servers of these kinds.
func grounded(t *testing.T, s *task.Suite, most int, kinds ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var servers []mcpclient.Server
	for _, kind := range kinds {
		server := mcpclient.Server{Name: kind, Kind: mcpclient.Stdio, Command: exe, Env: map[string]string{"SHOP_SERVER": kind}}
		if kind == "mute" {
			server.StartTimeout = 3 * time.Second
		}
		servers = append(servers, server)
	}
	pool := mcpclient.Open(mcpclient.Options{Servers: servers, Environ: os.Environ(), Dir: t.TempDir(), Cache: mcpclient.CacheDir(s.Home)})
	t.Cleanup(pool.Close)
	s.Grounding = task.Grounding{Pool: pool, MaxTools: most}
}

func offered(r llm.Request) (names []string) {
	for _, tool := range r.Tools {
		if strings.Contains(tool.Name, "__") || tool.Name == "find_tools" {
			names = append(names, tool.Name)
		}
	}
	return names
}

// A task uses a tool of a server; how that went is recorded and counted, a server that fails is a warning.
func TestServerTools(t *testing.T) {
	t.Parallel() // it mostly waits
	m := &scripted{work: func(n int, _ llm.Request) llm.Reply {
		switch n {
		case 1:
			return calls("few__pack_parcel", map[string]any{"order": "7"})
		case 2, 3, 4:
			return calls("broken", nil)
		case 5:
			return calls("few__pack_parcel", map[string]any{"order": map[string]any{"no": "text"}})
		}
		return text("packed")
	}}
	s := suite(t, m, false)
	grounded(t, s, 0, "few", "mute")
	res, _ := run(t, s, wire.Task{Task: "pack the parcel", TimeoutMS: 300_000})
	if res.Status != "success" || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "MCP server mute: its tools are left out") {
		t.Fatalf("got %+v", res)
	}
	requests := m.requests()
	if got := offered(requests[0]); !slices.Equal(got, []string{"few__broken", "few__pack_parcel"}) {
		t.Errorf("got tools %q", got)
	}
	last := requests[1].Messages[len(requests[1].Messages)-1].Content
	if !strings.Contains(last, `server="few"`) || !strings.Contains(last, "pack_parcel did it") {
		t.Errorf("got %q", last)
	}
	if last = requests[2].Messages[len(requests[2].Messages)-1].Content; !strings.Contains(last, "the printer is on fire") || !strings.Contains(last, "failed=") {
		t.Errorf("got %q", last)
	}
	rec, err := recording.Open(filepath.Dir(res.RecordingDir), filepath.Base(res.RecordingDir))
	if err != nil {
		t.Fatal(err)
	}
	steps, _, err := rec.Steps()
	if err != nil || len(steps) != 5 || steps[0].Server != "few" || steps[0].Tool != "pack_parcel" || steps[0].Command != "few.pack_parcel" || steps[0].Backend != "mcp" {
		t.Errorf("got %+v, %v", steps, err)
	}
	got, err := s.Store.Tools()
	for i := range got {
		got[i].MS = 0
	}
	want := []store.ToolRecord{
		{Key: "mcp:few:broken", ToolStats: store.ToolStats{Calls: 3, Recent: 3}, Failures: 3},
		{Key: "mcp:few:pack_parcel", ToolStats: store.ToolStats{Calls: 2, OK: 2, Recent: 2, RecentOK: 2}}, // bad arguments are not its fault
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// Of many tools those that fit are shown; the others are found and called all the same, and the choice is recorded.
func TestManyTools(t *testing.T) {
	m := &scripted{work: func(n int, r llm.Request) llm.Reply {
		switch n {
		case 1:
			return calls("find_tools", map[string]any{"query": "drawer 17"})
		case 2:
			return calls("many__count_17", nil)
		}
		return text("done")
	}}
	s := suite(t, m, false)
	grounded(t, s, 5, "many")
	res, _ := run(t, s, wire.Task{Task: "pack the parcel of customer 3 and print its label"})
	if res.Status != "success" || len(res.Warnings) > 0 {
		t.Fatalf("got %+v", res)
	}
	requests := m.requests()
	got := offered(requests[0])
	if len(got) != 6 || !slices.Contains(got, "many__pack_parcel") || !slices.Contains(got, "many__broken") || !slices.Contains(got, "find_tools") {
		t.Errorf("got %q", got)
	}
	for i, want := range []string{"many__count_17", "count_17 did it"} {
		if last := requests[i+1].Messages[len(requests[i+1].Messages)-1].Content; !strings.Contains(last, want) {
			t.Errorf("got %q, want %s", last, want)
		}
	}
	data, err := os.ReadFile(filepath.Join(res.RecordingDir, "metadata.json"))
	if err != nil || !strings.Contains(string(data), `"tool_search"`) || !strings.Contains(string(data), `"tool_scores"`) {
		t.Errorf("got %s, %v", data, err)
	}
}

// Whatever servers do, a task ends within its limit with a result.
func TestChaos(t *testing.T) {
	t.Parallel() // it mostly waits
	bad := []string{"mute", "crash", "flood", "big", "few"}
	m := &scripted{work: func(n int, _ llm.Request) llm.Reply {
		if n < len(bad) {
			return calls(bad[n]+"__pack_parcel", nil)
		}
		return text("as well as I could")
	}}
	s := suite(t, m, false)
	grounded(t, s, 0, bad...)
	res, _ := run(t, s, wire.Task{Task: "pack the parcel", TimeoutMS: 300_000})
	if res.Status != "success" || res.Response != "as well as I could" || len(res.Warnings) != 1 {
		t.Errorf("got %s %q, %q, %v", res.Status, res.Response, res.Warnings, res.Error)
	}
	requests := m.requests()
	for i, want := range []string{"the server ended (exit status 7)", "pack_parcel did it", "characters are in " + res.RecordingDir, "pack_parcel did it"} {
		if last := requests[i+1].Messages[len(requests[i+1].Messages)-1].Content; !strings.Contains(last, want) || len(last) > 60_000 {
			t.Errorf("%s: got %.300q, want %q in it", bad[i+1], last, want)
		}
	}
}

// A task that hangs on a call is asked for its answer before its time is over.
func TestHangingCall(t *testing.T) {
	t.Parallel() // it mostly waits
	m := &scripted{work: func(n int, r llm.Request) llm.Reply {
		if n == 1 {
			time.Sleep(3 * time.Second) // so that a quarter of the time is kept for the answer, which a busy machine may need
			return calls("hang__pack_parcel", nil)
		}
		return text("it hangs")
	}}
	s := suite(t, m, false)
	grounded(t, s, 0, "hang")
	res, _ := run(t, s, wire.Task{Task: "pack the parcel", TimeoutMS: 16_000})
	if res.Response != "it hangs" || res.Error != nil {
		t.Errorf("got %s %q, %v", res.Status, res.Response, res.Error)
	}
}

// A server that says nothing takes a part of the task's time and not all of it.
func TestListingTakesAPart(t *testing.T) {
	t.Parallel() // it mostly waits
	s := suite(t, &scripted{work: answers("without it")}, false)
	grounded(t, s, 0, "mute-long")
	res, _ := run(t, s, wire.Task{Task: "pack the parcel", TimeoutMS: 8_000})
	if res.Response != "without it" || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "in the time that the task has for that") {
		t.Errorf("got %s %q, %q, %v", res.Status, res.Response, res.Warnings, res.Error)
	}
}

// The test binary is also the servers of its tests.
func TestMain(m *testing.M) {
	if how := os.Getenv("SHOP_SERVER"); how != "" {
		shopServer(how)
		return
	}
	os.Exit(m.Run())
}
