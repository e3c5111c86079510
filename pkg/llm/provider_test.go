package llm_test

import (
	"context"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// at makes a model believe that a test server is the host of base.
func at(s *llmtest.Server, base, model string) func(*llm.Options) {
	addr := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}
	return func(o *llm.Options) {
		o.Base, o.Model = base, model
		o.HTTP = &http.Client{Transport: &http.Transport{DialContext: dial}}
	}
}

// What is sent to each endpoint.
func TestProviders(t *testing.T) {
	thought := map[string]json.RawMessage{"reasoning_content": []byte(`"a"`), "reasoning_details": []byte(`[{"type":"reasoning.text","text":"b"}]`), "extra_content": []byte(`{"google":1}`)}
	for _, tt := range []struct {
		base, model string
		has, lacks  []string
	}{
		{"http://api.openai.com/v1", "gpt-5", []string{`"max_completion_tokens":9`, `"include_usage"`}, []string{"reasoning_", "max_tokens", "extra_content"}},
		{"http://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", []string{`"max_tokens":9`, "reasoning_details", `"cache_control":{"type":"ephemeral"}`}, []string{"reasoning_content", "stream_options"}},
		{"http://openrouter.ai/api/v1", "openai/gpt-5", []string{"reasoning_details"}, []string{"cache_control"}},
		{"http://api.deepseek.com", "deepseek-chat", []string{"reasoning_content"}, []string{"reasoning_details", "data:image", "extra_content"}},
		{"http://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", []string{"extra_content"}, []string{"reasoning_"}},
		{"http://api.groq.com/openai/v1", "llama", []string{`"max_completion_tokens":9`, "cannot see"}, []string{"reasoning_", "data:image"}},
		{"http://api.minimax.io/v1", "MiniMax-M2", []string{`{"content":"one\n\ntwo","role":"system"}`, `not a new request]\nlater`}, []string{`"content":"later"`}},
		{"http://some.gateway.example/v1", "x", []string{`"max_tokens":9`, "reasoning_content", "data:image/png;base64,AQI="}, []string{"extra_content"}},
	} {
		t.Run(tt.base+" "+tt.model, func(t *testing.T) {
			s := play(t, ok)
			m := open(t, s.URL, at(s, tt.base, tt.model))
			r := llm.Request{MaxOutput: 9, Messages: []llm.Message{
				{Role: llm.System, Content: "one"}, {Role: llm.System, Content: "two"},
				{Role: llm.User, Content: "look", Images: []llm.Image{{MIME: "image/png", Data: []byte{1, 2}}}},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "ls", Arguments: "{}"}}, Extra: thought},
				{Role: llm.ToolRole, ToolCallID: "c", Content: "r"}, {Role: llm.System, Content: "later"}}}
			if tt.base == "http://api.deepseek.com" {
				r.Messages[2].Images = nil
			}
			chat(t, m, r)
			sent := string(s.Requests()[0].Body)
			for _, w := range tt.has {
				if !strings.Contains(sent, w) {
					t.Errorf("got %s, want %s in it", sent, w)
				}
			}
			for _, w := range tt.lacks {
				if strings.Contains(sent, w) {
					t.Errorf("got %s, want no %s in it", sent, w)
				}
			}
		})
	}
}

// What a request begins with stays byte for byte the same from call to call, so that the caches of providers hit.
func TestPrefixIsStable(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Step: ok}}})
	m, r := open(t, s.URL), withCall(map[string]json.RawMessage{"reasoning_content": []byte(`"x"`), "reasoning_details": []byte(`[]`)})
	chat(t, m, r)
	r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: "more"})
	chat(t, m, r)
	first, second := string(s.Requests()[0].Fields["messages"]), string(s.Requests()[1].Fields["messages"])
	if !strings.HasPrefix(second, strings.TrimSuffix(first, "]")) {
		t.Errorf("the beginning changed:\n%s\n%s", first, second)
	}
}

func TestUsageAndCost(t *testing.T) {
	cost := 0.0123
	for _, tt := range []struct {
		name, base, model string
		usage             llmtest.Usage
		want              llm.Usage
	}{
		{"by the list", "http://api.openai.com/v1", "gpt-5.4-2026-03-05", llmtest.Usage{Input: 1000, Cached: 400, Output: 100, Reasoning: 30},
			llm.Usage{Calls: 1, Input: 1000, Cached: 400, Output: 100, Reasoning: 30, Cost: (600*2.5 + 400*.25 + 100*15) / 1e6}},
		{"a variant is not the model", "http://api.openai.com/v1", "gpt-5-pro", llmtest.Usage{Input: 10, Output: 1}, llm.Usage{Calls: 1, Input: 10, Output: 1, Unpriced: 1}},
		{"as billed", "http://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", llmtest.Usage{Input: 10, Output: 1, Cost: &cost}, llm.Usage{Calls: 1, Input: 10, Output: 1, Cost: cost}},
		{"not billed", "http://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", llmtest.Usage{Input: 1e6}, llm.Usage{Calls: 1, Input: 1e6, Cost: 3}},
		{"cost of others is in no known currency", "http://gateway.example/v1", "y", llmtest.Usage{Input: 10, Output: 1, Cost: &cost}, llm.Usage{Calls: 1, Input: 10, Output: 1, Unpriced: 1}},
		{"free", "http://openrouter.ai/api/v1", "z/model:free", llmtest.Usage{Input: 10, Output: 1}, llm.Usage{Calls: 1, Input: 10, Output: 1}},
		{"on this machine", "http://localhost:11434", "gpt-5", llmtest.Usage{Input: 10, Output: 1}, llm.Usage{Calls: 1, Input: 10, Output: 1}},
		{"odd", "http://gateway.example/v1", "y", llmtest.Usage{Input: 10, Cached: 99, Output: 1, Reasoning: 7}, llm.Usage{Calls: 1, Input: 10, Cached: 10, Output: 1, Reasoning: 1, Unpriced: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "ok", Usage: &tt.usage}})
			got := chat(t, open(t, s.URL, at(s, tt.base, tt.model)), ask("x")).Usage
			if math.Abs(got.Cost-tt.want.Cost) > 1e-12 {
				t.Errorf("got cost %g, want %g", got.Cost, tt.want.Cost)
			}
			if got.Cost = tt.want.Cost; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	t.Run("estimated", func(t *testing.T) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: strings.Repeat("word ", 80)}, Fault: llmtest.Fault{NoUsage: true}})
		got := chat(t, open(t, s.URL), ask("x")).Usage
		if got.Estimated != 1 || got.Output != 100 || got.Input < 20 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "abcd": 1, "abcde": 2, "你好": 2, "\xff\xfe": 2} {
		if got := llm.EstimateTokens(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	if got := llm.EstimateRequest(ask("hello")); got < 10 || got > 60 {
		t.Errorf("got %d", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		o     llm.Options
		words string
	}{
		"no model":   {llm.Options{Base: "http://h/v1"}, "no model"},
		"no base":    {llm.Options{Model: "m"}, "no address"},
		"no URL":     {llm.Options{Model: "m", Base: "http://user:hush@h/\x7f"}, "no URL"},
		"scheme":     {llm.Options{Model: "m", Base: "ftp://user:hush@h/"}, "https://"},
		"query":      {llm.Options{Model: "m", Base: "https://h/v1?key=1"}, "query"},
		"owned":      {llm.Options{Model: "m", Base: "https://h", Config: map[string]any{"messages": 1}}, `"messages"`},
		"key":        {llm.Options{Model: "m", Base: "https://h", Key: "hush\nX: y"}, "line break"},
		"header":     {llm.Options{Model: "m", Base: "https://h", Headers: map[string]string{"A b": "c"}}, `"A b"`},
		"head value": {llm.Options{Model: "m", Base: "https://h", Headers: map[string]string{"A": "hush\n"}}, `"A"`},
	} {
		if _, err := llm.Open(tt.o); err == nil || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %q in it and no secret", name, err, tt.words)
		}
	}
}

// The configuration adds fields; a limit of tokens in it goes by the name that the endpoint knows.
func TestConfig(t *testing.T) {
	s := play(t, ok, ok)
	m := open(t, s.URL, at(s, "http://api.openai.com/v1", "gpt-5"), func(o *llm.Options) {
		o.Config = map[string]any{"max_tokens": 77, "reasoning_effort": "low", "temperature": 0.1}
	})
	r := ask("x")
	chat(t, m, r)
	r.MaxOutput = 5
	chat(t, m, r)
	for i, want := range []string{`"max_completion_tokens":77`, `"max_completion_tokens":5`} {
		if sent := string(s.Requests()[i].Body); !strings.Contains(sent, want) || !strings.Contains(sent, `"reasoning_effort":"low"`) || !strings.Contains(sent, `"temperature":0.1`) {
			t.Errorf("got %s, want %s", sent, want)
		}
	}
}

// What came in pieces goes back whole.
func TestReasoningDetailsInPieces(t *testing.T) {
	s := play(t, llmtest.Step{Fault: llmtest.Fault{Raw: []string{
		`data: {"choices":[{"delta":{"reasoning":"th","reasoning_details":[{"type":"reasoning.text","index":0,"text":"th"}]}}]}` + "\n\n",
		`data: {"choices":[{"delta":{"reasoning":"ink","reasoning_details":[{"type":"reasoning.text","index":0,"text":"ink","signature":"s"},{"type":"reasoning.encrypted","index":1,"data":"d"}]}}]}` + "\n\n",
		`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":"no"},{"type":"text","text":"ok"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":"7","completion_tokens":null}}` + "\n\n",
		"data: [DONE]"}}})
	m := chat(t, open(t, s.URL), ask("x")).Message
	want := `[{"index":0,"signature":"s","text":"think","type":"reasoning.text"},{"data":"d","index":1,"type":"reasoning.encrypted"}]`
	if got := string(m.Extra["reasoning_details"]); got != want || string(m.Extra["reasoning"]) != `"think"` || m.Content != "ok" {
		t.Errorf("got %s %s %q", got, m.Extra["reasoning"], m.Content)
	}
}
