package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// scripted is a task and what the model does about it.
type scripted struct {
	name, task string
	skill      string            // that it chooses, by name
	files      map[string]string // of the workspace
	replies    []llmtest.Reply
}

func call(name string, args map[string]any) llmtest.Call {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Call{Name: name, Arguments: data}
}

func calls(c ...llmtest.Call) llmtest.Reply { return llmtest.Reply{ToolCalls: c} }

func shell(command string) llmtest.Reply {
	return calls(call("run_shell", map[string]any{"command": command}))
}

// tasks are of the kinds that there are: with a skill, without, long, with large outputs, and no work at all.
func tasks() []scripted {
	return []scripted{
		{
			name: "report by a skill", task: "Read sales.csv and write report.md with the revenue by region and by month, with a short summary at its top.", skill: "csv-report",
			files: map[string]string{"sales.csv": table(120)},
			replies: []llmtest.Reply{
				shell("head -n 5 sales.csv"), shell("cut -d, -f3 sales.csv | sort | uniq -c"), shell("cut -d, -f3,4 sales.csv | head -n 60 > report.md"),
				shell("head -n 40 report.md"), {Text: "The report is in report.md. North has the largest revenue."},
			},
		},
		{
			name: "a question", task: "How many lines does notes.txt have?", files: map[string]string{"notes.txt": table(40)},
			replies: []llmtest.Reply{shell("wc -l notes.txt"), {Text: "notes.txt has 41 lines."}},
		},
		{
			name: "small talk", task: "Thank you, that was all.", replies: []llmtest.Reply{{Text: "You are welcome."}},
		},
		{
			name: "a change in many steps", task: "Rename the function total to sum_of in all files below src and see that nothing is left.", files: sources(8),
			replies: append(edits(8), shell("grep -rn total src | head"), llmtest.Reply{Text: "All eight files are changed; no file names total any more."}),
		},
		{
			name: "large outputs", task: "Find out in log.txt which hours have most of the errors.", files: map[string]string{"log.txt": log(3000)},
			replies: append(pages(8), llmtest.Reply{Text: "Most errors are between 9 and 11 o'clock."}),
		},
	}
}

func table(rows int) string {
	var b strings.Builder
	b.WriteString("order,date,region,revenue\n")
	for i := range rows {
		fmt.Fprintf(&b, "S-%d,2026-%02d-%02d,%s,%d.50\n", i, 1+i%6, 1+i%28, []string{"north", "south", "west"}[i%3], 80+i*7%90)
	}
	return b.String()
}

func sources(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[filepath.Join("src", fmt.Sprintf("part%d.py", i))] = strings.Repeat(fmt.Sprintf("def total(values):\n    return sum(values) + %d\n\n\ndef mean(values):\n    return total(values) / len(values)\n\n\n", i), 4)
	}
	return files
}

// edits reads each file and changes it.
func edits(n int) (out []llmtest.Reply) {
	out = append(out, shell("grep -rln total src"))
	for i := range n {
		path := fmt.Sprintf("src/part%d.py", i)
		out = append(out, calls(call("read_file", map[string]any{"path": path})), shell("sed -i s/total/sum_of/g "+path))
	}
	return out
}

func log(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "2026-02-%02d %02d:%02d:00 %s worker-%d handled the request for /orders/%d in %d units\n", 1+i%28, i%24, i%60,
			[]string{"INFO", "INFO", "ERROR", "WARN"}[i%4], i%9, 1000+i, i%400)
	}
	return b.String()
}

func pages(n int) (out []llmtest.Reply) {
	for i := range n {
		out = append(out, shell(fmt.Sprintf("sed -n %d,%dp log.txt", 1+i*200, 200+i*200)))
	}
	return out
}
