package mcpserver_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

const pong = `{"jsonrpc":"2.0","id":1,"result":{}}`

// MC-02: nothing answers a notification, known or not, well made or not.
func TestMC02Notifications(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/xyz","params":{"a":1}}`,
		`{"jsonrpc":"2.0","method":"foo"}`,
		`{"jsonrpc":"2.0","method":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"foo","params":[1]}`,
		`{"jsonrpc":"1.0","method":"foo"}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`[{"jsonrpc":"2.0","method":"foo"},{"jsonrpc":"2.0","method":"bar"}]`,
	)
	h.quiet()
}

// MC-03: a cancellation of what is not known changes nothing.
func TestMC03CancelUnknown(t *testing.T) {
	h := connect(t, serverFor(t))
	for _, params := range []string{`,"params":{"requestId":999}`, `,"params":{"requestId":0}`, `,"params":{"requestId":"abc"}`, `,"params":{}`, `,"params":null`, ``} {
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"` + params + `}`)
	}
	h.send(`{"jsonrpc":"2.0","id":0,"method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":0,"result":{}}`)
}

// MC-04 and TO-04: ping, tools/list and a search are answered at once, before the handshake and during a long
// call.
func TestMC04Ping(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":"p","result":{}}`)
	h.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"execute_task","arguments":{"task":"hang"}}}`)
	h.send(`{"jsonrpc":"2.0","id":"q","method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":"q","result":{}}`)
	h.send(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
	if got := h.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"l","result":{"tools":[`) {
		t.Errorf("got %.100s", got)
	}
	if got := h.call("search_skills", `{"query":"pdf"}`); got.Result.IsError {
		t.Errorf("got %+v", got)
	}
}

// MC-05 and MC-06: a version that is spoken is taken, any other is answered by the newest that the handshake
// can agree on.
func TestMC05Versions(t *testing.T) {
	tests := []struct{ name, params, want string }{
		{"first", `{"protocolVersion":"2024-11-05"}`, "2024-11-05"},
		{"second", `{"protocolVersion":"2025-03-26"}`, "2025-03-26"},
		{"third", `{"protocolVersion":"2025-06-18"}`, "2025-06-18"},
		{"last with a handshake", `{"protocolVersion":"2025-11-25"}`, "2025-11-25"},
		{"first without one", `{"protocolVersion":"2026-07-28"}`, "2025-11-25"},
		{"future", `{"protocolVersion":"2099-01-01"}`, "2025-11-25"},
		{"missing", `{}`, "2025-03-26"},
		{"empty", `{"protocolVersion":""}`, "2025-03-26"},
		{"null", `{"protocolVersion":null}`, "2025-03-26"},
		{"no params", `null`, "2025-03-26"},
		{"number", `{"protocolVersion":20250618}`, ""},
	}
	h := connect(t, serverFor(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + tt.params + `}`)
			got, want := h.next(), `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"`+tt.want+`"`
			if tt.want == "" {
				want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %.120s, want %s…", got, want)
			}
		})
	}
	h.quiet()
}

// What a host is told about the server.
func TestServerInfo(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	got := h.next()
	for _, want := range []string{`"name":"OpenSpace"`, `"version":"v1.2.3"`, `"tools":{`, `"logging":{`, `"instructions":"OpenSpace gives you skills`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// MC-07: ids come back byte for byte.
func TestMC07IDs(t *testing.T) {
	h := connect(t, serverFor(t))
	ids := []string{`"init-1"`, `""`, `0`, `9007199254740993`, `123456789012345678901234567890`, `-1`, `1.0`, `1e3`, `"<a>&\u00e4"`, `"\ud83d\ude00"`, `" "`}
	for _, id := range ids {
		h.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		h.want(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		h.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"no/such"}`)
		if got, want := h.next(), `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,`; !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s…", got, want)
		}
	}
	for _, id := range []string{`null`, `true`, `[1]`, `{}`} {
		h.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		if got, want := h.next(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`; !strings.HasPrefix(got, want) {
			t.Errorf("id %s: got %s, want %s…", id, got, want)
		}
	}
}

// MC-08: whatever a line holds, it is answered and the next one, too.
func TestMC08BadLines(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"broken", `{bad`, `null,"error":{"code":-32700,`},
		{"3 MB", strings.Repeat("x", 3<<20), `null,"error":{"code":-32700,`},
		{"over the cap", strings.Repeat("x", jsonl.MaxLine+10), `null,"error":{"code":-32700,`},
		{"nul", "{\"jsonrpc\":\"2.0\",\x00\"id\":1}", `null,"error":{"code":-32700,`},
		{"binary", "\x00\x01\xff\xfe\x80", `null,"error":{"code":-32700,`},
		{"not utf-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `null,"error":{"code":-32700,`},
		{"a number", `7`, `null,"error":{"code":-32600,`},
		{"null", `null`, `null,"error":{"code":-32600,`},
		{"empty object", `{}`, `null,"error":{"code":-32600,`},
		{"no method", `{"jsonrpc":"2.0","id":4}`, `4,"error":{"code":-32600,`},
		{"wrong version", `{"jsonrpc":"1.0","id":4,"method":"ping"}`, `4,"error":{"code":-32600,`},
		{"method is a number", `{"jsonrpc":"2.0","id":4,"method":3}`, `4,"error":{"code":-32600,`},
		{"params are a list", `{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}`, `4,"error":{"code":-32602,`},
		{"arguments are a list", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search_skills","arguments":[]}}`, `4,"error":{"code":-32602,`},
		{"deep", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), `null,"error":{"code":-32`},
		{"empty batch", `[]`, `null,"error":{"code":-32600,`},
		{"huge batch", "[" + strings.Repeat(`1,`, 200) + "1]", `null,"error":{"code":-32600,`},
		{"unknown tool", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}}`, `4,"error":{"code":-32602,`},
	}
	h := connect(t, serverFor(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.send(tt.line)
			if got, want := h.next(), `{"jsonrpc":"2.0","id":`+tt.want; !strings.HasPrefix(got, want) {
				t.Errorf("got %.120s, want %s…", got, want)
			}
			h.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			h.want(pong)
		})
	}
}

func TestBatch(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"ping"},7]`)
	h.want(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: want an object"}}]`)
}

// MC-19: a name that differs in upper and lower case is another name.
func TestMC19ExactNames(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"search_skills","Name":"execute_task","arguments":{}}}`)
	h.want(pong)
	h.send(`{"jsonrpc":"2.0","ID":1,"method":"ping"}`)
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"execute_task","name":"search_skills","Arguments":{"query":"none"},"arguments":{"query":"pdf","Query":"fail"}}}`)
	if got := h.answer(); got.Result.IsError || got.Result.Object["count"] != 1.0 {
		t.Errorf("got %+v", got)
	}
}

// MC-15: the end of stdin is the end of the server, at once.
func TestMC15HostGone(t *testing.T) {
	h := connect(t, serverFor(t))
	h.in.Close()
	select {
	case err := <-h.ended:
		if err != nil {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on without its host")
	}
	h = connect(t, serverFor(t))
	file := t.TempDir() + "/pids"
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_task","arguments":{"task":"hang ` + file + `"}}}`)
	started := pids(t, file)
	h.in.Close()
	<-h.ended
	gone(t, started)
	if line, more := <-h.lines; more {
		t.Errorf("got %s", line)
	}
}

// A host that closes its end gets the answers that are nearly there.
func TestLastAnswers(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_skills","arguments":{"query":"pdf"}}}`)
	h.in.Close()
	if got := h.answer(); got.Result.Object["count"] != 1.0 {
		t.Errorf("got %+v", got)
	}
}

// A host that cannot be written to is gone.
func TestBrokenOutput(t *testing.T) {
	s := serverFor(t)
	in, w := io.Pipe()
	defer w.Close()
	broken := errors.New("broken")
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(t.Context(), in, writer(func([]byte) (int, error) { return 0, broken })) }()
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// A host that asks for messages gets them, and only those that it asked for.
func TestLogging(t *testing.T) {
	h := connect(t, serverFor(t))
	logged := func() (n int) {
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_task","arguments":{"task":"steps 2"}}}`)
		for {
			if line := h.next(); strings.Contains(line, `"notifications/message"`) {
				n++
			} else {
				return n
			}
		}
	}
	if n := logged(); n != 0 {
		t.Errorf("got %d messages that nobody asked for", n)
	}
	h.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
	h.want(pong)
	if n := logged(); n == 0 {
		t.Error("got no message")
	}
	h.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`)
	if got := h.next(); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("got %s", got)
	}
}

// A host of the version without a handshake needs none.
func TestModern(t *testing.T) {
	h := connect(t, serverFor(t))
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	h.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	if got := h.next(); !strings.Contains(got, `"2026-07-28"`) || !strings.Contains(got, `"2024-11-05"`) {
		t.Errorf("got %s", got)
	}
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_skills","arguments":{"query":"pdf"},` + meta + `}}`)
	if got := h.answer(); got.Result.Object["count"] != 1.0 {
		t.Errorf("got %+v", got)
	}
	h.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`)
	for _, want := range []string{`"notifications/subscriptions/acknowledged"`, `"id":"s","result":`} { // nothing ever changes, so that is all
		if got := h.next(); !strings.Contains(got, want) || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"s"`) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	h.quiet()
}

// The parser is ours, so whatever comes must not break it.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},3]`, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_skills","arguments":"{\"query\":\"x\"}"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}`, `{"jsonrpc":"2.0","id":-0,"method":"logging/setLevel","params":{"level":null,"_meta":{"progressToken":1}}}`, "\x00", `{"id":`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := serverFor(t)
		in := strings.NewReader(strings.ReplaceAll(line, "tools/call", "tools/list") + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n")
		var lines []string
		if err := s.ServeStdio(t.Context(), in, writer(func(b []byte) (int, error) { lines = append(lines, string(b)); return len(b), nil })); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(lines, `{"jsonrpc":"2.0","id":"last","result":{}}`+"\n") {
			t.Errorf("the ping was not answered: %q", lines)
		}
		for _, l := range lines {
			if strings.Count(l, "\n") != 1 {
				t.Errorf("got %q, want one line", l)
			}
		}
	})
}
