package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// The scripted model. docs/bench-learning.md has its rules; what it knows of the tasks is in the table of kinds, what it knows of a skill it reads in
// what it is sent.

// answer is what the model says to a request.
func answer(r llmtest.Request) (llmtest.Step, bool) {
	whole := ""
	for _, m := range r.Messages {
		whole += m.Text + "\n"
	}
	t, ok := taskIn(whole)
	if !ok {
		return llmtest.Step{}, false
	}
	first := r.Messages[0].Text
	switch {
	case strings.Contains(first, "You decide which skills"):
		return say(choose(t, r.Last())), true
	case strings.Contains(first, "You judge finished runs"):
		return say(judge(t, r.Messages[1].Text)), true
	case strings.Contains(whole, "# Capture a skill"):
		return say(capture(t, r.Last())), true
	case strings.Contains(whole, "# Repair the skill"):
		return say(repair(r.Last())), true
	case strings.Contains(whole, "# Is this change of the skill"):
		return say(`{"proceed": false, "reason": "the runs went well"}`), true
	}
	return work(t, first, r), true
}

func say(text string) llmtest.Step { return llmtest.Step{Reply: llmtest.Reply{Text: text}} }

func shell(command string) llmtest.Step {
	args, _ := json.Marshal(map[string]string{"command": command})
	return llmtest.Step{Reply: llmtest.Reply{ToolCalls: []llmtest.Call{{Name: "run_shell", Arguments: args}}}}
}

// taskIn finds the task that a request is about by the name of its file, else the kind by the name of its skill.
func taskIn(text string) (task, bool) {
	for _, t := range tasks() {
		if strings.Contains(text, t.words()) {
			return t, true
		}
	}
	for _, t := range tasks() {
		if strings.Contains(text, `"`+t.kind.name+`"`) {
			return t, true
		}
	}
	return task{}, false
}

// rule is how a skill gives a command; it is all that the model writes into skills and reads out of them.
var rule = regexp.MustCompile("(?m)^- When the first line of FILE has \"(.+)\", run: `(.+)`$")

// work does the task: by the skill in the instructions, as far as it has a command, else by trying.
func work(t task, system string, r llmtest.Request) llmtest.Step {
	turn := r.Turn()
	if len(r.Tools) == 0 {
		return say("I had no time left to check it.")
	}
	guided := strings.Contains(system, "### Skill: "+t.kind.name+"__")
	var looks []string
	if guided {
		looks = []string{"head -n 1 " + t.file}
		if command := commandFor(system, r); turn > 0 && command != "" {
			if turn == 1 {
				return shell(t.named(command) + " && cat " + t.kind.out)
			}
			return say("The result is in " + t.kind.out + ".")
		}
	} else {
		looks = []string{"ls -l", "head -n 3 " + t.file}
		if t.kind.slow {
			looks = append(looks, "wc -l "+t.file, "tail -n 3 "+t.file)
		}
	}
	right := t.kind.formats[t.format].command
	steps := append(looks, t.named(t.kind.naive), "cat "+t.kind.out, t.named(right), "cat "+t.kind.out)
	if turn < len(steps) {
		return shell(steps[turn])
	}
	return say("The result is in " + t.kind.out + ".")
}

// commandFor returns the command that the skill has for the file whose first line was looked at.
func commandFor(system string, r llmtest.Request) string {
	for _, m := range r.Messages {
		if m.Role != "tool" {
			continue
		}
		for _, found := range rule.FindAllStringSubmatch(system, -1) {
			if strings.Contains(m.Text, found[1]) {
				return found[2]
			}
		}
		return "" // only the first look counts
	}
	return ""
}

func (t task) named(command string) string {
	return strings.NewReplacer("FILE", t.file, "OUT", t.kind.out).Replace(command)
}

// choose takes the skill of the kind if it is on offer.
func choose(t task, offered string) string {
	if id := regexp.MustCompile(`(?m)^- (` + t.kind.name + `__[^\s:]+)`).FindStringSubmatch(offered); id != nil {
		return fmt.Sprintf(`{"brief_plan": "As the skill says.", "skills": [%q]}`, id[1])
	}
	return `{"brief_plan": "By trying.", "skills": []}`
}

// called matches the calls in a conversation as an analysis is shown it.
var called = regexp.MustCompile(`(?m)^\[\d+\.\d+\] CALL run_shell (\{.*\})$`)

// judge looks for the command that wrote the result, and for what the file begins with.
func judge(t task, question string) string {
	command, first := "", ""
	for _, m := range called.FindAllStringSubmatch(question, -1) {
		var args struct{ Command string }
		if json.Unmarshal([]byte(m[1]), &args) == nil && strings.Contains(args.Command, ">"+t.kind.out) {
			command = strings.TrimSuffix(args.Command, " && cat "+t.kind.out)
		}
	}
	for _, f := range t.kind.formats {
		if strings.Contains(question, "\n"+f.first) || strings.Contains(question, "RESULT "+f.first) {
			first = f.first
		}
	}
	v := map[string]any{"task_completed": strings.Contains(question, `It ended as "success"`), "execution_note": "Done with " + t.kind.out + "."}
	line := fmt.Sprintf("- When the first line of FILE has %q, run: `%s`", first, strings.NewReplacer(t.file, "FILE", t.kind.out, "OUT").Replace(command))
	offered := regexp.MustCompile(`(?m)^Skill (` + t.kind.name + `__\S+):$`).FindStringSubmatch(question)
	known := strings.Contains(question, line+"\n")
	var suggest []any
	switch {
	case command == "" || first == "":
	case offered == nil:
		suggest = append(suggest, map[string]any{"type": "captured", "target_skills": []string{}, "category": "workflow", "direction": line})
	case !known:
		suggest = append(suggest, map[string]any{"type": "fix", "target_skills": []string{offered[1]}, "direction": line})
	}
	if offered != nil {
		v["skill_judgments"] = []any{map[string]any{"skill_id": offered[1], "skill_applied": known, "note": "by its command"}}
	}
	v["evolution_suggestions"] = suggest
	data, _ := json.Marshal(v)
	return string(data)
}

// capture writes what the direction says.
func capture(t task, question string) string {
	line := rule.FindString(question)
	return "CHANGE_SUMMARY: how it was done\n\n*** Begin Files\n*** File: SKILL.md\n---\nname: " + t.kind.name + "\ndescription: " + t.kind.about +
		"\n---\n\n# " + t.kind.name + "\n\n" + t.kind.about + " FILE is the input, OUT the output.\n\n" + line + "\n*** End Files\n<EVOLUTION_COMPLETE>\n"
}

// repair adds what the direction says after the commands that are there.
func repair(question string) string {
	lines := rule.FindAllString(question, -1)
	if len(lines) < 2 {
		return "<EVOLUTION_FAILED>\nReason: the skill has no command"
	}
	return "CHANGE_SUMMARY: another format\n\n*** Begin Patch\n*** Update File: SKILL.md\n@@ " + lines[len(lines)-1] + "\n+" + lines[0] + "\n*** End Patch\n<EVOLUTION_COMPLETE>\n"
}
