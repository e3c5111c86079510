package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

var update = flag.Bool("update", false, "rewrite testdata/records.jsonl")

const golden = "testdata/records.jsonl"

// examples returns one record of each type with every field set, in the order of docs/jsonl.md.
func examples() []wire.Record {
	score, rank := 0.7312, 0.5
	tools, exit := []string{"Read", "Bash(git:*)"}, 2
	tokens := wire.Tokens{Calls: 3, Input: 9000, Cached: 6000, Output: 400, Reasoning: 100, Total: 9400, Unpriced: 1, Estimated: 1}
	quality := &wire.Quality{TotalSelections: 12, CompletionRate: 0.875, EffectiveRate: 0.583}
	problem := wire.NewProblem(skill.Diagnostic{
		Code: "yaml-colon", Severity: skill.Warning, Path: "/skills/pdf-forms/SKILL.md", Line: 3, Column: 20,
		Message: "a bare colon in the description", Hint: "put the value in quotes", Fixable: true,
	}, "/skills/pdf-forms")
	problem.ID = "1"
	return []wire.Record{
		wire.Query{ID: "1", Query: "fill a pdf form", Limit: 5, Source: "local", Done: true},
		wire.Hit{
			ID: "1", Rank: 1, SkillID: "pdf-forms__imp_0f3a9c21", SkillDir: "/skills/pdf-forms", Name: "pdf-forms",
			Description: "Fill in PDF forms.", Source: "openspace-local", Score: 0.9127, Path: "/skills/pdf-forms/SKILL.md",
			VectorScore: &score, ServerSearchRank: &rank, Visibility: "public", CreatedBy: "ada", Origin: "imported",
			Tags: []string{"pdf"}, Quality: quality, SafetyFlags: []string{"suspicious.script"}, AutoImported: true,
			LocalPath: "/skills/pdf-forms", Explain: map[string]any{"lexical": 0.91}, Warnings: []string{"freshness not checked"},
		},
		wire.Skill{
			ID: "1", SkillID: "pdf-forms__imp_0f3a9c21", SkillDir: "/skills/pdf-forms", Name: "pdf-forms",
			Description: "Fill in PDF forms.", Path: "/skills/pdf-forms/SKILL.md", Root: "/skills", Source: "home",
			License: "MIT", Compatibility: "needs python", AllowedTools: &tools, Tags: []string{"pdf"}, Version: "1.2.0",
			Author: "Ada", Homepage: "https://example.com", Origin: "fixed", Generation: 2, ParentSkillIDs: []string{"pdf-forms__imp_0f3a9c21"},
			ChangeSummary: "names the tool", UploadReady: true, Quality: quality,
			SafetyFlags: []string{"suspicious.script"}, ShadowedBy: "/project/pdf-forms",
			Problems: []wire.Problem{{Code: "name-format", Severity: "warning", Message: "upper case"}}, Body: "# PDF\n",
		},
		problem,
		wire.Finding{
			ID: "1", Rule: "pipe-to-shell", Flag: "suspicious.script", Severity: "high", Verdict: "warn",
			SkillDir: "/skills/pdf-forms", Path: "scripts/install.sh", Line: 4, Column: 1,
			Message: "a download is run at once", Excerpt: "curl https://example.com/x | sh",
		},
		wire.Version{
			ID: "1", SkillID: "pdf-forms__v3_77aa01bc", SkillDir: "/skills/pdf-forms", Name: "pdf-forms", Origin: "fixed",
			Generation: 2, ParentSkillIDs: []string{"pdf-forms__imp_0f3a9c21"}, Active: true, ChangeSummary: "names the tool",
			CreatedBy: "ada", CreatedAt: "2026-01-02T03:04:05Z", Digest: strings.Repeat("0f", 32), Files: 3,
		},
		wire.File{
			ID: "1", Path: "scripts/run.sh", SkillDir: "/skills/pdf-forms", SizeBytes: 10, Mode: "0755",
			SHA256: strings.Repeat("ab", 32), LeftOut: "ignored", Data: []byte("#!/bin/sh\n"),
		},
		wire.Diff{
			ID: "1", SkillDir: "/skills/pdf-forms", From: "pdf-forms__imp_0f3a9c21", To: "disk", Path: "SKILL.md",
			Change: "modified", Diff: "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-a\n+b\n",
		},
		wire.Imported{
			ID: "1", Status: "success", SkillID: "pdf-forms__clo_1b2c3d4e", Name: "pdf-forms", Description: "Fill in PDF forms.",
			SkillDir: "/skills/pdf-forms", LocalPath: "/skills/pdf-forms", PreviousSkillID: "pdf-forms__clo_00112233",
			LatestSkillID: "pdf-forms__clo_55667788", Visibility: "public", Origin: "fixed",
			ParentSkillIDs: []string{"pdf-forms__clo_00112233"}, CreatedBy: "ada", SignedBy: "SHA256:abc",
			SafetyFlags: []string{"suspicious.script"}, DryRun: true, Warnings: []string{"a wrapping folder was taken off"},
			Files: []string{"SKILL.md"},
		},
		wire.Upload{
			ID: "1", Status: "duplicate", Action: "created", RecordID: "pdf-forms__clo_1b2c3d4e",
			SkillID: "pdf-forms__clo_1b2c3d4e", SkillDir: "/skills/pdf-forms", Name: "pdf-forms",
			Description: "Fill in PDF forms.", Visibility: "public", Origin: "fixed",
			ParentSkillIDs: []string{"pdf-forms__clo_00112233"}, Tags: []string{"pdf"}, CreatedBy: "ada",
			ChangeSummary: "names the tool", ArtifactID: "art_1", FileCount: 2, SizeBytes: 4096, LeftOut: 1,
			ExistingRecordID: "pdf-forms__clo_1b2c3d4e", SignedBy: "SHA256:abc", Message: "the same content is there already",
			Warnings: []string{"the sidecar is older than the skill"},
		},
		wire.Setting{ID: "1", Name: "limit", Value: "5", Source: "env", Where: "OPENSPACE_LIMIT", Shadowed: []string{"config"}},
		wire.Task{
			ID: "1", Task: "summarise ./report.pdf", TaskID: "task_0123456789ab", WorkspaceDir: "/work", Workspace: "/work",
			SkillDirs: []string{"/skills"}, SearchScope: "all", Model: "openai/gpt-5", MaxIterations: 20, MaxTokens: 200000,
			MaxCost: 0.5, TimeoutMS: 600000, History: []wire.Message{{Role: "user", Content: "hello"}}, Channel: &wire.Channel{
				Platform: "feishu", ChatType: "dm", ChatID: "oc_1", ChatName: "Ada", ThreadID: "t1", UserName: "Ada", UserID: "ou_1",
				SessionKey: "feishu__oc_1", MessageID: "om_2", ReplyToMessageID: "om_1", ReplyToText: "which report?",
				Attachments: []wire.Attachment{{Kind: "file", Path: "/work/report.pdf", Name: "report.pdf"}},
			},
		},
		wire.Step{ID: "1", Step: 1, Kind: "phase", Phase: "with_skills", Message: "pdf-forms", Time: "2026-01-02T03:04:05Z", ElapsedMS: 12},
		wire.Tool{
			ID: "1", Iteration: 1, CallID: "call_1", Name: "run_shell", Backend: "shell", Server: "files", Status: "error", ExitCode: &exit,
			Summary: "pdftotext report.pdf", Error: "exit status 2", Code: "exit", ElapsedMS: 12,
		},
		wire.Text{ID: "1", Iteration: 2, Piece: "The report", Reset: true},
		wire.Spent{ID: "1", Iteration: 2, Phase: "with_skills", Tokens: tokens, Cost: 0.004, Total: tokens, TotalCost: 0.012, ElapsedMS: 850},
		wire.Answer{ID: "1", TaskID: "task_0123456789ab", Status: "success", Response: "The report says …"},
		wire.Result{
			ID: "1", Status: "success", Action: "rollback", SkillID: "pdf-forms__imp_0f3a9c21", SkillDir: "/skills/pdf-forms",
			Path: "/skills/pdf-forms/SKILL.md", Message: "2 files", DryRun: true, Count: 2, SizeBytes: 4096,
			NewSkill:      &wire.Skill{SkillID: "pdf-forms__v3_77aa01bc", Name: "pdf-forms"},
			EvolvedSkills: []wire.Skill{{SkillID: "pdf-forms__v3_77aa01bc", Name: "pdf-forms"}},
			TaskID:        "task_0123456789ab", Response: "The report says …", ExecutionTime: 4.2, ElapsedMS: 4210, Iterations: 3,
			SkillsUsed: []string{"pdf-forms__imp_0f3a9c21"}, ToolCallCount: 1,
			ToolSummary: []wire.ToolCall{{Tool: "run_shell", Status: "error", Error: "exit status 2"}},
			Warning:     "the budget of 20 iterations is used up", Warnings: []string{"the registry was not searched"},
			ActionRequired: "upload pdf-forms", ImportedSkills: []wire.Import{{
				SkillID: "pdf-forms__clo_1b2c3d4e", Name: "pdf-forms", ImportStatus: "success", LocalPath: "/skills/pdf-forms", Error: "refused",
			}},
			Error: &wire.Error{Type: "error", Code: wire.Network, Message: "the model broke off"}, Model: "openai/gpt-5", Tokens: &tokens, Cost: 0.012,
			Phases: []wire.Phase{{
				Name: "with_skills", Status: "success", Stop: "answered", Reason: "the model answered", Iterations: 3,
				Skills: []string{"pdf-forms__imp_0f3a9c21"}, Tokens: &tokens, Cost: 0.012, ElapsedMS: 4100,
			}},
			WorkspaceDir: "/work", RecordingDir: "/home/ada/.local/share/openspace/recordings/task_0123456789ab",
			Files: []wire.FileChange{{Path: "/work/summary.md", Change: "created", SizeBytes: 812}},
		},
		wire.Error{
			ID: "7", Code: wire.NotFound, Message: `no skill "x"`, Hint: "openspace-search x", Line: 7, Input: "x",
			SkillID: "x__imp_00000000", Path: "/skills/x", Endpoint: "GET http://localhost/api/v1/records/x", RetryAfter: 2,
			RequestID: "r-1", Exit: 1,
		},
		wire.Summary{In: 3, Out: 2, Errors: 1, Skipped: 1, Index: "checked", Warnings: []string{"the registry was not searched"}, ElapsedMS: 12},
	}
}

func TestRecordsGolden(t *testing.T) {
	var out bytes.Buffer
	w := jsonl.NewWriter(&out)
	for _, rec := range examples() {
		if err := w.Write(rec.Typed()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("records differ from %s; fields may be added, with -update, and nothing else may change\ngot\n%s", golden, out.Bytes())
	}
}

// The examples set every field, so that the golden file shows all of the contract.
func TestExamplesAreComplete(t *testing.T) {
	for _, rec := range examples() {
		v := reflect.ValueOf(rec.Typed())
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && v.Field(i).IsZero() && f.Tag.Get("json") != "-" {
				t.Errorf("%s: field %s is not in the example", v.Type(), f.Name)
			}
		}
	}
}

// Shapes: type first, snake_case names, everything but what is always there is left out when it is empty.
func TestRecordShapes(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, rec := range examples() {
		line, err := jsonl.Marshal(rec.Typed())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		typ, _ := m["type"].(string)
		if seen[typ] || !name.MatchString(typ) || !strings.HasPrefix(string(line), `{"type":"`+typ+`"`) {
			t.Errorf("%T: type %q is used twice, badly named or not first: %s", rec, typ, line)
		}
		seen[typ] = true
		for field := range m {
			if !name.MatchString(field) {
				t.Errorf("%s: field %q is not snake_case", typ, field)
			}
		}
		empty := reflect.New(reflect.TypeOf(rec)).Elem().Interface().(wire.Record)
		line, err = jsonl.Marshal(empty.Typed())
		if err != nil || strings.Contains(string(line), "null") {
			t.Errorf("%s: empty record is %s, %v", typ, line, err)
		}
	}
	if len(seen) != 20 {
		t.Errorf("got %d record types, want 20", len(seen))
	}
}

// What is written can be read back into the same value.
func TestRecordsRoundTrip(t *testing.T) {
	for _, rec := range examples() {
		rec = rec.Typed()
		line, err := jsonl.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(rec))
		if err := jsonl.Unmarshal(line, back.Interface()); err != nil {
			t.Fatalf("%T: %v", rec, err)
		}
		if got := back.Elem().Interface(); !reflect.DeepEqual(got, rec) {
			t.Errorf("got %+v, want %+v", got, rec)
		}
	}
}

// LB-01: no prefix of a record can be read, and none is a panic.
func TestRecordsCutOff(t *testing.T) {
	for _, rec := range examples() {
		line, err := jsonl.Marshal(rec.Typed())
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(line) {
			back := reflect.New(reflect.TypeOf(rec))
			if err := jsonl.Unmarshal(line[:n], back.Interface()); err == nil || !back.Elem().IsZero() {
				t.Fatalf("%T: got %v, %+v for %q", rec, err, back.Elem(), line[:n])
			}
		}
	}
}

func TestRows(t *testing.T) {
	for _, rec := range examples() {
		if got, want := len(rec.Cells()), len(rec.Columns()); got != want {
			t.Errorf("%T: got %d cells, want %d columns", rec, got, want)
		}
		if _, ok := rec.(wire.Texter); !ok && rec.Columns() == nil {
			t.Errorf("%T: no columns and no text", rec)
		}
	}
	tests := []struct {
		rec  wire.Texter
		want string
	}{
		{wire.Problem{Severity: "error", Code: "not-utf8", Message: "m"}, "error: m [not-utf8]"},
		{wire.Problem{Severity: "error", Code: "c", Message: "m", Path: "/a", Line: 2, Hint: "h"}, "/a:2: error: m [c]\n    hint: h"},
		{wire.Finding{Severity: "high", Rule: "r", Verdict: "block", Message: "m", Path: "a", Line: 2, Column: 3, Excerpt: "e"},
			"a:2:3: high: m [r: block]\n    e"},
		{wire.Diff{Change: "added", Path: "logo.png"}, "added logo.png"},
	}
	for _, tt := range tests {
		if got := tt.rec.Text(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A conversation of a host may have contents in parts.
func TestMessageParts(t *testing.T) {
	var task wire.Task
	line := `{"task":"x","history":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},{"role":"assistant","content":null},{"role":"user"}]}`
	if err := jsonl.Unmarshal([]byte(line), &task); err != nil {
		t.Fatal(err)
	}
	want := []wire.Message{{Role: "user", Content: "a\nb"}, {Role: "assistant"}, {Role: "user"}}
	if !reflect.DeepEqual(task.History, want) {
		t.Errorf("got %+v, want %+v", task.History, want)
	}
	if err := jsonl.Unmarshal([]byte(`{"history":[{"role":"user","content":3}]}`), &task); err == nil {
		t.Error("a number is taken as a content")
	}
}

// Records inside records have their type too, and setting it does not change the caller's.
func TestTypedInside(t *testing.T) {
	r := wire.Result{EvolvedSkills: []wire.Skill{{Problems: []wire.Problem{{Code: "c"}}}}}
	if got := r.Typed().(wire.Result).EvolvedSkills[0]; got.Type != wire.TypeSkill || got.Problems[0].Type != wire.TypeProblem {
		t.Errorf("got %+v", got)
	}
	if r.EvolvedSkills[0].Type != "" {
		t.Error("the caller's skill was changed")
	}
	s := wire.Skill{Problems: []wire.Problem{{Code: "c"}}}
	if got := s.Typed().(wire.Skill).Problems[0].Type; got != wire.TypeProblem {
		t.Errorf("got type %q, want %q", got, wire.TypeProblem)
	}
	if s.Problems[0].Type != "" {
		t.Error("the caller's problem was changed")
	}
}

// An empty tool list means no tool and must not turn into no restriction (FM-03).
func TestEmptyToolListSurvives(t *testing.T) {
	line, err := jsonl.Marshal(wire.Skill{AllowedTools: &[]string{}})
	if err != nil || !strings.Contains(string(line), `"allowed_tools":[]`) {
		t.Fatalf("got %s, %v", line, err)
	}
	var back wire.Skill
	if err := jsonl.Unmarshal(line, &back); err != nil || back.AllowedTools == nil || len(*back.AllowedTools) != 0 {
		t.Errorf("got %v, %v, want an empty list", back.AllowedTools, err)
	}
}
