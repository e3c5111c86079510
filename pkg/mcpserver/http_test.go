package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
)

// web is a server over HTTP.
type web struct {
	t   *testing.T
	h   *mcpserver.HTTP
	url string
}

func listen(t *testing.T, s *mcpserver.Server, o mcpserver.HTTPOptions) *web {
	t.Helper()
	h := s.HTTP(o)
	ts := httptest.NewUnstartedServer(h)
	ts.Config = h.Server()
	ts.Start()
	t.Cleanup(func() { h.Close(); ts.Close() })
	return &web{t, h, ts.URL}
}

// do sends a request; header lines are "Name: value".
func (w *web) do(method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	res := w.open(context.Background(), method, path, body, header...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, strings.TrimSpace(string(text))
}

func (w *web) open(ctx context.Context, method, path, body string, header ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// session begins a session and returns its header line.
func (w *web) session() string {
	w.t.Helper()
	res, body := w.do("POST", "/mcp", hello)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != 200 || len(id) != 32 || !strings.Contains(body, `"protocolVersion":"2025-06-18"`) {
		w.t.Fatalf("got %d, session %q, %s", res.StatusCode, id, body)
	}
	return "Mcp-Session-Id: " + id
}

func toolCall(id, tool, args, token string) string {
	meta := ""
	if token != "" {
		meta = `,"_meta":{"progressToken":` + token + `}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, args, meta)
}

// What the endpoint says to each kind of request.
func TestStreamableHTTP(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	ses := w.session()
	tests := []struct {
		name, method, body string
		header             []string
		status             int
		want               string
	}{
		{"MC-17 notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{ses}, 202, ""},
		{"MC-17 unknown notification", "POST", `{"jsonrpc":"2.0","method":"x"}`, []string{ses}, 202, ""},
		{"answer", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{ses}, 202, ""},
		{"ping", "POST", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, []string{ses}, 200, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		{"batch", "POST", `[{"jsonrpc":"2.0","id":"<","method":"ping"},{"jsonrpc":"2.0","method":"x"}]`, []string{ses}, 200, `[{"jsonrpc":"2.0","id":"<","result":{}}]`},
		{"batch of notifications", "POST", `[{"jsonrpc":"2.0","method":"x"}]`, []string{ses}, 202, ""},
		{"initialize in a batch", "POST", `[` + hello + `]`, nil, 400, "cannot stand in a batch"},
		{"no session", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, 400, "call initialize first"},
		{"unknown session", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"Mcp-Session-Id: x"}, 404, "call initialize again"},
		{"broken", "POST", `{bad`, []string{ses}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700`},
		{"empty", "POST", ``, []string{ses}, 400, `-32700`},
		{"huge", "POST", strings.Repeat("x", 5<<20), []string{ses}, 413, `longer than 4 MiB`},
		{"content type", "POST", `{}`, []string{ses, "Content-Type: text/plain"}, 415, "application/json"},
		{"content type with charset", "POST", `{"jsonrpc":"2.0","method":"x"}`, []string{ses, "Content-Type: application/json; charset=utf-8"}, 202, ""},
		{"accept", "POST", `{}`, []string{ses, "Accept: application/json"}, 406, "must accept"},
		{"accept anything", "POST", `{"jsonrpc":"2.0","method":"x"}`, []string{ses, "Accept: */*"}, 202, ""},
		{"version", "POST", `{}`, []string{ses, "Mcp-Protocol-Version: 1999-01-01"}, 400, "not spoken"},
		{"version known", "POST", `{"jsonrpc":"2.0","method":"x"}`, []string{ses, "Mcp-Protocol-Version: 2025-06-18"}, 202, ""},
		{"PUT", "PUT", ``, []string{ses}, 405, "want POST"},
		{"HEAD", "HEAD", ``, []string{ses}, 405, ""},
		{"GET accept", "GET", ``, []string{ses, "Accept: text/html"}, 406, "event-stream"},
		{"GET without session", "GET", ``, nil, 400, "missing"},
		{"DELETE without session", "DELETE", ``, nil, 400, "missing"},
		{"DELETE", "DELETE", ``, []string{ses}, 204, ""},
		{"after DELETE", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{ses}, 404, "call initialize again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := w.do(tt.method, "/mcp", tt.body, tt.header...)
			if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || tt.want == "" && body != "" {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, body, tt.status, tt.want)
			}
		})
	}
}

// MC-18: web pages and names of other machines are refused before anything is read.
func TestMC18Origins(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true, Hosts: []string{"box.local"}, Origins: []string{"https://app.example"}})
	tests := []struct {
		header string
		status int
	}{
		{"Origin: https://evil.example", 403}, {"Origin: null", 403}, {"Origin: ", 403}, {"Origin: http://localhost.evil.example", 403}, {"Origin: file://", 403},
		{"Origin: http://localhost:3000", 200}, {"Origin: http://127.0.0.1", 200}, {"Origin: https://[::1]:8080", 200}, {"Origin: https://app.example", 200}, {"X: y", 200},
		{"Host: evil.example", 403}, {"Host: localhost.evil.example", 403}, {"Host: 192.168.1.7:8080", 403}, {"Host: 127.0.0.1.nip.io", 403},
		{"Host: LOCALHOST:8080", 200}, {"Host: [::1]", 200}, {"Host: box.local:1", 200},
	}
	for _, tt := range tests {
		for path, body := range map[string]string{"/mcp": hello, "/healthz": ""} {
			method := map[bool]string{true: "POST", false: "GET"}[body != ""]
			if res, text := w.do(method, path, body, tt.header); res.StatusCode != tt.status {
				t.Errorf("%s %s: got %d %s, want %d", path, tt.header, res.StatusCode, text, tt.status)
			}
		}
	}
	open := listen(t, serverFor(t), mcpserver.HTTPOptions{})
	if res, _ := open.do("POST", "/mcp", hello, "Host: 192.168.1.7:8080"); res.StatusCode != 200 {
		t.Errorf("an address that this machine may have: got %d", res.StatusCode)
	}
	if res, _ := open.do("POST", "/mcp", hello, "Host: evil.example"); res.StatusCode != 403 {
		t.Errorf("a name that a page may have made ours: got %d", res.StatusCode)
	}
}

func TestToken(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true, Token: "0123456789abcdef"})
	for header, want := range map[string]int{
		"X: y": 401, "Authorization: Bearer 0123456789abcde": 401, "Authorization: Basic 0123456789abcdef": 401, "Authorization: Bearer": 401,
		"Authorization: Bearer 0123456789abcdef": 200, "Authorization: bearer  0123456789abcdef": 200,
	} {
		res, _ := w.do("POST", "/mcp", hello, header)
		if res.StatusCode != want || want == 401 && res.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: got %d, want %d", header, res.StatusCode, want)
		}
		if want != 401 {
			continue
		}
		if res, _ := w.do("GET", "/sse", "", header); res.StatusCode != 401 {
			t.Errorf("/sse %s: got %d", header, res.StatusCode)
		}
	}
	if res, body := w.do("GET", "/healthz", ""); res.StatusCode != 200 || body != `{"status":"ok"}` {
		t.Errorf("/healthz: got %d %s", res.StatusCode, body)
	}
}

// events reads a stream of events.
func events(r io.Reader) func() (name, data string, ok bool) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	return func() (name, data string, ok bool) {
		for in.Scan() {
			switch line := in.Text(); {
			case line == "" && data != "":
				return name, data, true
			case strings.HasPrefix(line, "event: "):
				name = line[7:]
			case strings.HasPrefix(line, "data: "):
				data = line[6:]
			}
		}
		return "", "", false
	}
}

// Two calls of one session at once each hear of themselves alone.
func TestStreams(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	ses := w.session()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			token := fmt.Sprintf(`"t%d"`, i)
			res := w.open(t.Context(), "POST", "/mcp", toolCall(fmt.Sprint(i), "execute_task", `{"task":"steps 5"}`, token), ses)
			defer res.Body.Close()
			if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
				t.Errorf("got %s", got)
			}
			next, n := events(res.Body), 0
			for {
				name, data, ok := next()
				if !ok || name != "message" {
					t.Errorf("got event %q, %v", name, ok)
					return
				}
				if strings.Contains(data, `"notifications/progress"`) {
					if n++; !strings.Contains(data, `"progressToken":`+token) {
						t.Errorf("call %d heard %s", i, data)
					}
					continue
				}
				if !strings.HasPrefix(data, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result"`, i)) || n < 10 {
					t.Errorf("got %s after %d messages", data, n)
				}
				if _, data, more := next(); more {
					t.Errorf("after the answer: %s", data)
				}
				return
			}
		})
	}
	wait.Wait()
}

// A client that hangs up, cancels, or ends its session ends the call.
func TestHangUp(t *testing.T) {
	s := serverFor(t)
	w := listen(t, s, mcpserver.HTTPOptions{Loopback: true})
	ends := map[string]func(ses string, cancel context.CancelFunc){
		"hang up": func(_ string, cancel context.CancelFunc) { cancel() },
		"cancel": func(ses string, _ context.CancelFunc) {
			w.do("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`, ses)
		},
		"delete": func(ses string, _ context.CancelFunc) { w.do("DELETE", "/mcp", "", ses) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			ses := w.session()
			file := t.TempDir() + "/pids"
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			res := w.open(ctx, "POST", "/mcp", toolCall(`"x"`, "execute_task", `{"task":"hang `+file+`"}`, `1`), ses)
			defer res.Body.Close()
			started := pids(t, file)
			end(ses, cancel)
			gone(t, started)
			rest, _ := io.ReadAll(res.Body)
			if strings.Contains(string(rest), `"result"`) || strings.Contains(string(rest), `"error"`) {
				t.Errorf("got an answer: %s", rest)
			}
		})
	}
}

// Only one stream for messages that belong to no request, and it ends with the session.
func TestListening(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	ses := w.session()
	first := w.open(t.Context(), "GET", "/mcp", "", ses, "Accept: text/event-stream")
	defer first.Body.Close()
	if res, body := w.do("GET", "/mcp", "", ses, "Accept: text/event-stream"); first.StatusCode != 200 || res.StatusCode != 409 {
		t.Errorf("got %d, then %d %s", first.StatusCode, res.StatusCode, body)
	}
	w.do("DELETE", "/mcp", "", ses)
	if rest, err := io.ReadAll(first.Body); err != nil || strings.Contains(string(rest), "data:") {
		t.Errorf("got %q, %v", rest, err)
	}
}

// The older transport: answers come on the stream.
func TestSSE(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res := w.open(ctx, "GET", "/sse", "", "Accept: text/event-stream")
	defer res.Body.Close()
	next := events(res.Body)
	name, path, _ := next()
	if name != "endpoint" || !strings.HasPrefix(path, "/messages/?session_id=") || len(path) != len("/messages/?session_id=")+32 {
		t.Fatalf("got event %q, %q", name, path)
	}
	post := func(body string, want int) {
		t.Helper()
		if res, text := w.do("POST", path, body); res.StatusCode != want {
			t.Errorf("%.60s: got %d %s, want %d", body, res.StatusCode, text, want)
		}
	}
	want := func(line string) {
		t.Helper()
		if name, data, _ := next(); name != "message" || !strings.HasPrefix(data, line) {
			t.Errorf("got event %q, %s, want %s", name, data, line)
		}
	}
	post(hello, 202)
	want(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202)
	post(`{bad`, 400)
	post(toolCall(`"a"`, "search_skills", `{"query":"none"}`, ""), 202)
	want(`{"jsonrpc":"2.0","id":"a","result":{"content":[`)
	post(toolCall(`"b"`, "execute_task", `{"task":"steps 2"}`, `"t"`), 202)
	want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1`)
	for _, tt := range []struct {
		path string
		want int
	}{{"/messages/", 400}, {"/messages/?session_id=x", 400}, {"/messages/?session_id=" + strings.Repeat("0", 32), 404}} {
		if res, _ := w.do("POST", tt.path, hello); res.StatusCode != tt.want {
			t.Errorf("%s: got %d, want %d", tt.path, res.StatusCode, tt.want)
		}
	}
	if res, _ := w.do("POST", "/sse", hello); res.StatusCode != 405 {
		t.Errorf("POST /sse: got %d", res.StatusCode)
	}
	file := t.TempDir() + "/pids"
	post(toolCall(`"c"`, "execute_task", `{"task":"hang `+file+`"}`, ""), 202)
	started := pids(t, file)
	cancel() // the stream ends, and with it the session
	gone(t, started)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if res, _ := w.do("POST", path, hello); res.StatusCode == 404 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a session outlives its stream")
}

// The version without sessions: everything stands in each request.
func TestModernHTTP(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	body := `{"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"search_skills","arguments":{"query":"none"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	version, method, name := "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: search_skills"
	tests := []struct {
		name   string
		body   string
		header []string
		status int
		want   string
	}{
		{"whole", body, []string{version, method, name}, 200, `{"jsonrpc":"2.0","id":"m","result":`},
		{"no version in the header", body, []string{method, name}, 400, "must be the same"},
		{"no version in the body", `{"jsonrpc":"2.0","id":"m","method":"ping"}`, []string{version, "Mcp-Method: ping"}, 400, "must be the same"},
		{"another tool in the header", body, []string{version, method, "Mcp-Name: execute_task"}, 400, `"id":"m","error"`},
		{"unknown method", strings.Replace(body, "tools/call", "no/such", 1), []string{version, "Mcp-Method: no/such"}, 404, `"code":-32601`},
		{"batch", "[" + body + "]", []string{version, method, name}, 400, "no batches"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if res, text := w.do("POST", "/mcp", tt.body, tt.header...); res.StatusCode != tt.status || !strings.Contains(text, tt.want) || res.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, text, tt.status, tt.want)
			}
		})
	}
	if res, _ := w.do("GET", "/mcp", "", version); res.StatusCode != 405 {
		t.Errorf("GET: got %d", res.StatusCode)
	}
}

// A client that sends its message byte by byte is not waited for without end, and one that sends none at all
// neither.
func TestSlowClient(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	conn.(*net.TCPConn).CloseWrite()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != 400 {
		t.Errorf("got %v, %v", res, err)
	}
}

// A session that nobody uses ends; one with a stream, or with a call under way, does not.
func TestIdleSessions(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	idle, listening, busy := w.session(), w.session(), w.session()
	stream := w.open(t.Context(), "GET", "/mcp", "", listening, "Accept: text/event-stream")
	defer stream.Body.Close()
	call := w.open(t.Context(), "POST", "/mcp", toolCall("1", "execute_task", `{"task":"quiet `+filepath.Join(t.TempDir(), "never")+`"}`, "1"), busy)
	defer call.Body.Close()
	w.h.EndIdle(time.Now().Add(-time.Minute))
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if res, _ := w.do("POST", "/mcp", ping, idle); res.StatusCode != 200 {
		t.Errorf("a session ended too early: %d", res.StatusCode)
	}
	w.h.EndIdle(time.Now().Add(time.Minute))
	for session, want := range map[string]int{idle: 404, listening: 200, busy: 200} {
		if res, _ := w.do("POST", "/mcp", ping, session); res.StatusCode != want {
			t.Errorf("got %d, want %d", res.StatusCode, want)
		}
	}
}

// Clients that never end their sessions do not keep others out.
func TestManySessions(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	first := w.session()
	stream := w.open(t.Context(), "GET", "/mcp", "", first, "Accept: text/event-stream")
	defer stream.Body.Close()
	second := w.session()
	for range 1000 {
		w.session()
	}
	for session, want := range map[string]int{first: 200, second: 404} {
		if res, _ := w.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session); res.StatusCode != want {
			t.Errorf("got %d, want %d", res.StatusCode, want)
		}
	}
}

// A server that is asked to stop takes nothing new and lets what is under way end.
func TestDrain(t *testing.T) {
	w := listen(t, serverFor(t), mcpserver.HTTPOptions{Loopback: true})
	ses := w.session()
	listening := w.open(t.Context(), "GET", "/mcp", "", ses, "Accept: text/event-stream")
	defer listening.Body.Close()
	answer := make(chan string)
	file := filepath.Join(t.TempDir(), "go")
	res := w.open(t.Context(), "POST", "/mcp", toolCall("1", "execute_task", `{"task":"quiet `+file+`"}`, "1"), ses)
	go func() {
		text, _ := io.ReadAll(res.Body)
		answer <- string(text)
	}()
	w.h.Drain()
	if res, _ := w.do("POST", "/mcp", hello); res.StatusCode != 503 {
		t.Errorf("got %d, want 503", res.StatusCode)
	}
	touch(t, file)
	io.ReadAll(listening.Body)
	if got := <-answer; !strings.Contains(got, `"status\": \"success\"`) && !strings.Contains(got, "done: quiet") {
		t.Errorf("got %s", got)
	}
}
