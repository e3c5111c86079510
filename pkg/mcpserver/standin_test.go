package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// The commands that the server runs are, in these tests, this program under their names: real processes that
// speak the records of the suite. The suite's own test (package cmd) runs the server with the real commands.
var standIns = map[string]func(in *bufio.Scanner, out *json.Encoder) int{
	"openspace-search": searchStandIn, "openspace-execute": executeStandIn, "openspace-fix-skill": fixStandIn, "openspace-upload-skill": uploadStandIn,
	"openspace-skills": skillsStandIn,
}

var commandDir string // where the stand-ins are

func TestMain(m *testing.M) {
	if run, ok := standIns[filepath.Base(os.Args[0])]; ok {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 16<<20)
		os.Exit(run(in, json.NewEncoder(os.Stdout)))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	self, err := os.Executable()
	if err == nil {
		commandDir, err = os.MkdirTemp("", "mcpserver-")
	}
	for name := range standIns {
		if err == nil {
			err = os.Symlink(self, filepath.Join(commandDir, name))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(commandDir)
	return m.Run()
}

// searchStandIn answers queries: "none" finds nothing, "fail" is an error, "die" ends it, "slow" takes a
// while, "pid" tells who answers, anything else is found by its own name.
func searchStandIn(in *bufio.Scanner, out *json.Encoder) int {
	args := strings.Join(os.Args[1:], " ")
	for in.Scan() {
		var q wire.Query
		if json.Unmarshal(in.Bytes(), &q) != nil {
			return 5
		}
		hit := wire.Hit{ID: q.ID, Rank: 1, SkillID: q.Query + "__imp_00000001", Name: q.Query, Description: "<" + args + ">", Source: "openspace-local", Score: 1}
		end := wire.Result{ID: q.ID, Status: "success", Action: "search", Count: 1}
		switch q.Query {
		case "none":
			end.Count, end.Warnings = 0, []string{"the registry was not searched: no API key"}
			out.Encode(end.Typed())
			continue
		case "fail":
			out.Encode(wire.Error{ID: q.ID, Code: wire.Corrupt, Message: "the index is damaged", Hint: "openspace-skills doctor"}.Typed())
			continue
		case "die":
			fmt.Fprintln(os.Stderr, "out of memory")
			return 2
		case "slow":
			time.Sleep(300 * time.Millisecond)
		case "hang":
			hang(nil)
		case "pid":
			hit.Name = strconv.Itoa(os.Getpid())
		case "import":
			hit.Source, hit.AutoImported, hit.LocalPath, hit.SkillDir = "cloud", true, "/skills/a", "/skills/a"
			out.Encode(hit.Typed())
			hit = wire.Hit{ID: q.ID, Rank: 2, SkillID: "b__clo_2", Name: "b", Source: "cloud", Score: 0.5, Warnings: []string{"not imported: unsafe"}}
			end.Count = 2
		}
		hit.Tags = []string{strconv.Itoa(q.Limit), q.Source}
		out.Encode(hit.Typed())
		out.Encode(end.Typed())
	}
	return 0
}

// executeStandIn does tasks: "hang" starts a process of its own and waits for the end, "chatty" writes a lot
// to stderr, "steps N" takes N steps of 20 ms, "quiet" says nothing, "crash" dies, "fail" ends in an error, "evolve" makes a
// skill, "echo" tells its record. Steps and silence that name a file end when it is there.
func executeStandIn(in *bufio.Scanner, out *json.Encoder) int {
	if !in.Scan() {
		return 5
	}
	var t wire.Task
	if json.Unmarshal(in.Bytes(), &t) != nil {
		return 5
	}
	word, arg, _ := strings.Cut(t.Task, " ")
	res := wire.Result{ID: t.ID, Status: "success", TaskID: t.TaskID, Response: "done: " + t.Task, ExecutionTime: 0.02, Iterations: 2, Cost: 0.5}
	switch word {
	case "hang":
		out.Encode(wire.Step{ID: t.ID, Step: 1, Kind: "start", Message: "begun"}.Typed())
		return hang(&res, arg)
	case "chatty":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 100))
		}
	case "steps":
		steps, file, _ := strings.Cut(arg, " ")
		n, _ := strconv.Atoi(steps)
		for i := range n {
			out.Encode(wire.Step{ID: t.ID, Step: i + 1, Kind: "model", Message: "step " + strconv.Itoa(i+1)}.Typed())
			out.Encode(wire.Tool{ID: t.ID, Iteration: 1, Name: "run_shell", Status: "started", Summary: "ls"}.Typed())
			time.Sleep(20 * time.Millisecond)
		}
		awaitFile(file)
		out.Encode(wire.Answer{ID: t.ID, TaskID: t.TaskID, Status: "success", Response: res.Response}.Typed())
	case "quiet":
		awaitFile(arg)
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: nobody expected this")
		return 2
	case "fail":
		res.Status, res.Response = "error", ""
		res.Error = &wire.Error{Type: "error", Code: wire.Auth, Message: "the model refuses the key", Hint: "set OPENSPACE_LLM_API_KEY"}
	case "refuse":
		out.Encode(wire.Error{ID: t.ID, Code: wire.Usage, Message: "no model is set up", Hint: "set OPENSPACE_MODEL"}.Typed())
		return 2
	case "evolve":
		res.ToolCallCount, res.ToolSummary = 2, []wire.ToolCall{{Tool: "read_file", Status: "success"}, {Tool: "run_shell", Status: "error", Error: "exit status 1"}}
		res.EvolvedSkills = []wire.Skill{{SkillID: "pdf__v1_1", SkillDir: "/skills/pdf", Name: "pdf", Origin: "fixed"}, {SkillID: "x__v0_2", Name: "x", Origin: "captured"}}
		res.ImportedSkills = []wire.Import{{SkillID: "a__clo_1", Name: "a", ImportStatus: "success", LocalPath: "/skills/a"}}
	case "echo":
		data, _ := json.Marshal(t)
		res.Response = string(data)
	}
	out.Encode(res.Typed())
	return 0
}

// awaitFile returns when there is a file of that name, or no name.
func awaitFile(name string) {
	for name != "" {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// hang starts a process, writes both ids into the file of that name, and waits for SIGTERM. Then it ends with
// the result.
func hang(res *wire.Result, file ...string) int {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	child := exec.Command("sleep", "600")
	child.Start()
	if len(file) > 0 && file[0] != "" {
		os.WriteFile(file[0]+".tmp", fmt.Appendf(nil, "%d %d", os.Getpid(), child.Process.Pid), 0o644)
		os.Rename(file[0]+".tmp", file[0])
	}
	<-c
	if res != nil {
		res.Status, res.Error = "canceled", &wire.Error{Type: "error", Code: wire.Canceled, Message: "canceled by signal: terminated"}
		json.NewEncoder(os.Stdout).Encode(res.Typed())
	}
	return 143
}

// fixStandIn mends a skill unless the direction says otherwise.
func fixStandIn(in *bufio.Scanner, out *json.Encoder) int {
	if !in.Scan() {
		return 5
	}
	var q struct{ ID, SkillDir, Direction string }
	var raw map[string]string
	if json.Unmarshal(in.Bytes(), &raw) != nil {
		return 5
	}
	q.ID, q.SkillDir, q.Direction = raw["id"], raw["skill_dir"], raw["direction"]
	switch {
	case strings.HasSuffix(q.SkillDir, "nope"):
		out.Encode(wire.Error{ID: q.ID, Code: wire.NotFound, Message: "no SKILL.md in " + q.SkillDir, Hint: "name the folder of a skill"}.Typed())
		return 1
	case q.Direction == "nothing":
		out.Encode(map[string]any{"type": "result", "id": q.ID, "status": "unchanged", "message": "the model finds nothing to mend"})
		return 1
	}
	out.Encode(map[string]any{"type": "result", "id": q.ID, "status": "success", "new_skill": map[string]any{
		"skill_id": "pdf__v1_1", "skill_dir": q.SkillDir, "name": "pdf", "origin": "fixed", "change_summary": q.Direction}})
	return 0
}

// uploadStandIn tells what it was called with.
func uploadStandIn(_ *bufio.Scanner, out *json.Encoder) int {
	dir := os.Args[len(os.Args)-1]
	switch filepath.Base(dir) {
	case "secret":
		out.Encode(wire.Error{ID: "1", Code: wire.Unsafe, Message: "a key stands in config.json:3", Hint: "take it out"}.Typed())
		return 5
	case "nokey":
		fmt.Fprintln(os.Stderr, `{"type":"error","code":"auth","message":"no API key for the registry","hint":"set OPENSPACE_API_KEY","exit":4}`)
		return 4
	case "copy":
		out.Encode(wire.Upload{ID: "1", Status: "duplicate", SkillDir: dir, ExistingRecordID: "a__clo_1", Message: "the same content is there already"}.Typed())
		return 0
	}
	out.Encode(wire.Upload{ID: "1", Status: "success", Action: "created", RecordID: "a__clo_2", SkillDir: dir, Name: "a", Visibility: "public", Origin: "fixed",
		FileCount: 2, Message: strings.Join(os.Args[1:], " ")}.Typed())
	return 0
}

// skillsStandIn knows one recording.
func skillsStandIn(_ *bufio.Scanner, out *json.Encoder) int {
	if strings.Join(os.Args[1:], " ") == "recordings show --jsonl task_recorded" {
		out.Encode(map[string]any{"type": "recording", "id": "1", "task_id": "task_recorded", "status": "canceled", "response": "half", "execution_time": 3.5,
			"iterations": 2, "tool_call_count": 4, "message": "canceled by the host"})
		return 0
	}
	out.Encode(wire.Error{ID: "1", Code: wire.NotFound, Message: "there is no such recording"}.Typed())
	return 1
}
