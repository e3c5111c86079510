package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// bench runs tasks by the real command.
type bench struct{ bin, samples, dir string }

// model answers the requests of one task: the choice of skills first, then the replies in their order, by how often the model has spoken.
type model struct {
	t scripted

	mu       sync.Mutex
	arrived  []time.Time
	answered []time.Time
}

const chooses = `"skills"` // in the first message of a request for a choice

func (m *model) answer(r llmtest.Request) (llmtest.Step, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrived = append(m.arrived, time.Now())
	if isChoice(r) {
		text := `{"brief_plan":"Do it.","skills":[]}`
		if m.t.skill != "" {
			text = fmt.Sprintf(`{"brief_plan":"Do it.","skills":[%q]}`, m.t.skill)
		}
		return llmtest.Step{Reply: llmtest.Reply{Text: text}}, true
	}
	if n := r.Turn(); n < len(m.t.replies) {
		return llmtest.Step{Reply: m.t.replies[n]}, true
	}
	return llmtest.Step{Reply: llmtest.Reply{Text: "Done."}}, true
}

func isChoice(r llmtest.Request) bool {
	return len(r.Tools) == 0 && len(r.Messages) > 0 && strings.Contains(r.Messages[0].Text, chooses)
}

// command returns the command for a home and a model.
func (b *bench) command(home, url string, args ...string) *exec.Cmd {
	c := exec.Command(b.bin, append([]string{"--model", "test/model", "--max-iterations", "60", "--jsonl"}, args...)...)
	c.Dir = b.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "OPENSPACE_HOME=" + home, "OPENSPACE_LLM_API_BASE=" + url + "/v1", "OPENSPACE_LLM_API_KEY=test-key-of-the-benchmark", "OPENSPACE_LEARN=off"}
	c.Stderr = os.Stderr
	return c
}

// conversation runs a task and counts what was sent for it, and what the Python system would send.
func (b *bench) conversation(t scripted) (f taskFigures, err error) {
	for i := range t.replies {
		for j, c := range t.replies[i].ToolCalls { // where the skill is
			t.replies[i].ToolCalls[j].Arguments = bytes.ReplaceAll(c.Arguments, []byte("{skill}"), []byte(filepath.Join(b.samples, "skills", t.skill)))
		}
	}
	work, err := b.workspace(t)
	if err != nil {
		return f, err
	}
	m := &model{t: t}
	server := llmtest.New(llmtest.Script{Answer: m.answer})
	web := httptest.NewServer(server)
	defer web.Close()
	home := filepath.Join(b.dir, "home-of-samples")
	c := b.command(home, web.URL, "--skill-dirs", filepath.Join(b.samples, "skills"), "--workspace-dir", work, t.task)
	out, err := c.Output()
	if err != nil {
		return f, fmt.Errorf("%w: %s", err, out)
	}
	if !bytes.Contains(out, []byte(`"type":"result"`)) || !bytes.Contains(out, []byte(`"status":"success"`)) {
		return f, fmt.Errorf("it did not succeed: %.2000s", out)
	}
	f = taskFigures{Name: t.name, Ours: ours(server.Requests())}
	if n := f.Ours.Calls - len(t.replies); n < 0 || n > 1 {
		return f, fmt.Errorf("it took %d calls of the model for %d replies", f.Ours.Calls, len(t.replies))
	}
	f.Former, err = b.former(t, server.Requests())
	return f, err
}

// workspace makes a folder with the files of a task.
func (b *bench) workspace(t scripted) (string, error) {
	work, err := os.MkdirTemp(b.dir, "work-")
	for name, text := range t.files {
		if err == nil {
			err = put(filepath.Join(work, name), text)
		}
	}
	return work, err
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// ours counts the requests as they were sent.
func ours(requests []llmtest.Request) (s spent) {
	var before []string
	for _, r := range requests {
		parts := []string{string(r.Fields["tools"])}
		for _, m := range r.Messages {
			parts = append(parts, m.Text+string(m.Fields["tool_calls"]))
		}
		s.Calls++
		count(&s, parts, before)
		before = parts
	}
	last := requests[len(requests)-1]
	for _, m := range last.Messages {
		if m.Role == "assistant" {
			s.Output += tokens(m.Text + string(m.Fields["tool_calls"]))
		}
	}
	return s
}

// compared is what the Python system sends for a conversation.
type compared struct {
	Own   spent `json:"own_tools"`            // with the tools that it has
	Same  spent `json:"our_tools"`            // with ours offered in their place
	Keeps spent `json:"own_tools_skill_kept"` // with its own, and the skill in each request as in ours
}

// former builds the same conversation as the Python system has it.
func (b *bench) former(t scripted, requests []llmtest.Request) (c compared, err error) {
	work, err := b.workspace(t)
	if err != nil {
		return c, err
	}
	f := former{task: t.task, workspace: work, offered: b.entries(), tools: formerTools}
	for name := range t.files {
		if !strings.Contains(name, "/") {
			f.files = append(f.files, "- "+name)
		}
	}
	slices.Sort(f.files)
	if t.skill != "" {
		f.skills = []shown{b.shown(t.skill)}
	}
	last := requests[len(requests)-1]
	for _, m := range last.Messages {
		if m.Role != "assistant" {
			continue
		}
		one := turn{said: m.Text + string(m.Fields["tool_calls"])}
		for _, c := range t.replies[len(f.turns)].ToolCalls {
			one.results = append(one.results, formerDoes(work, c))
		}
		f.turns = append(f.turns, one)
	}
	f.turns = append(f.turns, turn{said: t.replies[len(t.replies)-1].Text + "\n<COMPLETE>"})
	own, same, keeps := f, f, f
	same.tools, keeps.keeps = string(last.Fields["tools"]), true
	return compared{Own: own.run(), Same: same.run(), Keeps: keeps.run()}, nil
}

// entries are the skills that the Python system offers for a choice: of fewer than eleven all, else fifteen.
func (b *bench) entries() (out []entry) {
	dirs, err := os.ReadDir(filepath.Join(b.samples, "skills"))
	if err != nil {
		return nil
	}
	for _, d := range dirs {
		s := b.shown(d.Name())
		if found := description.FindStringSubmatch(s.head); found != nil && len(out) < 15 {
			out = append(out, entry{id: s.id, description: found[1]})
		}
	}
	return out
}

var description = regexp.MustCompile(`(?m)^description: *(.*)$`)

func (b *bench) shown(name string) shown {
	dir := filepath.Join(b.samples, "skills", name)
	data, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	if err != nil {
		return shown{}
	}
	parts := strings.SplitN(string(data), "---\n", 3)
	if len(parts) < 3 {
		return shown{id: name, dir: dir, body: string(data)}
	}
	return shown{id: name + "__imp_01234567", dir: dir, head: parts[1], body: parts[2]}
}

// lines reads the records of a process that runs.
func lines(r io.Reader, each func(kind string)) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var rec struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(in.Bytes(), &rec) == nil {
			each(rec.Type)
		}
	}
}
