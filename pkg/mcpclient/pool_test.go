package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/openspace-dev/openspace/pkg/mcpclient"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// patience is for what must come in time, on a machine that is busy and with the race detector.
const patience = 2 * time.Minute

// peer is a server that this binary is.
func peer(t *testing.T, name, how string, env ...string) mcpclient.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := mcpclient.Server{Name: name, Kind: mcpclient.Stdio, Command: exe, Env: map[string]string{"MCP_PEER": how}, Timeout: patience, StartTimeout: patience}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		s.Env[k] = v
	}
	return s
}

type fixture struct {
	*mcpclient.Pool
	env *tools.Env
}

func open(t *testing.T, servers ...mcpclient.Server) fixture {
	t.Helper()
	return openIn(t, filepath.Join(t.TempDir(), "cache"), servers...)
}

func openIn(t *testing.T, cache string, servers ...mcpclient.Server) fixture {
	t.Helper()
	p := mcpclient.Open(mcpclient.Options{Servers: servers, Cache: cache, Environ: append(os.Environ(), "SECRET_TOKEN=hush-hush-hush"), Dir: t.TempDir(), Version: "test"})
	t.Cleanup(p.Close)
	env := &tools.Env{Workspace: t.TempDir(), OutputDir: t.TempDir(), Vision: true}
	t.Cleanup(env.Close)
	return fixture{p, env}
}

// set returns what the servers offer.
func (f fixture) set(t *testing.T) (*tools.Set, []string) {
	t.Helper()
	all, warnings := f.Tools(t.Context(), f.env)
	s, err := tools.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	return s, warnings
}

func names(s *tools.Set) (out []string) {
	for _, spec := range s.Specs() {
		out = append(out, spec.Name)
	}
	return out
}

func call(t *testing.T, s *tools.Set, name string, args map[string]any) tools.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(t.Context(), tools.Call{ID: "1", Name: name, Args: data})
}

// A server of another make: all pages of its tools, every kind of result, errors that the model can read, and little of
// our environment.
func TestGoodServer(t *testing.T) {
	f := open(t, peer(t, "good", "good", "MY_KEY=given"))
	s, warnings := f.set(t)
	want := []string{"good__echo", "good__env", "good__fail", "good__grow", "good__mixed", "good__refuse", "good__slow", "good__where"}
	if got := names(s); !slices.Equal(got, want) || len(warnings) > 0 {
		t.Fatalf("got %q, %q, want %q", got, warnings, want)
	}
	spec, _ := s.Lookup("good__echo")
	if !strings.HasPrefix(spec.Description, "[good] the tool echo") || spec.Backend != "mcp" || spec.Server != "good" || spec.Remote != "echo" || !spec.ReadOnly {
		t.Errorf("got %+v", spec)
	}
	for _, c := range []struct {
		tool    string
		args    map[string]any
		content []string
		failed  string
	}{
		{"good__echo", map[string]any{"text": "hi"}, []string{`you said {"text":"hi"}`}, ""},
		{"echo", map[string]any{"text": "by its own name"}, []string{"by its own name"}, ""},
		{"good__echo", map[string]any{}, []string{`"text" is missing`}, "missing"},
		{"good__fail", nil, []string{"the disk is full"}, "the disk is full"},
		{"good__refuse", nil, []string{"no such thing"}, "no such thing"},
		{"good__mixed", nil, []string{"a picture:", "a sound: audio/wav", "inside", "file:///b.txt", "another file", `"answer": 42`, "Picture 1: image/png"}, ""},
		{"good__env", nil, []string{"MY_KEY=given", "PATH="}, ""},
	} {
		r := call(t, s, c.tool, c.args)
		for _, part := range c.content {
			if !strings.Contains(r.Content, part) {
				t.Errorf("%s: got %q, want %q in it", c.tool, r.Content, part)
			}
		}
		if r.Failed() != (c.failed != "") || !strings.Contains(r.Error, c.failed) {
			t.Errorf("%s: got error %q, want %q", c.tool, r.Error, c.failed)
		}
		if strings.Contains(r.Content, "hush-hush") {
			t.Errorf("%s: the server got what is not its business", c.tool)
		}
		if c.tool == "good__mixed" && len(r.Images) != 1 {
			t.Errorf("got %d pictures, want 1", len(r.Images))
		}
	}
}

// The same server at an address, over both transports of the protocol.
func TestRemoteServer(t *testing.T) {
	stream := httptest.NewServer(server.NewStreamableHTTPServer(goodServer()))
	defer stream.Close()
	sse := httptest.NewServer(nil)
	sse.Config.Handler = server.NewSSEServer(goodServer())
	defer sse.Close()
	for kind, s := range map[string]mcpclient.Server{
		"http":         {Kind: mcpclient.HTTP, URL: stream.URL},
		"sse":          {Kind: mcpclient.SSE, URL: sse.URL + "/sse"},
		"http, is sse": {Kind: mcpclient.HTTP, URL: sse.URL + "/sse"},
	} {
		t.Run(kind, func(t *testing.T) {
			s.Name, s.Timeout, s.StartTimeout = "far", patience, patience
			f := open(t, s)
			set, warnings := f.set(t)
			if n := len(names(set)); n != 8 || len(warnings) > 0 {
				t.Fatalf("got %d tools, %q", n, warnings)
			}
			if r := call(t, set, "far__echo", map[string]any{"text": "hi"}); r.Failed() || !strings.Contains(r.Content, "hi") {
				t.Errorf("got %+v", r)
			}
			if r := call(t, set, "far__fail", nil); r.Error != "the disk is full" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// Addresses where nobody is, that want a key, or that are no addresses, cost only their own tools.
func TestRemoteFailures(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	guarded := httptest.NewServer(unauthorized{})
	defer guarded.Close()
	f := open(t, mcpclient.Server{Name: "a", Kind: mcpclient.HTTP, URL: closed.URL + "?key=hidden"}, mcpclient.Server{Name: "b", Kind: mcpclient.HTTP, URL: guarded.URL},
		mcpclient.Server{Name: "c", Kind: mcpclient.SSE, URL: "ftp://x"}, peer(t, "d", "good"))
	s, warnings := f.set(t)
	text := strings.Join(warnings, "\n")
	for _, want := range []string{"MCP server a: its tools are left out", "connection refused", "(401)", "no http:// or https:// address"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
	if len(warnings) != 3 || len(names(s)) != 8 || strings.Contains(text, "hidden") {
		t.Errorf("got %q, %q", names(s), text)
	}
}

// B18: tools come from the cache without a start; another configuration, an old cache and a broken one do not count.
func TestCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	good := peer(t, "good", "good")
	f := openIn(t, cache, good)
	f.set(t)
	f.Close()
	files, err := filepath.Glob(filepath.Join(cache, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %q, %v, want one file", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	again := good
	again.Timeout = time.Second // says nothing about the tools
	edit := func(old, new string) {
		t.Helper()
		if err := os.WriteFile(files[0], []byte(strings.ReplaceAll(string(data), old, new)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cached := func(s mcpclient.Server) bool {
		t.Helper()
		set, warnings := openIn(t, cache, s).set(t)
		if len(warnings) > 0 {
			t.Errorf("got %q", warnings)
		}
		return slices.Contains(names(set), "good__cached")
	}
	edit(`"name":"echo"`, `"name":"cached"`)
	if !cached(again) {
		t.Error("the cache was not used")
	}
	other := good
	other.Args = []string{"-test.v=false"}
	if cached(other) {
		t.Error("the cache of another configuration was used")
	}
	edit(`"listed_at":"20`, `"listed_at":"19`)
	if cached(again) {
		t.Error("an old cache was used")
	}
	edit(`{`, ``)
	if cached(again) {
		t.Error("a broken cache was used")
	}
}

// B14: a server that crashes is started again, a call that was lost is repeated only where that does no harm.
func TestCrash(t *testing.T) {
	f := open(t, peer(t, "x", "crash-once", "ONCE_FILE="+filepath.Join(t.TempDir(), "once")))
	s, _ := f.set(t)
	r := call(t, s, "x__do", nil)
	if !r.Failed() || !r.Transient || !strings.Contains(r.Error, "exit status 2") || !strings.Contains(r.Error, "panic: nil map") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, s, "x__do", nil); r.Content != "done" {
		t.Errorf("got %+v after the crash", r)
	}
	f = open(t, peer(t, "x", "crash-once", "ONCE_FILE="+filepath.Join(t.TempDir(), "once")))
	s, _ = f.set(t)
	if r := call(t, s, "x__read", nil); r.Content != "done" {
		t.Errorf("got %+v of a tool that only reads", r)
	}
}

// A server that crashes each time is left alone after a while, and the model is told.
func TestCrashesAgain(t *testing.T) {
	f := open(t, peer(t, "x", "crash"))
	s, _ := f.set(t)
	for range 3 {
		call(t, s, "x__do", nil)
	}
	if r := call(t, s, "x__do", nil); !strings.Contains(r.Error, "left alone for a while") {
		t.Errorf("got %q", r.Error)
	}
}

// MC-14, MC-16 and more: whatever a server does, the others work and every call ends in time.
func TestChaos(t *testing.T) {
	t.Parallel() // it mostly waits
	silent := func(s mcpclient.Server) mcpclient.Server {
		s.StartTimeout = 3 * time.Second
		return s
	}
	hang := peer(t, "hang", "hang")
	hang.Timeout = 2 * time.Second
	small := peer(t, "endless", "endless")
	small.MaxMessage = 4 << 20
	f := open(t, peer(t, "good", "good"), silent(peer(t, "mute", "mute")), silent(peer(t, "hanglist", "hang-list")), hang,
		peer(t, "dies", "die-at-once"), peer(t, "flood", "flood"), peer(t, "babble", "babble"), peer(t, "big", "big"), small, peer(t, "odd", "odd"),
		peer(t, "circles", "circles"), peer(t, "nonsense", "nonsense"), mcpclient.Server{Name: "none", Kind: mcpclient.Stdio, Command: "no-such-command"})
	s, warnings := f.set(t)
	text := strings.Join(warnings, "\n")
	for _, want := range []string{
		"mute: its tools are left out: it did not tell its tools within 3s", "hanglist: its tools are left out: it did not tell", "dies: its tools are left out",
		"exit status 3", "cannot open display :7", `there is no command "no-such-command" in PATH`, "odd: a tool is left out", "goes in circles",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got warnings\n%s\nwant %q", text, want)
		}
	}
	got := names(s)
	for _, want := range []string{"good__echo", "hang__do", "flood__do", "babble__do", "big__do", "odd__ok", "odd__no_schema", "nonsense__do"} {
		if !slices.Contains(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
	for _, c := range []struct{ tool, content, failed string }{
		{"good__echo", "you said", ""}, {"flood__do", "done", ""}, {"babble__do", "done", ""}, {"hang__do", "", "no answer within 2s"},
		{"big__do", "start 0123", ""}, {"endless__do", "", "more than 4194304 bytes, the limit max_message_bytes"}, {"nonsense__do", "", "no result of a tool"},
	} {
		r := call(t, s, c.tool, map[string]any{"text": "x"})
		if !strings.Contains(r.Content, c.content) || r.Failed() != (c.failed != "") || !strings.Contains(r.Error, c.failed) {
			t.Errorf("%s: got %.200q, %q, want %q, %q", c.tool, r.Content, r.Error, c.content, c.failed)
		}
		if c.tool != "big__do" {
			continue
		}
		info, err := os.Stat(r.FullPath)
		if err != nil || info.Size() != 20_000_010 || len(r.Content) > 40_000 || !strings.Contains(r.Content, r.FullPath) {
			t.Errorf("got %d bytes of content, the whole in %q: %v", len(r.Content), r.FullPath, err)
		}
	}
}

// Calls at once get their own answers, in whatever order these come, and a second answer does no harm.
func TestOutOfOrder(t *testing.T) {
	f := open(t, peer(t, "x", "out-of-order"))
	s, _ := f.set(t)
	got := make(chan string, 3)
	for i := range 3 {
		go func() {
			n := strconv.Itoa(i)
			r := s.Run(t.Context(), tools.Call{Name: "x__do", Args: json.RawMessage(`{"N":"` + n + `"}`)})
			got <- n + "=" + r.Content
		}()
	}
	for range 3 {
		if g := <-got; g[0] != g[len(g)-1] || len(g) != 3 {
			t.Errorf("got %q", g)
		}
	}
}

// A changed list counts for whoever asks next; a call of a tool that is gone says so.
func TestListChanges(t *testing.T) {
	f := open(t, peer(t, "good", "good"), peer(t, "x", "changing"))
	s, _ := f.set(t)
	if r := call(t, s, "x__do", nil); !strings.Contains(r.Error, "Unknown tool: do") || r.Code != "invalid" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, s, "good__grow", nil); r.Failed() {
		t.Fatalf("got %+v", r)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s, _ = f.set(t); slices.Contains(names(s), "good__late") {
			break
		}
	}
	if r := call(t, s, "good__late", nil); r.Content != "late" {
		t.Errorf("got %+v", r)
	}
}

// A call ends with its task, the server with the pool, and what the server started with it.
func TestEnds(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	f := open(t, peer(t, "good", "good"), peer(t, "fork", "fork", "PID_FILE="+pidFile))
	s, _ := f.set(t)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	start := time.Now()
	if r := s.Run(ctx, tools.Call{Name: "good__slow", Args: json.RawMessage("{}")}); r.Code != "canceled" || time.Since(start) > 40*time.Second {
		t.Errorf("got %+v after %s", r, time.Since(start))
	}
	r := call(t, s, "good__where", nil)
	var pid int
	if _, err := fmt.Sscanf(r.Content[strings.Index(r.Content, "pid"):], "pid %d", &pid); err != nil || pid < 2 {
		t.Fatalf("got %q", r.Content)
	}
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := strconv.Atoi(string(data))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, p := range []int{pid, grandchild} {
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if err = syscall.Kill(p, 0); err != nil || zombie(p) {
				break
			}
		}
		if err == nil && !zombie(p) {
			t.Errorf("process %d lives on", p)
		}
	}
	if r := call(t, s, "good__where", nil); !r.Failed() {
		t.Errorf("got %+v of a closed pool", r)
	}
}

// zombie: ended, and nobody has asked how.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

// What a model reads of tools is what a person would see of them.
func TestHiddenWords(t *testing.T) {
	set, warnings := open(t, peer(t, "s", "hidden")).set(t)
	if len(warnings) > 0 || len(set.Specs()) != 1 {
		t.Fatalf("got %q, %v", warnings, names(set))
	}
	spec := set.Specs()[0]
	if want := "[s] Reads[31m a page\nof नि\u200cज"; spec.Description != want {
		t.Errorf("got %q, want %q", spec.Description, want)
	}
	if want := `"description":"an address"`; !strings.Contains(string(spec.Parameters), want) {
		t.Errorf("got %q, want %s", spec.Parameters, want)
	}
}

// One page of a list may have any number of tools, good and bad; not all are used, and few warnings tell of it.
func TestCrowd(t *testing.T) {
	set, warnings := open(t, peer(t, "s", "crowd")).set(t)
	if got := len(set.Specs()); got != 2000 {
		t.Errorf("got %d tools, want 2000", got)
	}
	text := strings.Join(warnings, "\n")
	if len(warnings) != 7 || !strings.Contains(text, "15 more tools are left out") || !strings.Contains(text, "the first 2000 are used") {
		t.Errorf("got %d warnings:\n%s", len(warnings), text)
	}
}

func TestAllowDeny(t *testing.T) {
	good := peer(t, "good", "good")
	good.Allow, good.Deny = []string{"e*", "where"}, []string{"en?"}
	s, _ := open(t, good).set(t)
	if got := names(s); !slices.Equal(got, []string{"good__echo", "good__where"}) {
		t.Errorf("got %q", got)
	}
}

// unauthorized wants a key.
type unauthorized struct{}

func (unauthorized) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.WriteHeader(http.StatusUnauthorized)
}
