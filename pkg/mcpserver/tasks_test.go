package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
)

func TestExecuteTask(t *testing.T) {
	h := connect(t, serverFor(t))
	got := h.call("execute_task", `{"task":"evolve"}`)
	id, _ := got.Result.Object["task_id"].(string)
	if !strings.HasPrefix(id, "task_") || len(id) != len("task_")+12 {
		t.Errorf("got task id %q", id)
	}
	action, _ := got.Result.Object["action_required"].(string)
	if !strings.Contains(action, "pdf, x") && !strings.Contains(action, ": pdf.") {
		t.Errorf("got %q", action)
	}
	delete(got.Result.Object, "action_required")
	sameObject(t, `{"status":"success","response":"done: evolve","execution_time":0.02,"iterations":2,"skills_used":[],"task_id":"`+id+`","tool_call_count":2,
		"tool_summary":[{"tool":"read_file","status":"success","error":null},{"tool":"run_shell","status":"error","error":"exit status 1"}],"cost":0.5,"evolved_skills":[
			{"skill_dir":"/skills/pdf","name":"pdf","origin":"fixed","change_summary":"","upload_ready":true},
			{"skill_dir":"","name":"x","origin":"captured","change_summary":"","upload_ready":false}],
		"imported_skills":[{"skill_id":"a__clo_1","name":"a","import_status":"success","local_path":"/skills/a"}]}`, got.Result.Object)
}

// A task that fails says why.
func TestFailedTask(t *testing.T) {
	h := connect(t, serverFor(t))
	for task, want := range map[string][2]string{
		"fail":   {"auth", "the model refuses the key"},
		"refuse": {"usage", "no model is set up"},
		"crash":  {"internal", "panic: nobody expected this"},
	} {
		got := h.call("execute_task", `{"task":"`+task+`"}`)
		text, _ := got.Result.Object["error"].(string)
		if !got.Result.IsError || got.Result.Object["code"] != want[0] || !strings.Contains(text, want[1]) {
			t.Errorf("%s: got %+v, want %s", task, got.Result, want)
		}
	}
	if got := h.call("execute_task", `{"task":"chatty"}`); got.Result.IsError { // MC-16
		t.Errorf("got %+v", got)
	}
}

// progress is a notification about a call.
type progress struct {
	Method string
	Params struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64
		Message  string
	}
}

// TO-01: a host that gave a token hears of progress under it, rising, with the answer among it, and nothing
// after the result.
func TestTO01Progress(t *testing.T) {
	h := connect(t, serverFor(t, func(o *mcpserver.Options) { o.Beat = 50 * time.Millisecond }))
	for n, token := range []string{`"t1"`, `0`, `9007199254740993`} {
		file := filepath.Join(t.TempDir(), strconv.Itoa(n))
		quiet := "quiet " + file
		for _, task := range []string{"steps 3", quiet} {
			h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_task","arguments":{"task":%q},"_meta":{"progressToken":%s}}}`, task, token))
			var said []string
			last := 0.0
			for {
				line := h.next()
				if !strings.Contains(line, `"notifications/progress"`) {
					if got := decode(t, line); got.Result.IsError {
						t.Errorf("got %+v", got)
					}
					break
				}
				var p progress
				if err := json.Unmarshal([]byte(line), &p); err != nil || string(p.Params.Token) != token || p.Params.Progress <= last {
					t.Errorf("got %s after %v, %v", line, last, err)
				}
				last = p.Params.Progress
				if said = append(said, p.Params.Message); task == quiet && len(said) == 4 { // one at the start, then one every 50 ms
					touch(t, file)
				}
			}
			all := strings.Join(said, "\n")
			if task == "steps 3" && !(strings.Contains(all, "model: step 3") && strings.Contains(all, "run_shell started ls") && strings.HasSuffix(all, "answer: done: steps 3")) {
				t.Errorf("got %q", said)
			}
			if task == quiet && len(said) < 4 {
				t.Errorf("got %q, and then an end that nobody asked for", said)
			}
			h.quiet()
		}
	}
	if got := h.call("execute_task", `{"task":"steps 2"}`); got.Error != nil { // call demands that nothing else comes
		t.Errorf("got %+v", got)
	}
}

// The answer is told also when the result follows at once.
func TestAnswerIsTold(t *testing.T) {
	h := connect(t, serverFor(t))
	for range 20 {
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_task","arguments":{"task":"steps 0"},"_meta":{"progressToken":1}}}`)
		told := false
		for line := h.next(); strings.Contains(line, `"notifications/progress"`); line = h.next() {
			told = told || strings.Contains(line, `"message":"answer: done: steps 0"`)
		}
		if !told {
			t.Fatal("the answer was not told")
		}
	}
}

// TO-02: a call that the host takes back ends with all its processes, has no answer, and stands in nobody's way.
func TestTO02Cancel(t *testing.T) {
	h := connect(t, serverFor(t, func(o *mcpserver.Options) { o.Tasks = 1 }))
	file := t.TempDir() + "/pids"
	h.send(`{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"execute_task","arguments":{"task":"hang ` + file + `"}}}`)
	started := pids(t, file)
	if got := h.call("execute_task", `{"task":"echo"}`); !got.Result.IsError || got.Result.Object["code"] != "rate_limited" {
		t.Errorf("got %+v, want that there are enough tasks", got)
	}
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long","reason":"tired"}}`)
	gone(t, started)
	h.quiet()
	if got := h.call("search_skills", `{"query":"x"}`); got.Result.IsError {
		t.Errorf("got %+v", got)
	}
	for range 200 { // the process has ended, and is reaped in a moment
		if got := h.call("execute_task", `{"task":"echo"}`); !got.Result.IsError {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a task that was canceled still counts")
}

// A search that is taken back ends its process, and the next one gets another.
func TestCancelSearch(t *testing.T) {
	h := connect(t, serverFor(t))
	h.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_skills","arguments":{"query":"hang"}}}`)
	time.Sleep(50 * time.Millisecond)
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if got := h.call("search_skills", `{"query":"x"}`); got.Result.IsError || string(got.ID) != "1" {
		t.Errorf("got %+v", got)
	}
	h.quiet()
}

// A task in the background outlives the call.
func TestBackground(t *testing.T) {
	h := connect(t, serverFor(t, func(o *mcpserver.Options) { o.Tools = []string{"all"} }))
	file := filepath.Join(t.TempDir(), "go")
	task := "steps 10 " + file
	got := h.call("execute_task", `{"task":"`+task+`","background":true}`)
	id, _ := got.Result.Object["task_id"].(string)
	if got.Result.Object["status"] != "running" || id == "" {
		t.Fatalf("got %+v", got)
	}
	status := h.call("task_status", `{"task_id":"`+id+`"}`).Result.Object
	if status["status"] != "running" || status["answered"] != false {
		t.Errorf("got %v", status)
	}
	if got := h.call("task_result", `{"task_id":"`+id+`"}`).Result.Object; got["status"] != "running" {
		t.Errorf("got %v", got)
	}
	touch(t, file)
	got = h.call("task_result", `{"task_id":"`+id+`","wait_seconds":30}`)
	if got.Result.Object["status"] != "success" || got.Result.Object["response"] != "done: "+task {
		t.Errorf("got %+v", got)
	}
	status = h.call("task_status", `{"task_id":"`+id+`"}`).Result.Object
	if status["status"] != "success" || status["answered"] != true || status["last_step"] != "answer: done: "+task {
		t.Errorf("got %v", status)
	}
	for _, tool := range []string{"task_status", "task_result"} {
		for _, id := range []string{"task_none", "../x", "--help", strings.Repeat("x", 200)} {
			if got := h.call(tool, `{"task_id":"`+id+`"}`); !got.Result.IsError || got.Result.Object["code"] != "not_found" {
				t.Errorf("%s: got %+v", tool, got)
			}
		}
	}
	got = h.call("task_result", `{"task_id":"task_recorded"}`) // of an earlier server
	sameObject(t, `{"status":"canceled","response":"half","execution_time":3.5,"iterations":2,"skills_used":[],"task_id":"task_recorded","tool_call_count":4,"tool_summary":[],
		"error":"canceled by the host","code":"canceled"}`, got.Result.Object)
	status = h.call("task_status", `{"task_id":"task_recorded"}`).Result.Object
	sameObject(t, `{"task_id":"task_recorded","status":"canceled","steps":4,"elapsed_seconds":3,"answered":true,"response":"half"}`, status)
}

// Stopping the server ends tasks in the background, too.
func TestStopEndsTasks(t *testing.T) {
	s := serverFor(t, func(o *mcpserver.Options) { o.Tools = []string{"all"} })
	h := connect(t, s)
	file := t.TempDir() + "/pids"
	h.call("execute_task", `{"task":"hang `+file+`","background":true}`)
	started := pids(t, file)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	gone(t, started)
}
