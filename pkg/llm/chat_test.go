package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// open returns a model at a test server, with short pauses.
func open(t *testing.T, base string, change ...func(*llm.Options)) llm.Model {
	t.Helper()
	o := llm.Options{Model: "test-1", Base: base, Key: "secret-key-1", Pause: time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	m, err := llm.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func whole(o *llm.Options) { o.Whole = true }

// ask is a request with one message of the user and a tool.
func ask(text string) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "be brief"}, {Role: llm.User, Content: text}},
		Tools:    []llm.ToolSpec{{Name: "ls", Description: "list", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}
}

// play serves one conversation of these steps.
func play(t *testing.T, steps ...llmtest.Step) *llmtest.Server {
	t.Helper()
	return llmtest.Start(t, llmtest.Script{Conversations: []llmtest.Conversation{{Steps: steps}}})
}

func chat(t *testing.T, m llm.Model, r llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Chat(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func kindOf(err error) llm.Kind {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// each runs a test for streams and for whole answers.
func each(t *testing.T, test func(t *testing.T, mode func(*llm.Options))) {
	t.Run("stream", func(t *testing.T) { test(t, func(*llm.Options) {}) })
	t.Run("whole", func(t *testing.T) { test(t, whole) })
}

func TestChat(t *testing.T) {
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		s := play(t, llmtest.Step{
			Expect: llmtest.Expect{Model: "test-1", Messages: 2, LastContains: []string{"hello"}, Tools: []string{"ls"},
				Headers: map[string]string{"Authorization": "Bearer secret-key-1"}, NoFields: []string{"max_tokens", "temperature", "tool_choice"}},
			Reply: llmtest.Reply{Text: "hi <there> & 你好", Pieces: 4, Usage: &llmtest.Usage{Input: 100, Cached: 60, Output: 7, Reasoning: 2}},
		})
		var said strings.Builder
		r := ask("hello")
		r.OnText = func(p string) { said.WriteString(p) }
		reply := chat(t, open(t, s.URL, mode), r)
		if reply.Message.Content != "hi <there> & 你好" || said.String() != reply.Message.Content || reply.Finish != llm.Stopped || reply.Attempts != 1 {
			t.Errorf("got %+v, said %q", reply, said.String())
		}
		if want := (llm.Usage{Calls: 1, Input: 100, Cached: 60, Output: 7, Reasoning: 2}); reply.Usage != want {
			t.Errorf("got %+v, want %+v", reply.Usage, want)
		}
	})
}

// A conversation goes on with the calls and their results.
func TestToolTurn(t *testing.T) {
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		s := play(t,
			llmtest.Step{Reply: llmtest.Reply{Text: "let me look", ToolCalls: []llmtest.Call{{ID: "c1", Name: "ls", Arguments: []byte(`{"path":"."}`)}, {ID: "c2", Name: "ls"}}}},
			llmtest.Step{Expect: llmtest.Expect{Messages: 5, LastRole: "tool", LastContains: []string{"b.txt"}}, Reply: llmtest.Reply{Text: "done"}})
		m := open(t, s.URL, mode)
		r := ask("look")
		first := chat(t, m, r)
		if first.Finish != llm.Called || len(first.Message.ToolCalls) != 2 || first.Message.ToolCalls[0].Arguments != `{"path":"."}` {
			t.Fatalf("got %+v", first)
		}
		r.Messages = append(r.Messages, first.Message, llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "a.txt"}, llm.Message{Role: llm.ToolRole, ToolCallID: "c2", Content: "b.txt"})
		if got := chat(t, m, r).Message.Content; got != "done" {
			t.Errorf("got %q", got)
		}
		sent := string(s.Requests()[1].Body)
		for _, want := range []string{`"tool_call_id":"c2"`, `"arguments":"{\"path\":\".\"}"`, `"arguments":"{}"`} {
			if !strings.Contains(sent, want) {
				t.Errorf("got %s, want %s in it", sent, want)
			}
		}
	})
}

func TestLT01EmptyArguments(t *testing.T) {
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		for name, args := range map[string]string{"empty": `""`, "null": `null`, "missing": "", "blank": `"  "`, "null text": `"null"`} {
			t.Run(name, func(t *testing.T) {
				var raw json.RawMessage
				if args != "" {
					raw = json.RawMessage(args)
				}
				s := play(t, llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{ID: "c1", Name: "list_skills", Arguments: raw}}}})
				c := chat(t, open(t, s.URL, mode), ask("x")).Message.ToolCalls
				if len(c) != 1 || c[0].Arguments != "{}" || c[0].Problem != "" {
					t.Errorf("got %+v", c)
				}
			})
		}
	})
}

func TestLT02BrokenArguments(t *testing.T) {
	for name, tt := range map[string]struct{ args, where string }{
		"cut":            {`{"path": "a.txt", "content": "x`, "end too early"},
		"trailing comma": {`{"path": "a.txt",}`, "byte 18"},
		"single quotes":  {`{'path': 'a.txt'}`, "byte 2"},
		"list":           {`["a"]`, "one JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := json.Marshal(tt.args)
			s := play(t,
				llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{ID: "c1", Name: "w", Arguments: text}, {ID: "c2", Name: "ls", Arguments: []byte(`{}`)}}}},
				llmtest.Step{Reply: llmtest.Reply{Text: "ok"}})
			m, r := open(t, s.URL), ask("x")
			first := chat(t, m, r)
			c := first.Message.ToolCalls
			if len(c) != 2 || !strings.Contains(c[0].Problem, tt.where) || c[0].Arguments != tt.args || c[1].Problem != "" {
				t.Fatalf("got %+v, want a problem with %q", c, tt.where)
			}
			r.Messages = append(r.Messages, first.Message, llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "bad"}, llm.Message{Role: llm.ToolRole, ToolCallID: "c2", Content: "ok"})
			chat(t, m, r)
			if sent := string(s.Requests()[1].Body); !strings.Contains(sent, `"arguments":"{}","name":"w"`) {
				t.Errorf("the history has broken JSON: %s", sent)
			}
		})
	}
}

func TestLT03LT04PlacesOfDeltas(t *testing.T) {
	two := []llmtest.Call{{ID: "c1", Name: "sh", Arguments: []byte(`{"q":"tea"}`)}, {ID: "c2", Name: "ls", Arguments: []byte(`{"p":1}`)}}
	same := []llmtest.Call{{ID: "c1", Name: "sh", Arguments: []byte(`{"q":"tea"}`)}, {ID: "c2", Name: "sh", Arguments: []byte(`{"q":"milk"}`)}}
	for _, tt := range []struct {
		name  string
		fault llmtest.Fault
		calls []llmtest.Call
	}{
		{"as it should be", llmtest.Fault{}, two},
		{"no index", llmtest.Fault{Index: "missing"}, two},
		{"no index, one tool twice", llmtest.Fault{Index: "missing"}, same},
		{"one index for all", llmtest.Fault{Index: "same"}, two},
		{"one index for all, ids repeated", llmtest.Fault{Index: "same", IDs: "each"}, same},
		{"one index for all, no ids", llmtest.Fault{Index: "same", IDs: "missing"}, same},
		{"empty ids later", llmtest.Fault{IDs: "then_empty"}, two},
		{"empty ids", llmtest.Fault{IDs: "empty"}, two},
		{"no ids", llmtest.Fault{IDs: "missing"}, same},
		{"one id for all", llmtest.Fault{IDs: "same"}, two},
		{"one id for all, one tool twice", llmtest.Fault{IDs: "same"}, same},
		{"in turn", llmtest.Fault{Reorder: true}, same},
		{"arguments as objects", llmtest.Fault{ArgsObject: true}, two},
		{"whole calls without index and ids", llmtest.Fault{Index: "missing", IDs: "missing", ArgsObject: true}, same},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, llmtest.Step{Reply: llmtest.Reply{ToolCalls: tt.calls, Pieces: 3}, Fault: tt.fault})
			got := chat(t, open(t, s.URL), ask("x")).Message.ToolCalls
			ids := map[string]bool{}
			want := map[string]string{}
			for _, c := range tt.calls {
				want[string(c.Arguments)] = c.Name
			}
			for _, c := range got {
				ids[c.ID] = true
				if c.ID == "" || c.Problem != "" || want[c.Arguments] != c.Name {
					t.Errorf("got %+v", c)
				}
			}
			if len(got) != 2 || len(ids) != 2 {
				t.Errorf("got %d calls with %d ids, want 2: %+v", len(got), len(ids), got)
			}
		})
	}
}

// LT-05 and LB-03: what is no event between events changes nothing.
func TestLT05KeepAlive(t *testing.T) {
	for _, between := range []string{": ping\n\n", "\n", "event: ping\n\n", "retry: 3000\n\n", "data:\n\n", ": ping\r\n\r\n", "\r\n", "event: ping\r\n\r\n",
		"retry: 3000\r\n\r\n", "data:\r\n\r\n", "data: ping\n\n", "id: 7\n\n"} {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "the whole text", Pieces: 5}, Fault: llmtest.Fault{Between: between}})
		if got := chat(t, open(t, s.URL), ask("x")).Message.Content; got != "the whole text" {
			t.Errorf("%q: got %q", between, got)
		}
	}
}

func TestLT06Cut(t *testing.T) {
	cut := 1
	broken := llmtest.Step{Reply: llmtest.Reply{Text: "half of it", ToolCalls: []llmtest.Call{{Name: "rm", Arguments: []byte(`{}`)}}}, Fault: llmtest.Fault{CutAfter: &cut}}
	late := 2
	later := broken
	later.Fault.CutAfter = &late
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		t.Run("once", func(t *testing.T) {
			s := play(t, later, llmtest.Step{Reply: llmtest.Reply{Text: "all of it"}})
			var said []string
			r := ask("x")
			r.OnText = func(p string) { said = append(said, p) }
			reply := chat(t, open(t, s.URL, mode), r)
			if reply.Message.Content != "all of it" || reply.Attempts != 2 || len(reply.Message.ToolCalls) != 0 {
				t.Errorf("got %+v", reply)
			}
			if i := strings.Index(strings.Join(said, "|"), "||"); !strings.HasPrefix(said[0], "all") && i < 0 {
				t.Errorf("the text of the cut answer was not taken back: %q", said)
			}
		})
		t.Run("twice", func(t *testing.T) {
			s := play(t, broken, broken)
			_, err := open(t, s.URL, mode).Chat(context.Background(), ask("x"))
			if kindOf(err) != llm.Broken || llm.Code(err) != "network" {
				t.Errorf("got %v, want a cut answer", err)
			}
		})
	})
	t.Run("clean end without a reason", func(t *testing.T) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "x"}, Fault: llmtest.Fault{NoDone: true, NoFinish: true}}, llmtest.Step{Reply: llmtest.Reply{Text: "y"}})
		if got := chat(t, open(t, s.URL), ask("x")); got.Message.Content != "y" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no DONE", func(t *testing.T) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "x"}, Fault: llmtest.Fault{NoDone: true}})
		if got := chat(t, open(t, s.URL), ask("x")); got.Message.Content != "x" || got.Attempts != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestLT07ErrorWithStatus200(t *testing.T) {
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		for _, tt := range []struct {
			body, words string
			kind        llm.Kind
		}{
			{`{"error":{"message":"quota used up"}}`, "quota used up", llm.NoQuota},
			{`{"error":"no such model: x"}`, "no such model", llm.NotFound},
			{`{"error":{"message":"Internal Server Error","code":400}}`, "Internal Server Error", llm.BadRequest},
			{`[{"error":{"code":400,"message":"bad schema","status":"INVALID_ARGUMENT"}}]`, "bad schema", llm.BadRequest},
			{`{"message":"you shall not"}`, "you shall not", llm.BadRequest},
			{"<html><body>Sign in</body></html>", "web page", llm.BadRequest},
		} {
			s := play(t, llmtest.Step{Fault: llmtest.Fault{Body: tt.body}})
			_, err := open(t, s.URL, mode).Chat(context.Background(), ask("x"))
			if kindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%s: got %s: %v, want %s", tt.body, kindOf(err), err, tt.kind)
			}
		}
	})
	t.Run("in the middle of a stream", func(t *testing.T) {
		s := play(t, llmtest.Step{Fault: llmtest.Fault{Raw: []string{
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ha\"}}]}\n\n",
			"data: {\"error\":{\"code\":502,\"message\":\"provider went away\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n"}}},
			llmtest.Step{Reply: llmtest.Reply{Text: "again"}})
		if got := chat(t, open(t, s.URL), ask("x")); got.Message.Content != "again" || got.Attempts != 2 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestLT08Reasoning(t *testing.T) {
	for name, thought := range map[string]string{"said": `"I should look"`, "empty": `""`} {
		t.Run(name, func(t *testing.T) {
			s := play(t,
				llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{ID: "c1", Name: "ls"}}, Extra: map[string]json.RawMessage{"reasoning_content": []byte(thought)}}},
				llmtest.Step{Expect: llmtest.Expect{Echo: []string{"reasoning_content"}}, Reply: llmtest.Reply{Text: "ok"}})
			m, r := open(t, s.URL), ask("x")
			first := chat(t, m, r)
			stored, err := json.Marshal(first.Message) // a session that goes on later
			if err != nil {
				t.Fatal(err)
			}
			var again llm.Message
			if err := json.Unmarshal(stored, &again); err != nil {
				t.Fatal(err)
			}
			r.Messages = append(r.Messages, again, llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "a"})
			chat(t, open(t, s.URL), r)
		})
	}
	t.Run("wanted although never sent", func(t *testing.T) {
		s := play(t,
			llmtest.Step{Fault: llmtest.Fault{Status: 400, Body: `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`}},
			llmtest.Step{Expect: llmtest.Expect{Echo: []string{"reasoning_content"}}, Reply: llmtest.Reply{Text: "ok"}})
		chat(t, open(t, s.URL), withCall(nil))
	})
	t.Run("refused", func(t *testing.T) {
		s := play(t,
			llmtest.Step{Fault: llmtest.Fault{Status: 400, Body: `{"error":{"message":"property 'reasoning_content' is unsupported"}}`}},
			llmtest.Step{Reply: llmtest.Reply{Text: "ok"}})
		chat(t, open(t, s.URL), withCall(map[string]json.RawMessage{"reasoning_content": []byte(`"x"`)}))
		if sent := string(s.Requests()[1].Body); strings.Contains(sent, "reasoning_content") {
			t.Errorf("sent again: %s", sent)
		}
	})
}

// withCall is a request with a tool call and its result in it.
func withCall(extra map[string]json.RawMessage) llm.Request {
	r := ask("x")
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "ls", Arguments: "{}"}}, Extra: extra},
		llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "a"})
	return r
}

func TestLT09RefusedFields(t *testing.T) {
	heat := 0.5
	picky := func(refused ...string) func(llmtest.Request) (llmtest.Step, bool) {
		return func(r llmtest.Request) (llmtest.Step, bool) {
			for _, name := range refused {
				if _, ok := r.Fields[name]; ok {
					body := `{"error":{"message":"Unsupported parameter: '` + name + `' is not supported with this model.","param":"` + name + `"}}`
					return llmtest.Step{Fault: llmtest.Fault{Status: 400, Body: body}}, true
				}
			}
			return llmtest.Step{Reply: llmtest.Reply{Text: "ok"}}, true
		}
	}
	for _, tt := range []struct {
		name    string
		refused []string
		has     string
		learned int
	}{
		{"newer", []string{"max_tokens", "temperature"}, "max_completion_tokens", 2},
		{"older", []string{"max_completion_tokens"}, "max_tokens", 0},
		{"neither", []string{"max_tokens", "max_completion_tokens", "stream_options"}, "", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.Start(t, llmtest.Script{Answer: picky(tt.refused...)})
			m, r := open(t, s.URL), ask("x")
			r.MaxOutput, r.Temperature = 500, &heat
			for range 2 {
				chat(t, m, r)
			}
			all := s.Requests()
			if len(all) != 2+tt.learned {
				t.Errorf("got %d requests, want %d: what was learned is kept", len(all), 2+tt.learned)
			}
			if _, ok := all[len(all)-1].Fields[tt.has]; !ok && tt.has != "" {
				t.Errorf("got %s, want %s in it", all[len(all)-1].Body, tt.has)
			}
		})
	}
}

func TestLB04NoHeadersFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{"OPENAI_ORG_ID": "o1", "OPENAI_PROJECT_ID": "p1", "OPENAI_API_KEY": "k1", "OPENAI_ADMIN_KEY": "k2",
		"OPENAI_BASE_URL": "http://127.0.0.1:1/", "OPENAI_CUSTOM_HEADERS": "X-Mine: 1", "OPENAI_WEBHOOK_SECRET": "w"} {
		t.Setenv(name, value)
	}
	for name, tt := range map[string]struct{ key, want string }{"key": {"mine", "Bearer mine"}, "no key": {"", ""}} {
		t.Run(name, func(t *testing.T) {
			s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "ok"}})
			chat(t, open(t, s.URL, func(o *llm.Options) { o.Key = tt.key; o.Headers = map[string]string{"X-Asked": "yes"} }), ask("x"))
			h := s.Requests()[0].Header
			for name := range h {
				switch name {
				case "Authorization", "User-Agent", "Content-Type", "Content-Length", "Accept", "Accept-Encoding", "X-Asked":
				default:
					t.Errorf("header %s: %q was not asked for", name, h[name])
				}
			}
			if got := h.Get("Authorization"); got != tt.want || h.Get("X-Asked") != "yes" {
				t.Errorf("got %q %q, want %q", got, h.Get("X-Asked"), tt.want)
			}
		})
	}
}

func TestLT10CutAtLimit(t *testing.T) {
	each(t, func(t *testing.T, mode func(*llm.Options)) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Finish: "length", ToolCalls: []llmtest.Call{
			{ID: "c1", Name: "ls", Arguments: []byte(`{}`)}, {ID: "c2", Name: "write_file", Arguments: []byte(`"{\"path\":\"a\",\"content\":\"half"`)}}}})
		reply := chat(t, open(t, s.URL, mode), ask("x"))
		c := reply.Message.ToolCalls
		if reply.Finish != llm.Cut || len(c) != 2 || c[0].Problem != "" || !strings.Contains(c[1].Problem, "limit") {
			t.Errorf("got %+v", reply)
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := llmtest.Start(t, llmtest.Script{})
	s := play(t, llmtest.Step{Fault: llmtest.Fault{Status: http.StatusTemporaryRedirect, Headers: map[string]string{"Location": other.URL + "/chat/completions"}}})
	_, err := open(t, s.URL).Chat(context.Background(), ask("x"))
	if kindOf(err) != llm.NotFound || !strings.Contains(err.Error(), "redirects to "+other.URL) || len(other.Requests()) != 0 {
		t.Errorf("got %v, %d requests", err, len(other.Requests()))
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	s := play(t, llmtest.Step{Fault: llmtest.Fault{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: secret-key-1 or sk-proj-abc*********************xyz; x-token tok-9"}}`}})
	m := open(t, s.URL, func(o *llm.Options) { o.Headers = map[string]string{"X-Token": "tok-9"} })
	_, err := m.Chat(context.Background(), ask("x"))
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, secret := range []string{"secret-key-1", "sk-proj", "tok-9"} {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%q is in %q", secret, e)
			}
		}
	}
	if kindOf(err) != llm.BadAuth || llm.Code(err) != "auth" || !strings.Contains(err.Error(), "Incorrect API key") {
		t.Errorf("got %v", err)
	}
}

// What an endpoint asks for or cannot take is learned from its refusal.
func TestLearned(t *testing.T) {
	image := ask("look")
	image.Messages[1].Images = []llm.Image{{MIME: "image/png", Data: []byte{1}}}
	for _, tt := range []struct {
		name, refusal string
		status        int
		r             llm.Request
		has, lacks    string
	}{
		{"a limit is wanted", `{"error":{"message":"max_tokens: Field required"}}`, 400, ask("x"), `"max_tokens":16384`, "zzz"},
		{"no images", `{"error":{"message":"No endpoints found that support image input","code":404}}`, 404, image, "cannot see", "data:image"},
		{"no streams", `{"error":{"message":"streaming is not supported"}}`, 400, ask("x"), `"model"`, `"stream"`},
		{"system first", `{"error":{"message":"System message must be at the beginning"}}`, 400,
			llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "a"}, {Role: llm.System, Content: "b"}}}, "not a new request", `"system"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, refusal(tt.status, tt.refusal), ok)
			chat(t, open(t, s.URL), tt.r)
			if sent := string(s.Requests()[1].Body); !strings.Contains(sent, tt.has) || strings.Contains(sent, tt.lacks) {
				t.Errorf("got %s, want %s and no %s", sent, tt.has, tt.lacks)
			}
		})
	}
	t.Run("the same refusal again", func(t *testing.T) {
		s := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Step: refusal(400, `{"error":{"message":"max_tokens and temperature and reasoning_content are required"}}`)}}})
		_, err := open(t, s.URL).Chat(context.Background(), withCall(nil))
		if n := len(s.Requests()); kindOf(err) != llm.BadRequest || n > 4 {
			t.Errorf("got %v after %d requests", err, n)
		}
	})
}
