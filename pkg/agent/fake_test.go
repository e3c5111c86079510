package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// script is a model that plays replies and keeps the requests. Beyond its last reply it says the last one again.
type script struct {
	window  int64
	replies []any // llm.Reply or error, or a function that makes one of them of the request

	mu       sync.Mutex
	requests []llm.Request
}

func (s *script) Name() string  { return "script" }
func (s *script) Window() int64 { return s.window }

func (s *script) Chat(ctx context.Context, r llm.Request) (llm.Reply, error) {
	s.mu.Lock()
	r.Messages = slices.Clone(r.Messages)
	s.requests = append(s.requests, r)
	next := s.replies[min(len(s.requests), len(s.replies))-1]
	s.mu.Unlock()
	if f, ok := next.(func(context.Context, llm.Request) any); ok {
		next = f(ctx, r)
	}
	if err, ok := next.(error); ok {
		return llm.Reply{}, err
	}
	reply := next.(llm.Reply)
	if reply.Usage == (llm.Usage{}) {
		reply.Usage = llm.Usage{Calls: 1, Input: tokens(r.Messages), Output: 10, Cost: 0.01}
	}
	if r.OnText != nil && reply.Message.Content != "" {
		r.OnText(reply.Message.Content)
	}
	return reply, nil
}

// tokens counts about as a provider does.
func tokens(messages []llm.Message) int64 {
	n := 0
	for _, m := range messages {
		n += len(m.Content) + 16
		for _, c := range m.ToolCalls {
			n += len(c.Arguments) + len(c.Name) + 16
		}
	}
	return int64(n / 4)
}

func says(text string) llm.Reply {
	return llm.Reply{Message: llm.Message{Role: llm.Assistant, Content: text}, Finish: llm.Stopped, Attempts: 1, Model: "script-1"}
}

// calls is a reply with calls of tools, named c1, c2 …; args are pairs of name and arguments.
func calls(args ...string) llm.Reply {
	r := says("")
	r.Finish = llm.Called
	for i := 0; i < len(args); i += 2 {
		r.Message.ToolCalls = append(r.Message.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("c%d", i/2+1), Name: args[i], Arguments: args[i+1]})
	}
	return r
}

// tool is a tool made of a function.
type tool struct {
	spec tools.Spec
	run  func(ctx context.Context, args map[string]any) tools.Result
}

func (t tool) Spec() tools.Spec {
	if t.spec.Parameters == nil {
		t.spec.Parameters = json.RawMessage(`{"type":"object"}`)
	}
	if t.spec.Backend == "" {
		t.spec.Backend = "shell"
	}
	return t.spec
}

func (t tool) Run(ctx context.Context, c tools.Call) tools.Result {
	var args map[string]any
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tools.Result{Content: err.Error(), Error: err.Error()}
	}
	return t.run(ctx, args)
}

// returns is a tool that always returns the same.
func returns(name string, r tools.Result) tool {
	return tool{spec: tools.Spec{Name: name}, run: func(context.Context, map[string]any) tools.Result { return r }}
}

func ok(text string) tools.Result { return tools.Result{Content: text} }

func broken(text string) tools.Result { return tools.Result{Content: text, Error: text, Code: "exit"} }

func set(t testing.TB, all ...tools.Tool) *tools.Set {
	t.Helper()
	s, err := tools.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func finish() tool {
	return tool{spec: tools.Spec{Name: "finish", Backend: "system"}, run: func(_ context.Context, args map[string]any) tools.Result {
		answer, _ := args["answer"].(string)
		return tools.Result{Content: "ok", Finish: &tools.Finish{Done: args["status"] == "done", Answer: answer}}
	}}
}

func run(t testing.TB, o agent.Options) *agent.Outcome {
	t.Helper()
	return runWith(t, context.Background(), o)
}

func runWith(t testing.TB, ctx context.Context, o agent.Options) *agent.Outcome {
	t.Helper()
	if o.Task == "" {
		o.Task = "count the files"
	}
	out, err := agent.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// paired tells what is wrong with the pairs of calls and results in a request; nothing is "".
func paired(messages []llm.Message) string {
	open := map[string]bool{}
	for i, m := range messages {
		switch m.Role {
		case llm.ToolRole:
			if !open[m.ToolCallID] {
				return fmt.Sprintf("message %d is a result without a call", i)
			}
			delete(open, m.ToolCallID)
		default:
			if len(open) > 0 {
				return fmt.Sprintf("message %d comes before all results of the calls are there", i)
			}
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return "the last calls have no results"
	}
	return ""
}

// funcReply is a reply that is made when it is asked for.
func funcReply(f func() llm.Reply) func(context.Context, llm.Request) any {
	return func(context.Context, llm.Request) any { return f() }
}
