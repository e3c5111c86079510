package llmtest_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

const script = `{"conversations":[
 {"match":"alpha","steps":[
  {"expect":{"last_contains":["hello"],"tools":["ls"],"no_fields":["max_tokens"],"no_headers":["OpenAI-Organization"],"turn":0},
   "reply":{"tool_calls":[{"name":"ls","arguments":{"path":"."}}]}},
  {"expect":{"last_contains":["nothing like it"]},"reply":{"text":"no"}}]},
 {"match":"beta","steps":[{"reply":{"text":"done {{last}}"},"fault":{"status":429,"retry_after":"1"}}]}],
 "rules":[{"when":{"contains":["gamma"],"turn":0},"reply":{"text":"by rule"}}]}`

func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestServerPlays(t *testing.T) {
	s, err := llmtest.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New(s)
	web := httptest.NewServer(model)
	defer web.Close()
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"call", `{"model":"m","messages":[{"role":"user","content":"alpha hello"}],"tools":[{"function":{"name":"ls"}}]}`, 200, `"arguments":"{\"path\":\".\"}"`},
		{"rule", `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"gamma"}]}]}`, 200, "data: [DONE]"},
		{"refusal", `{"model":"m","messages":[{"role":"user","content":"beta"}]}`, 429, "Too Many Requests"},
		{"check", `{"model":"m","messages":[{"role":"user","content":"alpha"}]}`, 422, "nothing like it"},
		{"over", `{"model":"m","messages":[{"role":"user","content":"beta"}]}`, 422, "is over after 1 steps"},
		{"nobody", `{"model":"m","messages":[{"role":"user","content":"delta"}]}`, 422, "no conversation and no rule"},
		{"no JSON", `{`, 422, "no JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, text := send(t, web.URL, tt.body)
			if status != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("got %d %s, want %d with %q", status, text, tt.status, tt.want)
			}
		})
	}
	if n, unused := len(model.Failures()), model.Unused(); n != 4 || len(unused) != 0 {
		t.Errorf("got %d failures, unused %q, want 4 and none: %q", n, unused, model.Failures())
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{"field": `{"rule":[]}`, "no steps": `{"conversations":[{"match":"x"}]}`, "more": `{} {}`, "empty": ``} {
		if _, err := llmtest.Parse([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A stream is made of the pieces that the faults ask for.
func TestFaultsOfStreams(t *testing.T) {
	cut := 2
	calls := []llmtest.Call{{ID: "c1", Name: "sh", Arguments: []byte(`{"a":1}`)}, {ID: "c2", Name: "ls", Arguments: []byte(`"{}"`)}}
	for _, tt := range []struct {
		name       string
		fault      llmtest.Fault
		has, lacks string
	}{
		{"plain", llmtest.Fault{}, `"finish_reason":"tool_calls"`, ": ping"},
		{"comments", llmtest.Fault{Between: ": ping\n\n"}, ": ping\n\ndata: ", "zzz"},
		{"no index", llmtest.Fault{Index: "missing"}, `"id":"c2"`, `"index":1`},
		{"no ids", llmtest.Fault{IDs: "missing"}, `"index":1`, `"id":"c1`},
		{"empty ids", llmtest.Fault{IDs: "then_empty"}, `"id":""`, "zzz"},
		{"cut", llmtest.Fault{CutAfter: &cut}, `data: `, `finish_reason":"tool`},
		{"no usage", llmtest.Fault{NoUsage: true}, "[DONE]", "usage"},
		{"object", llmtest.Fault{ArgsObject: true}, `"arguments":{"a":1}`, "zzz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := llmtest.New(llmtest.Script{Rules: []llmtest.Rule{{Step: llmtest.Step{Reply: llmtest.Reply{ToolCalls: calls}, Fault: tt.fault}}}})
			web := httptest.NewServer(model)
			defer web.Close()
			_, text := send(t, web.URL, `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)
			if !strings.Contains(text, tt.has) || strings.Contains(text, tt.lacks) {
				t.Errorf("got %s, want %q and no %q", text, tt.has, tt.lacks)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(script))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := llmtest.Parse(data)
		if err != nil || bytes.Contains(bytes.ToLower(data), []byte("_ms")) || bytes.Contains(bytes.ToLower(data), []byte("hang")) {
			return
		}
		for _, body := range []string{`{"stream":true,"messages":[{"role":"user","content":"alpha"}]}`, `{}`} {
			w := httptest.NewRecorder()
			func() {
				defer func() { recover() }() // a cut answer panics on purpose
				llmtest.New(s).ServeHTTP(w, httptest.NewRequest("POST", "/chat/completions", strings.NewReader(body)))
			}()
		}
	})
}
