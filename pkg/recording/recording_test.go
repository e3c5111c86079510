package recording_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/recording"
)

func create(t *testing.T, dir, id string, m recording.Meta) *recording.Recording {
	t.Helper()
	r, err := recording.Create(dir, id, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir, id string) *recording.Saved {
	t.Helper()
	s, err := recording.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill writes one of everything.
func fill(t *testing.T, r *recording.Recording, phase string) {
	t.Helper()
	zero := 0
	must(t,
		r.Set("skill_selection", map[string]any{"method": "llm", "selected": []string{"csv__1"}}),
		r.Setup(recording.Setup{Agent: "agent", Phase: phase, Messages: []recording.Message{{Role: "system", Content: "rules"}, {Role: "user", Content: "count"}},
			Tools: []recording.Tool{{Name: "run_shell", Backend: "shell", Description: strings.Repeat("d", 500)}}}),
		r.Step(recording.Step{Agent: "agent", Phase: phase, Iteration: 1, CallID: "c1", Backend: "shell", Tool: "run_shell", Command: "ls",
			Parameters: json.RawMessage(`{"command":"ls"}`), Result: recording.StepResult{Status: "success", ExitCode: &zero, Stdout: "a\n"}}),
		r.Step(recording.Step{Agent: "agent", Phase: phase, Iteration: 1, CallID: "c2", Backend: "system", Tool: "read_file", Command: "read_file(b)",
			Result: recording.StepResult{Status: "error", Error: "no such file"}}),
		r.Iteration(recording.Iteration{Agent: "agent", Phase: phase, Iteration: 1, Response: recording.Response{HasToolCalls: true, ToolCalls: 2, Usage: &recording.Usage{Calls: 1, Input: 10}},
			Messages: []recording.Message{
				{Role: "assistant", ToolCalls: []recording.ToolCall{{ID: "c1", Function: recording.Function{Name: "run_shell", Arguments: `{"command":"ls"}`}}}},
				{Role: "tool", ToolCallID: "c1", Name: "run_shell", Content: "a"},
			}}),
		r.Action(recording.Action{Agent: "agent", ActionType: "execute", Phase: phase, Output: recording.ActionOutput{Status: "success", Iterations: 1, ToolCalls: 2}}),
	)
}

func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "task_1", recording.Meta{Instruction: "count", WorkspaceDir: "/w", Model: "m", Version: "1", Backends: []string{"shell"}})
	fill(t, r, "with_skills")
	fill(t, r, "without_skills") // both phases in one recording (B4)
	must(t, r.Set("grade", 7), r.Close(recording.Outcome{Status: "success", Iterations: 2, ExecutionTime: 1.5, Response: "3", Stop: "answered"}), r.Close(recording.Outcome{}))
	s := open(t, dir, "task_1")
	if s.State() != "success" || s.Schema != 1 || s.Instruction != "count" || s.TotalSteps != 4 || s.BackendCounts["shell"] != 2 || s.EndTime.IsZero() {
		t.Errorf("got %+v", s.Metadata)
	}
	if !strings.Contains(string(s.SkillSelection), "csv__1") || string(s.Other["grade"]) != "7" || len(s.Other) != 1 || s.ExecutionOutcome.Response != "3" {
		t.Errorf("got %s, %v, %+v", s.SkillSelection, s.Other, s.ExecutionOutcome)
	}
	if got := string(s.RetrievedTools); got != `{"count":1,"instruction":"count","tools":[{"backend":"shell","name":"run_shell"}]}` {
		t.Errorf("got the tools %s", got)
	}
	entries, bad, err := s.Conversations()
	if err != nil || bad != 0 || len(entries) != 4 || entries[2].Setup == nil || entries[2].Setup.Phase != "without_skills" || len(entries[0].Setup.Tools[0].Description) > 210 {
		t.Errorf("got %d entries, %d bad, %v", len(entries), bad, err)
	}
	if m := entries[1].Iteration.Messages; m[0].ToolCalls[0].Type != "function" || m[1].ToolCallID != "c1" {
		t.Errorf("got %+v, want the ids of the calls", m)
	}
	steps, _, err := s.Steps()
	if err != nil || len(steps) != 4 || steps[3].Step != 4 || steps[0].Command != "ls" || *steps[0].Result.ExitCode != 0 || string(steps[0].Parameters) != `{"command":"ls"}` {
		t.Errorf("got %+v, %v", steps, err)
	}
	sum, err := s.Summary()
	if err != nil || sum.Trajectory.SuccessRate != 0.5 || sum.Trajectory.ByTool["read_file"] != 2 || sum.Actions.Total != 2 {
		t.Errorf("got %+v, %v", sum, err)
	}
}

// A process that is killed leaves a recording that can be read: nothing waits in a buffer, the last line may
// be half.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "t", recording.Meta{})
	fill(t, r, "plain")
	for _, name := range []string{recording.ConversationsFile, recording.TrajectoryFile} {
		f, err := os.OpenFile(filepath.Join(r.Dir(), name), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString(`{"type":"iteration","delta_mess`)
		must(t, err, f.Close())
	}
	must(t, r.Pending(recording.Iteration{Agent: "agent", Phase: "plain", Iteration: 2, Messages: []recording.Message{{Role: "assistant", Content: "I wait",
		ToolCalls: []recording.ToolCall{{ID: "c9", Function: recording.Function{Name: "run_shell", Arguments: `{"command":"sleep 900"}`}}}}}}))
	s := open(t, dir, "t")
	entries, bad, err := s.Conversations()
	if s.State() != "unfinished" || len(entries) != 3 || bad != 1 || err != nil || entries[2].Iteration.Messages[0].ToolCalls[0].ID != "c9" {
		t.Errorf("got %s, %d entries, %d bad, %v", s.State(), len(entries), bad, err)
	}
	sum, err := s.Summary()
	if err != nil || sum.Trajectory.TotalSteps != 2 || sum.Actions.Total != 1 {
		t.Errorf("got %+v, %v", sum, err)
	}
}

// An id is a name and never a path (02 B45).
func TestIDs(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "recordings")
	ids := []string{"task_1", "../../x", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\x00b", ".hidden", "-rf", "naïve id", "a:b", strings.Repeat("x", 300), "CON"}
	plain := regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	for _, id := range ids {
		r := create(t, dir, id, recording.Meta{})
		if filepath.Dir(r.Dir()) != dir || !plain.MatchString(filepath.Base(r.Dir())) || len(filepath.Base(r.Dir())) > 120 {
			t.Errorf("id %q has the folder %q", id, r.Dir())
		}
		if s := open(t, dir, id); s.TaskID != id && s.TaskID != strings.ToValidUTF8(id, "�") {
			t.Errorf("id %q opens the recording of %q", id, s.TaskID)
		}
	}
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want nothing beside the recordings", entries, err)
	}
	if _, err := recording.Open(dir, "../recordings/task_1"); !errors.Is(err, recording.ErrNotFound) {
		t.Errorf("got %v, want %v", err, recording.ErrNotFound)
	}
}

// Runs with the same id do not share a folder, and no run writes into another's (B3, B8, 03 B23).
func TestParallel(t *testing.T) {
	dir := t.TempDir()
	const n = 32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r, err := recording.Create(dir, "same", recording.Meta{Instruction: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				if err := r.Step(recording.Step{Tool: fmt.Sprint(i), Backend: "shell"}); err != nil {
					t.Error(err)
				}
			}
			if err := r.Close(recording.Outcome{Status: "success"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, problems, err := recording.List(dir)
	if err != nil || len(problems) > 0 || len(found) != n {
		t.Fatalf("got %d recordings, %v, %v, want %d", len(found), problems, err, n)
	}
	for _, s := range found {
		steps, _, err := s.Steps()
		if err != nil || len(steps) != 5 {
			t.Errorf("%s has %d steps, %v, want 5", s.Name, len(steps), err)
		}
		for _, step := range steps {
			if step.Tool != s.Instruction {
				t.Errorf("%s has a step of run %s", s.Name, step.Tool)
			}
		}
	}
}

// One recording takes calls of several goroutines; steps keep counting.
func TestConcurrentWrites(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "t", recording.Meta{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if err := errors.Join(r.Step(recording.Step{Tool: "x"}), r.Set("k", 1), r.Iteration(recording.Iteration{})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	steps, bad, err := open(t, dir, "t").Steps()
	for i, s := range steps {
		if s.Step != i+1 {
			t.Errorf("step %d has the number %d", i+1, s.Step)
		}
	}
	if len(steps) != 80 || bad != 0 || err != nil {
		t.Errorf("got %d steps, %d bad, %v, want 80", len(steps), bad, err)
	}
}

// SH-07: a secret is in no file of a recording, wherever it stood and however it was written.
func TestSH07Secrets(t *testing.T) {
	const secret = "ghp_\"quoted\"\nand long"
	dir := t.TempDir()
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	r := create(t, dir, "t", recording.Meta{Instruction: "use " + secret, Mask: mask})
	args, _ := json.Marshal(map[string]any{"a": []string{secret}, secret: 1})
	call := []recording.ToolCall{{ID: "1", Function: recording.Function{Name: "x", Arguments: string(args)}}}
	must(t,
		r.Set("skill_selection", map[string]any{"task": secret, "list": []any{map[string]string{"x": secret}}}),
		r.Setup(recording.Setup{Messages: []recording.Message{{Role: "user", Content: secret}}}),
		r.Iteration(recording.Iteration{Response: recording.Response{Error: secret}, Messages: []recording.Message{{Role: "assistant", Content: secret, ToolCalls: call},
			{Role: "tool", Content: strings.Repeat("x", 70<<10) + secret}}}),
		r.Step(recording.Step{Command: "echo " + secret, Parameters: args, Result: recording.StepResult{Stdout: secret, Stderr: secret, Output: secret, Error: secret}}),
		r.Action(recording.Action{Input: recording.ActionInput{Instruction: secret}, Reasoning: recording.ActionReasoning{Response: secret}, Output: recording.ActionOutput{Error: secret}}),
		r.Pending(recording.Iteration{Messages: []recording.Message{{Content: secret, ToolCalls: call}}}),
	)
	files := 0
	err := filepath.WalkDir(r.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("ghp_")) {
			t.Errorf("%s has the secret: %s", path, raw)
		}
		return err
	})
	if err != nil || files != 6 {
		t.Errorf("got %d files, %v, want 6", files, err)
	}
	must(t, r.Close(recording.Outcome{Response: secret, Error: secret}))
	for _, name := range []string{recording.MetadataFile, recording.SummaryFile} {
		raw, err := os.ReadFile(filepath.Join(r.Dir(), name))
		if err != nil || bytes.Contains(raw, []byte("ghp_")) {
			t.Errorf("%s has the secret: %s, %v", name, raw, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Dir(), recording.PendingFile)); err == nil {
		t.Error("something is pending after the end")
	}
}

func TestLongTextsAndImages(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "t", recording.Meta{})
	long := strings.Repeat("é", 60<<10)
	must(t, r.Iteration(recording.Iteration{Iteration: 1, Messages: []recording.Message{
		{Role: "tool", Content: long}, {Role: "user", Content: "see", Images: []recording.Image{{MIME: "image/png", Data: []byte("png")}}},
		{Role: "tool", Content: strings.Repeat("x", 64<<10)},
	}}))
	entries, _, err := open(t, dir, "t").Conversations()
	must(t, err)
	m := entries[0].Iteration.Messages
	whole, err := os.ReadFile(filepath.Join(r.Dir(), m[0].ContentFile))
	if err != nil || string(whole) != long {
		t.Errorf("the file has %d bytes, %v, want %d", len(whole), err, len(long))
	}
	if len(m[0].Content) > 64<<10 || !strings.Contains(m[0].Content, m[0].ContentFile) || strings.Contains(m[0].Content, "\ufffd") {
		t.Errorf("got a content of %d bytes", len(m[0].Content))
	}
	if image, err := os.ReadFile(filepath.Join(r.Dir(), m[1].Images[0].File)); err != nil || string(image) != "png" {
		t.Errorf("got %q, %v", image, err)
	}
	if m[2].ContentFile != "" || len(m[2].Content) != 64<<10 {
		t.Error("a text of 64 KiB is not whole")
	}
}

// Modes keep other users out; times have a zone.
func TestModesAndTimes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r := create(t, dir, "t", recording.Meta{})
	fill(t, r, "plain")
	must(t, r.Close(recording.Outcome{}))
	stamp := regexp.MustCompile(`"(?:timestamp|start_time|end_time)":"([^"]*)"`)
	for _, name := range []string{"metadata.json", "conversations.jsonl", "traj.jsonl", "agent_actions.jsonl", "summary.json"} {
		info, err := os.Stat(filepath.Join(r.Dir(), name))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", name, info.Mode().Perm())
		}
		raw, err := os.ReadFile(filepath.Join(r.Dir(), name))
		must(t, err)
		found := stamp.FindAllStringSubmatch(string(raw), -1)
		if len(found) == 0 {
			t.Errorf("%s has no times", name)
		}
		for _, m := range found {
			if at, err := time.Parse(time.RFC3339, m[1]); err != nil || !strings.HasSuffix(m[1], "Z") || time.Since(at) > time.Hour {
				t.Errorf("%s: got the time %q, %v", name, m[1], err)
			}
		}
	}
	info, err := os.Stat(r.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %o, %v", info.Mode().Perm(), err)
	}
}

// A disk that takes no more is an error of each call, and nothing else.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "t", recording.Meta{})
	must(t, os.RemoveAll(r.Dir()))
	if r.Step(recording.Step{}) == nil || r.Set("x", 1) == nil || r.Close(recording.Outcome{}) == nil {
		t.Error("got no error")
	}
	if err := r.Step(recording.Step{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v after Close", err)
	}
}

func TestListOrderAndProblems(t *testing.T) {
	dir := t.TempDir()
	if found, problems, err := recording.List(filepath.Join(dir, "none")); len(found)+len(problems) > 0 || err != nil {
		t.Errorf("got %v, %v, %v for a missing folder", found, problems, err)
	}
	for _, id := range []string{"a", "b", "a"} {
		must(t, create(t, dir, id, recording.Meta{}).Close(recording.Outcome{}))
		time.Sleep(2 * time.Millisecond)
	}
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Mkdir(filepath.Join(dir, "new"), 0o700),
		os.WriteFile(filepath.Join(dir, "new", "metadata.json"), []byte(`{"schema":9}`), 0o600))
	found, problems, err := recording.List(dir)
	var names []string
	for _, s := range found {
		names = append(names, s.Name)
	}
	if err != nil || len(problems) != 2 || !reflect.DeepEqual(names, []string{"a-2", "b", "a"}) {
		t.Errorf("got %q, %v, %v", names, problems, err)
	}
	if s := open(t, dir, "a"); s.Name != "a" {
		t.Errorf("got %s, want the folder of this name", s.Name)
	}
}
