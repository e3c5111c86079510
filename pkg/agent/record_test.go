package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// A recording has all that learning reads: the instruction, both phases, every message with the ids of calls,
// and the real names, commands and exit codes of all calls, in every task and not in the first alone (02 B3,
// B4, B13, B44; 03 B23).
func TestRecordingIsComplete(t *testing.T) {
	dir := t.TempDir()
	for task := range 2 {
		id := fmt.Sprintf("task_%d", task)
		rec, err := recording.Create(dir, id, recording.Meta{Instruction: "count the files"})
		if err != nil {
			t.Fatal(err)
		}
		shell := tools.Result{Content: "exit 2", Error: "exit status 2", Code: "exit", Shell: &tools.ShellResult{Command: "ls /none", ExitCode: 2, Stderr: "no such file"}}
		all := set(t, returns("run_shell", shell), tool{spec: tools.Spec{Name: "create_issue", Backend: "mcp", Server: "github"},
			run: func(context.Context, map[string]any) tools.Result { return ok("made") }})
		for _, phase := range []string{"with_skills", "without_skills"} {
			m := &script{replies: []any{calls("run_shell", `{"command":"ls /none"}`, "create_issue", `{"title":"x"}`, "nope", `{"path":"a"}`), says(""), says("done")}}
			out := run(t, agent.Options{Model: m, Tools: all, System: []string{"rules"}, Recorder: rec, Phase: phase})
			want(t, out, agent.Success, agent.Answered, "done")
		}
		if err := rec.Close(recording.Outcome{Status: "success"}); err != nil {
			t.Fatal(err)
		}
		check(t, dir, id)
	}
}

func check(t *testing.T, dir, id string) {
	t.Helper()
	s, err := recording.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	entries, bad, err := s.Conversations()
	if err != nil || bad > 0 || len(entries) != 8 {
		t.Fatalf("got %d entries, %d bad, %v, want 8", len(entries), bad, err)
	}
	for phase, name := range []string{"with_skills", "without_skills"} {
		part := entries[4*phase : 4*phase+4]
		if p := part[0].Setup; p == nil || p.Phase != name || p.Agent != "agent" || len(p.Messages) != 2 || len(p.Tools) != 2 {
			t.Errorf("got the setup %+v", p)
		}
		var roles []string
		for i, e := range part[1:] {
			if e.Iteration.Iteration != i+1 || e.Iteration.Phase != name || e.Iteration.Response.Usage == nil || e.Iteration.Response.Model != "script-1" {
				t.Errorf("got %+v, want iteration %d", e.Iteration, i+1)
			}
			for _, m := range e.Iteration.Messages {
				roles = append(roles, m.Role+" "+m.ToolCallID)
			}
		}
		if want := []string{"assistant ", "tool c1", "tool c2", "tool c3", "user ", "assistant "}; !reflect.DeepEqual(roles, want) {
			t.Errorf("got %q, want %q", roles, want)
		}
	}
	steps, _, err := s.Steps()
	var got []string
	for _, st := range steps[:3] {
		got = append(got, fmt.Sprintf("%s %s %s %q %s %s", st.Backend, st.Server, st.Tool, st.Command, st.Result.Status, st.CallID))
	}
	want := []string{`shell  run_shell "ls /none" error c1`, `mcp github create_issue "github.create_issue" success c2`, `  nope "nope(a)" error c3`}
	if err != nil || len(steps) != 6 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d steps %q, %v, want 6, %q", len(steps), got, err, want)
	}
	if r := steps[0].Result; r.ExitCode == nil || *r.ExitCode != 2 || r.Stderr != "no such file" || r.Error != "exit status 2" {
		t.Errorf("got %+v", r)
	}
	actions, _, err := s.Actions()
	if err != nil || len(actions) != 2 || actions[1].Phase != "without_skills" || actions[1].Output.ToolCalls != 3 || len(actions[1].Reasoning.Tools) != 3 {
		t.Errorf("got %+v, %v", actions, err)
	}
}

// A failing model and a cancellation are recorded like anything else; so is a reply that came to nothing.
func TestFailuresAreRecorded(t *testing.T) {
	dir := t.TempDir()
	rec, err := recording.Create(dir, "t", recording.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	m := &script{replies: []any{calls("run_shell", "{}"), &llm.Error{Kind: llm.Server, Message: "overloaded"}}}
	run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Recorder: rec})
	s, err := recording.Open(dir, "t")
	if err != nil {
		t.Fatal(err)
	}
	entries, _, _ := s.Conversations()
	if last := entries[len(entries)-1].Iteration; len(entries) != 3 || last.Response.Error == "" || last.Iteration != 2 {
		t.Errorf("got %d entries, the last is %+v", len(entries), last)
	}
	if actions, _, _ := s.Actions(); len(actions) != 1 || actions[0].Output.Status != "error" || actions[0].Output.Error == "" {
		t.Errorf("got %+v", actions)
	}
}

type fails struct{}

var errFull = errors.New("no space left on device")

func (fails) Setup(recording.Setup) error         { return errFull }
func (fails) Iteration(recording.Iteration) error { return errFull }
func (fails) Pending(recording.Iteration) error   { return errFull }
func (fails) Step(recording.Step) error           { return errFull }
func (fails) Action(recording.Action) error       { return errFull }

// A recording that cannot be written ends no task (B44).
func TestRecordingFails(t *testing.T) {
	m := &script{replies: []any{calls("run_shell", "{}"), says("done")}}
	out := run(t, agent.Options{Model: m, Tools: set(t, returns("run_shell", ok("x"))), Recorder: fails{}})
	want(t, out, agent.Success, agent.Answered, "done")
	if len(out.Notices) != 1 {
		t.Errorf("got %q, want one notice", out.Notices)
	}
}

func TestCommand(t *testing.T) {
	tests := []struct {
		e    agent.Execution
		want string
	}{
		{agent.Execution{Tool: "read_file", Args: json.RawMessage(`{"path":"a b","limit":3}`)}, "read_file(a b)"},
		{agent.Execution{Tool: "run_shell", Args: json.RawMessage(`{"command":"ls"}`)}, "ls"},
		{agent.Execution{Tool: "x", Server: "s", Args: json.RawMessage(`{"path":"a"}`)}, "s.x"},
		{agent.Execution{Tool: "x", Args: json.RawMessage(`{"path":`)}, "x"},
		{agent.Execution{Tool: "x", Args: json.RawMessage(`{"path":7}`)}, "x"},
	}
	for _, tt := range tests {
		if got := tt.e.Command(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
