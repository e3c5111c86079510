package mcpserver_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/wire"
)

var update = flag.Bool("update", false, "rewrite the snapshots of tools")

// The definition of each tool is a file: whoever changes what hosts see sees it in the change.
func TestSnapshots(t *testing.T) {
	s := serverFor(t, func(o *mcpserver.Options) { o.Tools = []string{"all"} })
	var tools []json.RawMessage
	if err := json.Unmarshal(s.Definitions(false), &tools); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, raw := range tools {
		var head struct{ Name string }
		json.Unmarshal(raw, &head)
		file := filepath.Join("testdata", "tools", head.Name+".json")
		seen[filepath.Base(file)] = true
		got := indented(t, raw)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != got {
			t.Errorf("%s differs (%v); go test ./pkg/mcpserver -run TestSnapshots -update writes it anew", file, err)
		}
	}
	files, err := os.ReadDir("testdata/tools")
	if err != nil || len(files) != len(mcpserver.AllTools()) {
		t.Errorf("got %d snapshots, %v, want %d", len(files), err, len(mcpserver.AllTools()))
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("%s is of no tool", f.Name())
		}
	}
}

func indented(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// MC-13: no schema makes a host drop the tools.
func TestMC13Schemas(t *testing.T) {
	s := serverFor(t, func(o *mcpserver.Options) { o.Tools = []string{"all"} })
	var tools []struct {
		Name, Title, Description string
		InputSchema              map[string]any
		OutputSchema             map[string]any
		Annotations              map[string]any
	}
	if err := json.Unmarshal(s.Definitions(false), &tools); err != nil || len(tools) != 6 {
		t.Fatalf("got %d tools, %v", len(tools), err)
	}
	for _, tool := range tools {
		if tool.Title == "" || len(tool.Description) > 1024 || len(tool.Annotations) != 5 {
			t.Errorf("%s: got title %q, %d bytes of description, %d annotations", tool.Name, tool.Title, len(tool.Description), len(tool.Annotations))
		}
		for what, schema := range map[string]map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			props, ok := schema["properties"].(map[string]any)
			if schema["type"] != "object" || !ok || len(props) == 0 {
				t.Errorf("%s: the %s schema is no object with properties", tool.Name, what)
			}
			for _, bad := range []string{"anyOf", "oneOf", "allOf", "$ref", "$defs"} {
				if _, found := schema[bad]; found {
					t.Errorf("%s: the %s schema has %s", tool.Name, what, bad)
				}
			}
			for name, p := range props {
				if what == "input" && p.(map[string]any)["description"] == nil {
					t.Errorf("%s: argument %s has no description", tool.Name, name)
				}
			}
		}
	}
}

// Hosts that allow four tools get four.
func TestToolNames(t *testing.T) {
	tests := []struct {
		given []string
		want  string
	}{
		{nil, "execute_task fix_skill search_skills upload_skill"},
		{[]string{"all"}, "execute_task fix_skill search_skills task_result task_status upload_skill"},
		{[]string{"search_skills"}, "search_skills"},
	}
	for _, tt := range tests {
		s := serverFor(t, func(o *mcpserver.Options) { o.Tools = tt.given })
		var tools []struct{ Name string }
		if err := json.Unmarshal(s.Definitions(false), &tools); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.given, got, tt.want)
		}
		if background := strings.Contains(string(s.Definitions(false)), `"background"`); background != strings.Contains(tt.want, "task_result") {
			t.Errorf("%q: background is offered: %v", tt.given, background)
		}
	}
	if _, err := mcpserver.New(mcpserver.Options{Tools: []string{"rm"}}); wire.CodeOf(err) != wire.Usage {
		t.Errorf("got %v", err)
	}
}

// MC-09, MC-10, MC-11, MC-12, MC-21: what hosts send for arguments, and what they hear when it is wrong.
func TestArguments(t *testing.T) {
	tests := []struct {
		name, tool, args string
		want             string // in the text of the result
		isError          bool
	}{
		{"MC-09 none", "search_skills", ``, `argument \"query\" is missing (a text)`, true},
		{"MC-09 none of a task", "execute_task", ``, `argument \"task\" is missing`, true},
		{"MC-09 none of a fix", "fix_skill", `{}`, `argument \"direction\" is missing (a text); argument \"skill_dir\" is missing`, true},
		{"MC-09 none of an upload", "upload_skill", `null`, `argument \"skill_dir\" is missing`, true},
		{"MC-10 null", "search_skills", `{"query":"csv","limit":null,"source":null,"auto_import":null}`, `"20",`, false},
		{"MC-10 null query", "search_skills", `{"query":null}`, `argument \"query\" is missing`, true},
		{"MC-11 empty", "execute_task", `{"task":"echo","workspace_dir":"","max_iterations":"","skill_dirs":"","search_scope":""}`,
			`{\"type\":\"task\",\"id\":\"1\",\"task\":\"echo\",\"task_id\":\"task_`, false},
		{"MC-11 null in a list", "execute_task", `{"task":"echo","skill_dirs":[null,"","/a"]}`, `\"skill_dirs\":[\"/a\"]`, false},
		{"MC-12 texts", "search_skills", `{"query":"csv","limit":"5","auto_import":"false","source":" LOCAL "}`, `"5",`, false},
		{"MC-12 list as text", "execute_task", `{"task":"echo","skill_dirs":"[\"/a\",\"/b\"]","max_iterations":"7"}`, `\"skill_dirs\":[\"/a\",\"/b\"],\"search_scope\":\"all\",\"max_iterations\":7`, false},
		{"MC-12 one folder", "execute_task", `{"task":"echo","skill_dirs":"~/skills"}`, `\"skill_dirs\":[\"/home/ada/skills\"]`, false},
		{"MC-12 no number", "search_skills", `{"query":"csv","limit":"five"}`, `argument \"limit\" must be a whole number, not \"five\"`, true},
		{"number with a point", "search_skills", `{"query":"csv","limit":5.0}`, `"5",`, false},
		{"bounds", "search_skills", `{"query":"csv","limit":0}`, `argument \"limit\" must be from 1 to 300, not 0`, true},
		{"huge", "search_skills", `{"query":"csv","limit":1e300}`, `must be a whole number`, true},
		{"enum", "search_skills", `{"query":"csv","source":"web"}`, `argument \"source\" must be all or local or cloud, not \"web\"`, true},
		{"type of text", "search_skills", `{"query":["csv"]}`, `argument \"query\" must be a text, not [\"csv\"]`, true},
		{"all at once", "search_skills", `{"limit":"five","auto_import":"maybe"}`, `argument \"auto_import\" must be true or false, not \"maybe\"; argument \"limit\" must be a whole number, not \"five\"; argument \"query\" is missing`, true},
		{"arguments as text", "search_skills", `"{\"query\":\"csv\",\"limit\":3}"`, `"3",`, false},
		{"unknown argument", "search_skills", `{"query":"csv","colour":"red"}`, `"count": 1`, false},
		{"MC-21 not found", "fix_skill", `{"skill_dir":"/nope","direction":"x"}`, `"code":"not_found","hint":"skill_dir must be the folder that holds the SKILL.md`, true},
		{"comma in a tag", "upload_skill", `{"skill_dir":"/a","tags":["a,b"]}`, `a comma cannot stand in one`, true},
	}
	h := connect(t, serverFor(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := ""
			if tt.args != "" {
				args = `,"arguments":` + tt.args
			}
			h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tt.tool + `"` + args + `}}`)
			got := h.answer()
			text := ""
			if len(got.Result.Content) == 1 {
				text = got.Result.Content[0].Text
			}
			if got.Result.IsError != tt.isError || !strings.Contains(text, tt.want) {
				t.Errorf("got error %v and %s, want %v and %s", got.Result.IsError, text, tt.isError, tt.want)
			}
			if strings.Contains(text, "<nil>") || strings.Contains(text, "null") {
				t.Errorf("got %s", text)
			}
			sameObject(t, text, got.Result.Object)
		})
	}
}

// sameObject demands that text and structured content say the same.
func sameObject(t *testing.T, text string, object map[string]any) {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil || !reflect.DeepEqual(v, object) {
		t.Errorf("text and structured content differ (%v):\n%s\n%v", err, text, object)
	}
}

func TestSearchSkills(t *testing.T) {
	h := connect(t, serverFor(t))
	got := h.call("search_skills", `{"query":"<pdf>","source":"local"}`)
	want := "{\n  \"results\": [\n    {\n      \"skill_id\": \"<pdf>__imp_00000001\",\n      \"name\": \"<pdf>\",\n      \"description\": \"<--jsonl - --source local --import 0>\",\n      \"source\": \"openspace-local\",\n      \"score\": 1,\n      \"tags\": [\n        \"20\",\n        \"local\"\n      ]\n    }\n  ],\n  \"count\": 1\n}"
	if text := got.Result.Content[0].Text; text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	got = h.call("search_skills", `{"query":"none"}`)
	sameObject(t, `{"results":[],"count":0,"warnings":["the registry was not searched: no API key"]}`, got.Result.Object)
	got = h.call("search_skills", `{"query":"fail"}`)
	sameObject(t, `{"error":"the index is damaged","status":"error","code":"corrupt","hint":"openspace-skills doctor"}`, got.Result.Object)
	if !got.Result.IsError {
		t.Error("a failure is not marked as one")
	}
	got = h.call("search_skills", `{"query":"import"}`)
	summary, _ := json.Marshal(got.Result.Object["auto_import_summary"])
	if want := `[{"import_status":"success","local_path":"/skills/a","name":"import","skill_id":"import__imp_00000001"},{"error":"unsafe","import_status":"error","name":"b","skill_id":"b__clo_2"}]`; string(summary) != want {
		t.Errorf("got %s, want %s", summary, want)
	}
	got = h.call("search_skills", `{"query":"`+strings.Repeat("x", 70_000)+`"}`)
	if !got.Result.IsError {
		t.Error("a query without end is taken")
	}
}

// One process answers many searches; when it dies it is replaced, and only the question that it died of suffers.
func TestSearchProcess(t *testing.T) {
	h := connect(t, serverFor(t))
	pid := func() any {
		return h.call("search_skills", `{"query":"pid","source":"local"}`).Result.Object["results"].([]any)[0].(map[string]any)["name"]
	}
	first := pid()
	if second := pid(); second != first {
		t.Errorf("got process %v, then %v", first, second)
	}
	got := h.call("search_skills", `{"query":"die","source":"local"}`)
	if !got.Result.IsError || !strings.Contains(got.Result.Content[0].Text, "out of memory") {
		t.Errorf("got %+v", got)
	}
	if third := pid(); third == first {
		t.Error("a dead process answers")
	}
}

func TestUploadSkill(t *testing.T) {
	h := connect(t, serverFor(t))
	got := h.call("upload_skill", `{"skill_dir":"~/a","tags":["x","y"],"parent_skill_ids":[],"origin":"fixed","change_summary":"-v --force"}`)
	message, _ := got.Result.Object["message"].(string)
	for _, want := range []string{"--jsonl --visibility=private", "--origin=fixed", "--change-summary=-v --force", "--tags=x,y", "--parent-ids= ", " -- /home/ada/a"} {
		if !strings.Contains(message+" ", want) {
			t.Errorf("got %q, want %q", message, want)
		}
	}
	delete(got.Result.Object, "message")
	sameObject(t, `{"status":"success","action":"created","record_id":"a__clo_2","name":"a","visibility":"public","origin":"fixed","file_count":2}`, got.Result.Object)
	for dir, want := range map[string]string{
		"/copy":   `{"status":"duplicate","existing_record_id":"a__clo_1","message":"the same content is there already"}`,
		"/secret": `{"error":"a key stands in config.json:3","status":"error","code":"unsafe","hint":"take it out"}`,
		"/nokey":  `{"error":"no API key for the registry","status":"error","code":"auth","hint":"set OPENSPACE_API_KEY"}`,
	} {
		got := h.call("upload_skill", `{"skill_dir":"`+dir+`"}`)
		text, _ := json.Marshal(got.Result.Object)
		sameObject(t, want, got.Result.Object)
		if got.Result.IsError != strings.Contains(want, `"error"`) {
			t.Errorf("%s: got %v, %s", dir, got.Result.IsError, text)
		}
	}
}

func TestFixSkill(t *testing.T) {
	h := connect(t, serverFor(t))
	got := h.call("fix_skill", `{"skill_dir":"/skills/pdf","direction":"name the tool"}`)
	sameObject(t, `{"status":"success","new_skill":{"skill_dir":"/skills/pdf","name":"pdf","origin":"fixed","change_summary":"name the tool","upload_ready":true}}`, got.Result.Object)
	got = h.call("fix_skill", `{"skill_dir":"/skills/pdf","direction":"nothing"}`)
	sameObject(t, `{"status":"failed","error":"the model finds nothing to mend","code":"invalid","hint":"say more exactly what is wrong, and on what input"}`, got.Result.Object)
	if !got.Result.IsError {
		t.Error("a failure is not marked as one")
	}
}

// A command of the suite that is not there is told by name.
func TestMissingCommand(t *testing.T) {
	s := serverFor(t, func(o *mcpserver.Options) {
		o.Find = func(name string) (string, error) {
			return "", wire.Errorf(wire.NotFound, "command %s is not there", name)
		}
	})
	h := connect(t, s)
	for _, call := range [][2]string{{"search_skills", `{"query":"x"}`}, {"execute_task", `{"task":"x"}`}, {"upload_skill", `{"skill_dir":"/a"}`}} {
		got := h.call(call[0], call[1])
		if !got.Result.IsError || !strings.Contains(got.Result.Content[0].Text, "is not there") {
			t.Errorf("%s: got %+v", call[0], got)
		}
	}
}

// MC-01: a fault inside a tool is a result, and the server lives.
func TestPanic(t *testing.T) {
	h := connect(t, serverFor(t, func(o *mcpserver.Options) { o.Find = func(string) (string, error) { panic("oops") } }))
	for _, call := range [][2]string{{"search_skills", `{"query":"x"}`}, {"execute_task", `{"task":"x"}`}, {"upload_skill", `{"skill_dir":"/a"}`}} {
		got := h.call(call[0], call[1])
		if !got.Result.IsError || got.Result.Object["code"] != "internal" {
			t.Errorf("%s: got %+v", call[0], got)
		}
	}
	h.quiet()
}
