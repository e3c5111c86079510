package main

import (
	"fmt"
	"strings"
)

// former counts what the Python system sends for a conversation, from the rules by which it builds its requests. Its texts are not here: those
// below say what each of its parts has to say, in few words, so that the figure is rather too low. The model says the same in both systems; what its
// calls give back is made anew by the Python system's rules (formerdoes.go). It shows a skill in the first request only, which saves tokens and
// leaves the model without it in all others; keeps counts what it would send if it did not take the skill away.
type former struct {
	keeps     bool
	task      string
	workspace string
	files     []string
	offered   []entry // skills that it offers to the model that chooses
	skills    []shown // that were chosen
	turns     []turn  // what the model said and what the tools answered
	tools     string  // as they are offered to the model
	spent     spent
	last      []string // the messages of the request before, to find what a provider can keep
}

type entry struct{ id, description string }

type shown struct{ id, dir, head, body string }

// turn is one reply of the model with the results of its calls.
type turn struct {
	said    string // as it is sent back: text and calls
	results []string
}

// spent is what requests took, in tokens.
type spent struct {
	Calls  int `json:"calls"`
	Input  int `json:"input"`
	Kept   int `json:"kept"` // part of Input: the same as at the beginning of the request before
	Output int `json:"output"`
}

// The texts of the parts.
const (
	formerSystem = `You are an agent that carries out tasks by calling tools. Choose tools by their descriptions and schemas and give correct parameters. You may call several tools; all calls of a reply run at once and you see their results in the next round, so wait a round when a decision depends on a result.

Tool choice: MCP and shell tools are usually faster and more exact. Choose by what the task needs and what is available.

When you are stuck or lack knowledge of a field, call retrieve_skill with a short description of what you need.

After each round judge whether the task is complete. If it is, write a summary of what was done and the results, and put the token on a line of its own at the end, for example:
The file was written to out.txt.
<COMPLETE>
If it is not complete, call tools and do not write the token. The token means that there is no further round.`

	formerWorkspace = "Working directory: %s\nAll files of the task are here. Read and write files in this directory."
	formerFiles     = "Files in the workspace:\n%s\nCheck what is there before you create files."
	formerNote      = "[INTERNAL ORCHESTRATION NOTE] Iteration %d is over. If the task is finished, write a summary and <COMPLETE>. Otherwise go on with the next step."

	formerSkills = `# Active Skills

The following skills hold domain knowledge and proven procedures for this task. Follow step lists in order; treat references as context; you may still use any tool (MCP, shell).
Each skill may bring scripts, references and assets in its directory. Use read_file, list_dir, write_file and shell_agent for them. Relative paths are relative to the directory of the skill.`

	formerChoice = `You select skills for a task.

Task: %s

Available skills:
%s

1. Plan: what are the deliverables, file formats and tools?
2. Match only skills that teach a tested way for a core part of the plan; loose overlap of topics is noise.
3. Prefer high success; avoid skills that never succeeded or have a very low rate.
4. Select at most 2; return an empty list when nothing fits closely, since a wrong skill is worse than none.
Answer with one JSON object: {"brief_plan": "1-2 sentences", "skills": ["exact id"]} or {"brief_plan": "...", "skills": []}`
)

// Limits of its loop.
const (
	formerCap    = 30_000  // characters of a message from the second iteration on
	formerWindow = 120_000 // tokens above which old messages go, from the fifth iteration on
	formerRecent = 16      // messages that stay
)

// run counts the whole conversation.
func (f *former) run() spent {
	if len(f.offered) > 0 {
		var lines []string
		for _, e := range f.offered {
			lines = append(lines, fmt.Sprintf("- **%s**: %s (new)", e.id, e.description))
		}
		f.send([]string{fmt.Sprintf(formerChoice, f.task, strings.Join(lines, "\n"))}, "")
	}
	head := []string{formerSystem, fmt.Sprintf(formerWorkspace, f.workspace)}
	if len(f.files) > 0 {
		head = append(head, fmt.Sprintf(formerFiles, strings.Join(f.files[:min(15, len(f.files))], "\n")))
	}
	f.last = nil
	var rest []string
	for i, t := range f.turns {
		messages := append([]string{}, head...)
		if len(f.skills) > 0 && (i == 0 || f.keeps) {
			messages = append(messages, f.injected()) // it is taken out again after the first call
		}
		messages = append(append(messages, f.task), kept(rest, i+1)...)
		if i > 0 {
			messages = append(messages, fmt.Sprintf(formerNote, i))
		}
		f.send(messages, f.tools)
		rest = append(append(rest, t.said), t.results...)
		f.spent.Output += tokens(t.said)
	}
	return f.spent
}

func (f *former) injected() string {
	var b strings.Builder
	b.WriteString(formerSkills)
	for _, s := range f.skills {
		fmt.Fprintf(&b, "\n\n---\n\n### Skill: %s\n\n`%s`\n\n%s", s.id, s.dir, s.body)
	}
	return b.String()
}

// kept returns the messages after the task as its limits leave them in an iteration.
func kept(rest []string, iteration int) []string {
	if iteration < 2 {
		return rest
	}
	out, all := make([]string, len(rest)), 0
	for i, m := range rest {
		if len(m) > formerCap {
			m = m[:formerCap/2] + "\n... [truncated] ...\n" + m[len(m)-formerCap/2:]
		}
		out[i] = m
		all += tokens(m)
	}
	if iteration >= 5 && len(out) > 10 && all > formerWindow {
		out = append([]string{"[older messages were dropped]"}, out[len(out)-formerRecent:]...)
	}
	return out
}

// send counts a request and what of it a provider can keep from the one before.
func (f *former) send(messages []string, tools string) {
	f.spent.Calls++
	count(&f.spent, append([]string{tools}, messages...), f.last)
	f.last = append([]string{tools}, messages...)
}

// count adds a request: its parts, and how much of the beginning is that of the request before.
func count(s *spent, parts, before []string) {
	same := len(before) > 0
	for i, p := range parts {
		n := tokens(p) + perMessage
		s.Input += n
		if same = same && i < len(before) && before[i] == p; same {
			s.Kept += n
		}
	}
}

// perMessage is what a message takes beside its text.
const perMessage = 4

// tokens estimates a text, by the same rule for both systems: four bytes are one.
func tokens(text string) int { return (len(text) + 3) / 4 }
