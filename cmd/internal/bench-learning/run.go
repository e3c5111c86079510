package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// bench runs tasks by the real command.
type bench struct {
	bin, dir, url, model string
	iterations           int
	made                 map[string]bool // names of captured skills
}

// pass is what the tasks took in one way. Iterations and tokens are means; those of learning are beside the others.
type pass struct {
	Name       string  `json:"pass"`
	Tasks      int     `json:"tasks"`
	Success    int     `json:"success"`
	Iterations float64 `json:"iterations"`
	Tokens     float64 `json:"tokens"`
	Learning   float64 `json:"learning_tokens"`
	Guided     int     `json:"with_a_skill"`
	Captured   int     `json:"captured"`
	Fixed      int     `json:"fixed"`
	Known      int     `json:"captured_before"` // with those of this pass
	UsedAgain  int     `json:"used_again"`      // of them
}

func (p pass) reuse() string {
	if p.Known == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", p.UsedAgain, p.Known)
}

func (b *bench) pass(name, home, learn string) (pass, error) {
	p := pass{Name: name}
	if b.made == nil || learn == "off" {
		b.made = map[string]bool{}
	}
	used := map[string]bool{}
	for i, t := range tasks() {
		work := filepath.Join(b.dir, strings.ReplaceAll(name, " ", "-"), fmt.Sprint(i))
		if err := os.MkdirAll(work, 0o755); err != nil {
			return p, err
		}
		if err := os.WriteFile(filepath.Join(work, t.file), []byte(t.text), 0o644); err != nil {
			return p, err
		}
		res, err := b.run(home, work, learn, t)
		if err != nil {
			return p, fmt.Errorf("task %q: %w", t.words(), err)
		}
		got, _ := os.ReadFile(filepath.Join(work, t.kind.out)) // without a file it is not right
		p.add(res, string(got) == t.want)
		for _, id := range res.SkillsUsed {
			if skill, _, _ := strings.Cut(id, "__"); b.made[skill] {
				used[skill] = true
			}
		}
		for _, s := range res.EvolvedSkills {
			if s.Origin == "captured" {
				b.made[s.Name] = true
			}
		}
	}
	p.Known, p.UsedAgain = len(b.made), len(used)
	for _, mean := range []*float64{&p.Iterations, &p.Tokens, &p.Learning} {
		*mean /= float64(p.Tasks)
	}
	return p, nil
}

// add counts a task.
func (p *pass) add(res wire.Result, right bool) {
	p.Tasks++
	if right && res.Status == "success" {
		p.Success++
	}
	if len(res.SkillsUsed) > 0 {
		p.Guided++
	}
	p.Iterations += float64(res.Iterations)
	for _, phase := range res.Phases {
		if phase.Tokens == nil {
			continue
		}
		if phase.Name == "learn" {
			p.Learning += float64(phase.Tokens.Total)
		} else {
			p.Tokens += float64(phase.Tokens.Total)
		}
	}
	for _, s := range res.EvolvedSkills {
		switch s.Origin {
		case "captured":
			p.Captured++
		case "fixed":
			p.Fixed++
		}
	}
}

// run does one task.
func (b *bench) run(home, work, learn string, t task) (res wire.Result, err error) {
	args := []string{"--jsonl", "--workspace-dir", work, "--learn", learn, "--max-iterations", fmt.Sprint(b.iterations), "--skill-dirs", filepath.Join(home, "skills")}
	environ := append(os.Environ(), "OPENSPACE_HOME="+home, "PATH="+b.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if b.url != "" {
		args = append(args, "--model", "test/scripted")
		environ = append(environ, "OPENSPACE_LLM_API_BASE="+b.url, "OPENSPACE_LLM_API_KEY=key-of-the-benchmark")
	} else {
		args = append(args, "--model", b.model)
	}
	if err := os.MkdirAll(filepath.Join(home, "skills"), 0o755); err != nil {
		return res, err
	}
	cmd := exec.Command(filepath.Join(b.bin, "openspace-execute"), append(args, t.words())...)
	cmd.Dir, cmd.Env = work, environ
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output() // a task that did not succeed has its status, too
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"result"`)) {
			return res, json.Unmarshal(lines.Bytes(), &res)
		}
	}
	return res, fmt.Errorf("%v: %s", err, errors.String())
}
