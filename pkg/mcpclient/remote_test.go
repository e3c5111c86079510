package mcpclient_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpclient"
)

// far is a hand-made server over streamable HTTP. Only requests of its current session are answered.
type far struct {
	session atomic.Int64
	result  atomic.Pointer[func(w http.ResponseWriter, id json.RawMessage) bool] // of tools/call; true: it has answered
	auth    atomic.Value
}

func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.auth.Store(r.Header.Get("Authorization"))
	body, err := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	session := fmt.Sprint(f.session.Load())
	if m.Method != "initialize" && r.Header.Get("Mcp-Session-Id") != session {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", session)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "initialize":
		answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}}`)
	case "tools/list":
		answer(`{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		if own := f.result.Load(); own == nil || !(*own)(w, m.ID) {
			answer(`{"content":[{"type":"text","text":"done"}]}`)
		}
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// A server that forgot the session gets a new one, and the call that was refused for that is made again.
func TestSessionEnds(t *testing.T) {
	f := &far{}
	web := httptest.NewServer(f)
	defer web.Close()
	p := open(t, mcpclient.Server{Name: "far", Kind: mcpclient.HTTP, URL: web.URL, Headers: map[string]string{"Authorization": "Bearer k"}})
	s, _ := p.set(t)
	for range 3 {
		f.session.Add(1)
		if r := call(t, s, "far__do", nil); r.Content != "done" {
			t.Errorf("got %+v", r)
		}
	}
	if got := f.auth.Load(); got != "Bearer k" {
		t.Errorf("got %q", got)
	}
}

// What is too long, has no end, is nonsense, or ends in the middle costs the one call.
func TestRemoteChaos(t *testing.T) {
	t.Parallel() // it mostly waits
	f := &far{}
	web := httptest.NewServer(f)
	defer web.Close()
	server := mcpclient.Server{Name: "far", Kind: mcpclient.HTTP, URL: web.URL, Timeout: patience, MaxMessage: 1 << 20}
	hasty := server
	hasty.Name, hasty.Timeout = "hasty", 2*time.Second
	s, warnings := open(t, server, hasty).set(t)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	stop := make(chan struct{})
	defer close(stop)
	for name, c := range map[string]struct {
		result func(w http.ResponseWriter, id json.RawMessage) bool
		want   string
	}{
		"long": {func(w http.ResponseWriter, id json.RawMessage) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, strings.Repeat("x", 2<<20))
			return true
		}, "more than 1048576 bytes"},
		"long event": {func(w http.ResponseWriter, _ json.RawMessage) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 100 {
				fmt.Fprintf(w, "data: %s\n", strings.Repeat("x", 64<<10))
			}
			return true
		}, ""},
		"hang": {func(_ http.ResponseWriter, _ json.RawMessage) bool {
			<-stop
			return true
		}, "no answer within 2s"},
		"nonsense": {func(w http.ResponseWriter, _ json.RawMessage) bool {
			fmt.Fprint(w, "<html>")
			return true
		}, "unexpected content type"},
		"fault": {func(w http.ResponseWriter, _ json.RawMessage) bool {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return true
		}, "500"},
		"elsewhere": {func(w http.ResponseWriter, _ json.RawMessage) bool {
			w.Header().Set("Location", "http://elsewhere.example/mcp")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, "another host, elsewhere.example"},
	} {
		f.result.Store(&c.result)
		tool := "far__do"
		if name == "hang" {
			tool = "hasty__do"
		}
		if r := call(t, s, tool, nil); !r.Failed() || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: got %.300q, want %q", name, r.Error, c.want)
		}
		f.result.Store(nil)
		if r := call(t, s, tool, nil); r.Content != "done" {
			t.Errorf("after %s: got %+v", name, r)
		}
	}
}

// A server that let one call run out of time and answers no ping keeps the connection on which another call waits.
func TestProbeSparesOthers(t *testing.T) {
	t.Parallel() // it mostly waits
	f := &far{}
	calls, pinged := make(chan struct{}), make(chan struct{})
	var count, starts atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte(`"initialize"`)):
			starts.Add(1)
		case bytes.Contains(body, []byte(`"ping"`)):
			<-calls
			defer close(pinged)
		case !bytes.Contains(body, []byte(`"tools/call"`)):
		case count.Add(1) == 1:
			<-r.Context().Done()
			return
		default:
			close(calls)
			<-pinged
			time.Sleep(100 * time.Millisecond) // for what would follow from the ping
		}
		f.ServeHTTP(w, r)
	}))
	defer web.Close()
	s, _ := open(t, mcpclient.Server{Name: "far", Kind: mcpclient.HTTP, URL: web.URL, Timeout: 8 * time.Second}).set(t)
	if r := call(t, s, "far__do", nil); !strings.Contains(r.Error, "no answer within 8s") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, s, "far__do", nil); r.Content != "done" {
		t.Errorf("got %+v", r)
	}
	if n := starts.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

// A call of an SSE server ends with the stream on which its answer would have come.
func TestStreamEnds(t *testing.T) {
	var streams atomic.Int64
	end := make(chan struct{})
	events := make(chan string, 10)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			streams.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
			for {
				w.(http.Flusher).Flush()
				select {
				case e := <-events:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", e)
				case <-end:
					return
				case <-r.Context().Done():
					return
				}
			}
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m)
		w.WriteHeader(http.StatusAccepted)
		switch m.Method {
		case "initialize":
			events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}}`, m.ID)
		case "tools/list":
			events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}}`, m.ID)
		case "tools/call":
			end <- struct{}{}
		}
	}))
	defer web.Close()
	p := open(t, mcpclient.Server{Name: "far", Kind: mcpclient.SSE, URL: web.URL})
	defer p.Close()
	s, warnings := p.set(t)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	start := time.Now()
	for range 2 {
		if r := call(t, s, "far__do", nil); !strings.Contains(r.Error, "the stream of answers ended") || time.Since(start) > patience {
			t.Errorf("got %+v after %s", r, time.Since(start))
		}
	}
	if n := streams.Load(); n != 2 {
		t.Errorf("got %d connections, want 2", n)
	}
}

// Requests of an SSE server, which carry its keys, stay at its host, and do not lose their encryption.
func TestEndpointElsewhere(t *testing.T) {
	for _, endpoint := range []string{"http://other.example/post", "https://HOST/post", "//other.example/post", "ftp://HOST/post", "http://%zz"} {
		var posts atomic.Int32
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				posts.Add(1)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", strings.ReplaceAll(endpoint, "HOST", r.Host))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		start := time.Now()
		_, warnings := open(t, mcpclient.Server{Name: "s", Kind: mcpclient.SSE, URL: web.URL + "/sse", StartTimeout: patience}).set(t)
		if text := strings.Join(warnings, "\n"); !strings.Contains(text, "it wants its requests at another place than http://127.0.0.1") || posts.Load() > 0 {
			t.Errorf("%s: got %q, %d requests", endpoint, text, posts.Load())
		}
		if took := time.Since(start); took > patience/2 {
			t.Errorf("%s: it took %s", endpoint, took)
		}
		web.CloseClientConnections()
		web.Close()
	}
}
