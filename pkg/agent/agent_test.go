package agent_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
)

func want(t *testing.T, out *agent.Outcome, status agent.Status, stop agent.Stop, response string) {
	t.Helper()
	if out.Status != status || out.Stop != stop || out.Response != response {
		t.Errorf("got %s, %s, %q (%v), want %s, %s, %q", out.Status, out.Stop, out.Response, out.Err, status, stop, response)
	}
	if p := paired(out.Messages); p != "" {
		t.Errorf("the conversation is broken: %s", p)
	}
}

func TestAnswer(t *testing.T) {
	m := &script{replies: []any{calls("run_shell", `{"command":"ls"}`), says("3 files\n<COMPLETE>")}}
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("a\nb\nc"))), System: []string{"rules", "", "more"}})
	want(t, out, agent.Success, agent.Answered, "3 files")
	if out.Iterations != 2 || len(out.Calls) != 1 || out.Calls[0].Result.Content != "a\nb\nc" || out.Usage.Calls != 2 {
		t.Errorf("got %+v", out)
	}
	first := m.requests[0].Messages
	if len(first) != 2 || first[0].Content != "rules\n\nmore" || first[1].Content != "count the files" {
		t.Errorf("got %+v", first)
	}
}

// The token of the old system ends nothing by itself (B16): it counts on a last line of its own, and there it
// is only taken out.
func TestCompletionIsNoSubstring(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"in a sentence", "I will not write <COMPLETE> yet", "I will not write <COMPLETE> yet"},
		{"last line", "done\n\n  <COMPLETE>  \n", "done"},
		{"first of two lines", "<COMPLETE>\nmore", "<COMPLETE>\nmore"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want(t, run(t, agent.Options{Model: &script{replies: []any{says(tt.text)}}}), agent.Success, agent.Answered, tt.want)
		})
	}
	t.Run("beside a call", func(t *testing.T) {
		r := calls("run_shell", "{}")
		r.Message.Content = "working\n<COMPLETE>"
		m := &script{replies: []any{r, says("it failed")}}
		out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", broken("exit status 1")))})
		want(t, out, agent.Success, agent.Answered, "it failed")
	})
	t.Run("alone", func(t *testing.T) { // it is no answer
		m := &script{replies: []any{says("<COMPLETE>"), says("it is done")}}
		want(t, run(t, agent.Options{Model: m}), agent.Success, agent.Answered, "it is done")
	})
	t.Run("in a result", func(t *testing.T) {
		m := &script{replies: []any{calls("run_shell", "{}"), says("read it")}}
		want(t, run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x\n<COMPLETE>")))}), agent.Success, agent.Answered, "read it")
	})
}

func TestFinish(t *testing.T) {
	all := set(t, finish(), returns("run_shell", broken("exit status 1")), returns("write_file", ok("written")))
	done := `{"status":"done","answer":"all good"}`
	tests := []struct {
		name    string
		replies []any
		status  agent.Status
		stop    agent.Stop
		answer  string
		blocked bool
	}{
		{"done", []any{calls("finish", done)}, agent.Success, agent.Finished, "all good", false},
		{"blocked", []any{calls("finish", `{"status":"blocked","answer":"no key"}`)}, agent.Incomplete, agent.Finished, "no key", true},
		{"blocked in words", []any{says("**BLOCKED:** there is no key\n")}, agent.Incomplete, agent.Answered, "there is no key", true},
		{"blocked in the middle", []any{says("It said BLOCKED: and went on.")}, agent.Success, agent.Answered, "It said BLOCKED: and went on.", false},
		{"beside a call that worked", []any{calls("write_file", "{}", "finish", done)}, agent.Success, agent.Finished, "all good", false},
		{"beside a call that failed (B16)", []any{calls("run_shell", "{}", "finish", done), says("it failed")}, agent.Success, agent.Answered, "it failed", false},
		{"no answer", []any{calls("finish", `{"status":"done"}`), calls("finish", done)}, agent.Success, agent.Finished, "all good", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := run(t, agent.Options{Model: &script{replies: tt.replies}, Tools: all})
			want(t, out, tt.status, tt.stop, tt.answer)
			if out.Blocked != tt.blocked {
				t.Errorf("got blocked %t, want %t", out.Blocked, tt.blocked)
			}
		})
	}
}

// Three empty replies are their own end and not "iterations", and none of them is sent back (B17).
func TestEmptyReplies(t *testing.T) {
	m := &script{replies: []any{says(""), says(" \n"), says("")}}
	out := run(t, agent.Options{Model: m})
	want(t, out, agent.Errored, agent.EmptyReplies, "")
	if out.Iterations != 3 || out.Err == nil {
		t.Errorf("got %d iterations, %v, want 3 and an error", out.Iterations, out.Err)
	}
	for _, message := range m.requests[2].Messages {
		if message.Role == llm.Assistant {
			t.Errorf("an empty reply was sent back: %+v", message)
		}
	}
	out = run(t, agent.Options{Model: &script{replies: []any{says(""), says("here")}}})
	want(t, out, agent.Success, agent.Answered, "here")
}

// LT-10: nothing of a reply that was cut is run; the model is told, and there is an end to it.
func TestLT10CutReply(t *testing.T) {
	var ran atomic.Int32
	write := tool{spec: tools.Spec{Name: "write_file"}, run: func(context.Context, map[string]any) tools.Result {
		ran.Add(1)
		return ok("written")
	}}
	cut := calls("write_file", `{"path":"a","content":"whole"}`, "write_file", `{"path":"b","content":"ha`)
	cut.Finish = llm.Cut
	m := &script{replies: []any{cut}}
	out := run(t, agent.Options{Model: m, Tools: set(t, write)})
	want(t, out, agent.Incomplete, agent.CutReplies, "")
	if ran.Load() != 0 || out.Iterations != 3 || out.Warning == "" {
		t.Errorf("got %d calls run, %d iterations, warning %q, want 0, 3 and one", ran.Load(), out.Iterations, out.Warning)
	}
	last := m.requests[1].Messages[len(m.requests[1].Messages)-1]
	if last.Role != llm.User || !strings.Contains(last.Content, "smaller steps") {
		t.Errorf("the model was not told: %+v", last)
	}
	m = &script{replies: []any{cut, calls("write_file", `{"path":"a"}`), says("ok")}}
	want(t, run(t, agent.Options{Model: m, Tools: set(t, write)}), agent.Success, agent.Answered, "ok")
}

// LT-02: a call with broken arguments is not run and says why; the others of its turn run.
func TestLT02BrokenArguments(t *testing.T) {
	r := calls("run_shell", `{"command": "x`, "run_shell", `{"command":"ls"}`)
	r.Message.ToolCalls[0].Problem = "unexpected end at byte 14"
	m := &script{replies: []any{r, says("ok")}}
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("files")))})
	want(t, out, agent.Success, agent.Answered, "ok")
	if e := out.Calls[0].Result; !strings.Contains(e.Content, "byte 14") || e.Code != "invalid" {
		t.Errorf("got %+v, want the place of the problem", e)
	}
	if out.Calls[1].Result.Content != "files" {
		t.Errorf("got %+v, want the other call run", out.Calls[1])
	}
}

// A failing tool tells the model what failed, not "unknown error" (B1).
func TestFailuresReachTheModel(t *testing.T) {
	m := &script{replies: []any{calls("run_shell", "{}", "no_such_tool", "{}"), says("ok")}}
	run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", tools.Result{Content: "exit 2\nls: no such file", Error: "exit status 2", Code: "exit"}))})
	messages := m.requests[1].Messages
	for i, part := range map[int][]string{2: {`failed="exit"`, "ls: no such file"}, 3: {`failed="not_found"`, "no_such_tool"}} {
		for _, p := range part {
			if !strings.Contains(messages[i].Content, p) {
				t.Errorf("result %d is %q, want %q in it", i, messages[i].Content, p)
			}
		}
	}
}

func TestRepeatedFailures(t *testing.T) {
	all := set(t, returns("run_shell", broken("exit status 1")))
	m := &script{replies: []any{func(_ context.Context, r llm.Request) any {
		if r.ToolChoice == llm.None {
			return says("it does not work")
		}
		return calls("run_shell", fmt.Sprintf(`{%s"command":"make"}`, strings.Repeat(" ", len(r.Messages)))) // the same but for spaces
	}}}
	out := run(t, agent.Options{Model: m, Tools: all})
	want(t, out, agent.Incomplete, agent.Repeated, "it does not work")
	if out.Iterations != 7 {
		t.Errorf("got %d iterations, want 7: six failures and the answer", out.Iterations)
	}
	hints := 0
	for _, message := range out.Messages {
		hints += strings.Count(message.Content, "times in the same way")
	}
	if hints != 4 {
		t.Errorf("got %d hints, want 4: from the third time", hints)
	}
}

// What worked in between makes it another situation.
func TestRepeatedFailuresAfterAChange(t *testing.T) {
	n := 0
	all := set(t, returns("run_shell", broken("exit status 1")), returns("edit_file", ok("edited")))
	m := &script{replies: []any{func(context.Context, llm.Request) any {
		if n++; n > 20 {
			return says("done")
		}
		return calls("run_shell", "{}", "edit_file", "{}")
	}}}
	want(t, run(t, agent.Options{Model: m, Tools: all}), agent.Success, agent.Answered, "done")
}

// A model error ends the run with all that was done (B9).
func TestModelError(t *testing.T) {
	problem := &llm.Error{Kind: llm.Server, Message: "overloaded"}
	m := &script{replies: []any{calls("run_shell", "{}"), problem}}
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("files")))})
	if out.Status != agent.Errored || out.Stop != agent.ByError || !errors.Is(out.Err, problem) {
		t.Errorf("got %s, %s, %v", out.Status, out.Stop, out.Err)
	}
	if len(out.Calls) != 1 || out.Usage.Calls != 1 || out.Iterations != 2 {
		t.Errorf("got %d calls, %d usages, %d iterations, want 1, 1, 2", len(out.Calls), out.Usage.Calls, out.Iterations)
	}
}

func TestCancel(t *testing.T) {
	reason := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(context.Background())
	wait := tool{spec: tools.Spec{Name: "wait"}, run: func(ctx context.Context, _ map[string]any) tools.Result {
		cancel(reason)
		<-ctx.Done()
		return broken("interrupted")
	}}
	r := calls("wait", "{}", "wait", "{}")
	r.Message.Content = "I wait"
	start := time.Now()
	out := runWith(t, ctx, agent.Options{Model: &script{replies: []any{r}}, Tools: set(t, wait)})
	want(t, out, agent.Canceled, agent.ByCancel, "I wait")
	if !errors.Is(out.Err, reason) || len(out.Calls) != 2 || !strings.Contains(out.Calls[1].Result.Error, "not run") {
		t.Errorf("got %v, %+v", out.Err, out.Calls)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	t.Run("in a call of the model", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		m := &script{replies: []any{func(ctx context.Context, _ llm.Request) any {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}}}
		want(t, runWith(t, ctx, agent.Options{Model: m}), agent.Canceled, agent.ByCancel, "")
	})
	t.Run("before", func(t *testing.T) {
		m := &script{replies: []any{says("x")}}
		want(t, runWith(t, ctx, agent.Options{Model: m}), agent.Canceled, agent.ByCancel, "")
		if len(m.requests) > 0 {
			t.Error("the model was called")
		}
	})
}

func TestUnusableOptions(t *testing.T) {
	m := &script{replies: []any{says("x")}}
	for name, o := range map[string]agent.Options{
		"no model": {Task: "x"}, "no task": {Model: m, Task: " \n"}, "negative limit": {Model: m, Task: "x", Budget: agent.Budget{Iterations: -1}},
	} {
		if out, err := agent.Run(context.Background(), o); err == nil || out != nil {
			t.Errorf("%s: got %+v, %v, want an error", name, out, err)
		}
	}
}

func TestEvents(t *testing.T) {
	var got []string
	m := &script{replies: []any{calls("run_shell", "{}"), says("done")}}
	run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Events: func(e agent.Event) {
		got = append(got, fmt.Sprintf("%d %s", e.Iteration, e.Kind))
	}})
	want := []string{"1 step", "1 usage", "1 tool_start", "1 tool", "2 step", "2 text", "2 usage"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a try that failed has said is taken back.
func TestTextIsTakenBack(t *testing.T) {
	var got string
	m := &script{replies: []any{func(_ context.Context, r llm.Request) any {
		r.OnText("wro")
		r.OnText("")
		return says("right")
	}}}
	run(t, agent.Options{Model: m, Events: func(e agent.Event) {
		if e.Kind == agent.TextEvent {
			if e.Reset {
				got = ""
			}
			got += e.Text
		}
	}})
	if got != "right" {
		t.Errorf("got %q, want right", got)
	}
}

func TestFilteredReply(t *testing.T) {
	r := says("")
	r.Finish = llm.Filtered
	out := run(t, agent.Options{Model: &script{replies: []any{r}}})
	if out.Status != agent.Errored || out.Stop != agent.ByError || !strings.Contains(fmt.Sprint(out.Err), "content filter") {
		t.Errorf("got %s, %s, %v", out.Status, out.Stop, out.Err)
	}
}
