package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// busy is a model that makes two calls a turn, n times, with ids of their own.
func busy(n int, window int64) *script {
	turn := 0
	return &script{window: window, replies: []any{func(_ context.Context, r llm.Request) any {
		if turn++; turn > n || r.ToolChoice == llm.None {
			return says("done")
		}
		reply := calls("read_file", fmt.Sprintf(`{"path":"f%d"}`, turn), "write_file", fmt.Sprintf(`{"path":"g%d","content":%q}`, turn, strings.Repeat("w", 3000)))
		reply.Message.Content = fmt.Sprintf("turn %d", turn)
		for i := range reply.Message.ToolCalls {
			reply.Message.ToolCalls[i].ID = fmt.Sprintf("t%d_%d", turn, i)
		}
		return reply
	}}}
}

func fileTools(t testing.TB) *tools.Set {
	return set(t,
		tool{spec: tools.Spec{Name: "read_file", ReadOnly: true}, run: func(_ context.Context, args map[string]any) tools.Result {
			return ok(fmt.Sprintf("begin %v\n%s\nend", args["path"], strings.Repeat("line\n", 600)))
		}},
		tool{spec: tools.Spec{Name: "write_file"}, run: func(_ context.Context, args map[string]any) tools.Result {
			return tools.Result{Content: "written", Files: []string{"/w/" + args["path"].(string)}}
		}})
}

// grows tells where a request does not begin with the one before.
func breaks(requests []llm.Request) (at []int) {
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1], requests[i]
		if len(now.Messages) < len(before.Messages) || !reflect.DeepEqual(now.Messages[:len(before.Messages)], before.Messages) ||
			!reflect.DeepEqual(now.Tools, before.Tools) {
			at = append(at, i)
		}
	}
	return at
}

// The beginning of the messages never changes from call to call, the skills among them (B12), whatever
// happens: notes stay.
func TestPrefixIsStable(t *testing.T) {
	cut := calls("read_file", `{"path":"a`)
	cut.Finish = llm.Cut
	m := &script{replies: []any{
		calls("read_file", `{"path":"a"}`), says(""), cut, calls("read_file", `{"path":"b"}`, "nope", "{}"), says(""), calls("write_file", `{"path":"c"}`), says("done"),
	}}
	out := run(t, agent.Options{Model: m, Tools: fileTools(t), System: agent.Prompt{Workspace: "/w", Skills: []agent.Skill{{ID: "csv__1", Dir: "/s", Body: "do it so"}}}.Parts(),
		History: []llm.Message{{Role: llm.User, Content: "hello"}, {Role: llm.Assistant, Content: "hi"}}})
	want(t, out, agent.Success, agent.Answered, "done")
	if at := breaks(m.requests); len(at) > 0 || len(m.requests) != 7 {
		t.Errorf("requests %v do not begin with the one before, of %d", at, len(m.requests))
	}
	for i, r := range m.requests {
		if !strings.Contains(r.Messages[0].Content, "do it so") {
			t.Errorf("request %d is without the skill", i)
		}
	}
}

// LT-11: whatever the window, no request splits calls from their results or loses the task, the skills, or
// the last turn (B15).
func TestLT11Compaction(t *testing.T) {
	skill := "### Skill: csv__1" + strings.Repeat(" step", 100)
	for window := int64(3000); window <= 60_000; window += 1500 {
		m := busy(30, window)
		out := run(t, agent.Options{Model: m, Tools: fileTools(t), System: []string{"rules", skill}, Task: "the task itself", Budget: agent.Budget{Iterations: 40},
			History: []llm.Message{{Role: llm.User, Content: strings.Repeat("old ", 300)}, {Role: llm.Assistant, Content: "yes"}, {Role: llm.User, Content: "x"}, {Role: llm.Assistant, Content: "y"}}})
		want(t, out, agent.Success, agent.Answered, "done")
		for i, r := range m.requests {
			if p := paired(r.Messages); p != "" {
				t.Fatalf("window %d, request %d: %s", window, i, p)
			}
			if !strings.Contains(r.Messages[0].Content, skill) || !has(r.Messages, "the task itself") {
				t.Fatalf("window %d, request %d is without the skill or the task", window, i)
			}
			if i > 0 && !strings.Contains(said(r.Messages), fmt.Sprintf("turn %d", i)) {
				t.Fatalf("window %d, request %d is without the last turn", window, i)
			}
			if n := tokens(r.Messages); window > 12_000 && n > window {
				t.Errorf("window %d, request %d has %d tokens", window, i, n)
			}
		}
		if at := breaks(m.requests); len(at) > out.Compacted {
			t.Errorf("window %d: the prefix changed %d times in %d compactions", window, len(at), out.Compacted)
		}
	}
}

func has(messages []llm.Message, content string) bool {
	for _, m := range messages {
		if m.Content == content {
			return true
		}
	}
	return false
}

// said is what the model said in the messages.
func said(messages []llm.Message) (all string) {
	for _, m := range messages {
		if m.Role == llm.Assistant {
			all += m.Content + "\n"
		}
	}
	return all
}

// A compaction is rare: it makes room for many turns.
func TestCompactionIsRare(t *testing.T) {
	m := busy(60, 40_000)
	out := run(t, agent.Options{Model: m, Tools: fileTools(t), Budget: agent.Budget{Iterations: 100}})
	want(t, out, agent.Success, agent.Answered, "done")
	if out.Compacted < 2 || out.Compacted > 8 {
		t.Errorf("got %d compactions in 60 turns of about 1,600 tokens, want 2 to 8", out.Compacted)
	}
	last := m.requests[60].Messages
	if !strings.Contains(last[1].Content, "read_file {\"path\":\"f1\"} → ok: begin f1") || !strings.Contains(last[1].Content, `"/w/g1"`) {
		t.Errorf("the digest is %q", last[1].Content)
	}
}

// Results that are shortened are kept whole in a file that they name, and the numbers in them are true
// however often it happens (B14).
func TestShortenedResults(t *testing.T) {
	dir := t.TempDir()
	m := busy(12, 20_000)
	out := run(t, agent.Options{Model: m, Tools: fileTools(t), OutputDir: dir})
	want(t, out, agent.Success, agent.Answered, "done")
	whole := out.Calls[0].Result.Content
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	raw, err := os.ReadFile(dir + "/" + files[0].Name())
	if err != nil || string(raw) != whole {
		t.Errorf("the file has %d bytes, %v, want %d", len(raw), err, len(whole))
	}
	found := 0
	for _, r := range m.requests {
		for _, message := range r.Messages {
			var n int
			if i := strings.Index(message.Content, "[… "); message.Role == llm.ToolRole && i >= 0 {
				if _, err := fmt.Sscanf(message.Content[i:], "[… %d bytes left out; all of it: ", &n); err != nil {
					t.Fatalf("got %q, %v", message.Content, err)
				}
				_, rest, _ := strings.Cut(message.Content, " …]\n")
				head, _, _ := strings.Cut(strings.TrimPrefix(message.Content, "<result>\n"), "\n[… ")
				if kept := len(head) + len(strings.TrimSuffix(rest, "\n</result>")); kept+n != len(whole) {
					t.Errorf("%d bytes are there and %d left out, want %d in all", kept, n, len(whole))
				}
				found++
			}
		}
		for _, message := range r.Messages {
			for _, c := range message.ToolCalls {
				if !json.Valid([]byte(c.Arguments)) {
					t.Fatalf("the arguments are no JSON: %s", c.Arguments)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no result was shortened")
	}
}

// A long task is never cut, and neither is a skill that was found on the way.
func TestLongTaskAndFoundSkill(t *testing.T) {
	task := strings.Repeat("word ", 8000)
	skill := "### Skill: found " + strings.Repeat("do ", 700) + "the last word"
	find := tool{spec: tools.Spec{Name: "retrieve_skill", ReadOnly: true}, run: func(context.Context, map[string]any) tools.Result {
		return tools.Result{Content: skill, SkillIDs: []string{"found__1"}}
	}}
	n := 0
	m := &script{window: 40_000, replies: []any{func(context.Context, llm.Request) any {
		switch n++; {
		case n == 1:
			return calls("retrieve_skill", "{}")
		case n < 28:
			return calls("run_shell", fmt.Sprintf(`{"n":%d}`, n))
		}
		return says("done")
	}}}
	out := run(t, agent.Options{Model: m, Task: task, Tools: set(t, find, returns("run_shell", ok(strings.Repeat("out put ", 900))))})
	want(t, out, agent.Success, agent.Answered, "done")
	for i, r := range m.requests[1:] {
		if !has(r.Messages, task) || !strings.Contains(all(r.Messages), skill) {
			t.Fatalf("request %d is without the task or the skill", i+1)
		}
	}
	if out.Compacted == 0 {
		t.Error("nothing was shortened")
	}
}

func all(messages []llm.Message) (text string) {
	for _, m := range messages {
		text += m.Content + "\n"
	}
	return text
}

// A request that the model finds too large is made smaller once; when that does not help, it is an error.
func TestTooLarge(t *testing.T) {
	large := &llm.Error{Kind: llm.TooLarge, Message: "maximum context length"}
	n := 0
	m := &script{replies: []any{func(_ context.Context, r llm.Request) any {
		if tokens(r.Messages) > 6000 {
			return large
		}
		if n++; n > 20 {
			return says("done")
		}
		return calls("read_file", fmt.Sprintf(`{"path":"f%d"}`, n))
	}}}
	out := run(t, agent.Options{Model: m, Tools: fileTools(t)})
	want(t, out, agent.Success, agent.Answered, "done")
	refused := len(m.requests) - out.Iterations
	if refused == 0 || refused > 3 {
		t.Errorf("got %d refused requests, want few: the limit is learned", refused)
	}
	out = run(t, agent.Options{Model: &script{replies: []any{large}}, Tools: fileTools(t)})
	if out.Status != agent.Errored || out.Iterations != 1 {
		t.Errorf("got %s after %d iterations, want an error at once: there is nothing to shorten", out.Status, out.Iterations)
	}
}

// Results that the model has not seen yet are shortened only as far as they must be.
func TestLargeTurn(t *testing.T) {
	large := strings.Repeat("0123456789 line\n", 2000) // 32 KB
	m := &script{window: 32_000, replies: []any{calls("read", "{}", "read", "{}", "read", "{}", "read", "{}", "read", "{}", "read", "{}"), says("done")}}
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("read", ok(large)))})
	want(t, out, agent.Success, agent.Answered, "done")
	messages := m.requests[1].Messages
	if n := tokens(messages); n > 24_000 || n < 12_000 {
		t.Errorf("got %d tokens, want most of the 24,000 that there are", n)
	}
	for _, message := range messages {
		if message.Role == llm.ToolRole && len(message.Content) < 6000 {
			t.Errorf("a result has %d bytes", len(message.Content))
		}
	}
}
