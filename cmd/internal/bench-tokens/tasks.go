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

// tasks are one of each kind of work: guided by a skill, short and long; a question; no work at all; changing files; reading much, by commands and
// by files; running what prints much, until it passes; writing files. They were written down before they were measured, and none is left out. A model
// calls what both systems have: run_shell, read_file and write_file.
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
		{
			name: "a long triage by a skill", task: "Find out from the log file app.log what went wrong, count the error patterns, and write what happened to incident.md.", skill: "log-triage",
			files: map[string]string{"app.log": log(1200)}, replies: triage(),
		},
		{
			name: "tests until they pass", task: "Run tests.sh and mend calc.sh until all tests pass.",
			files: map[string]string{"tests.sh": suite, "calc.sh": "add=3\nsub=9\n"}, replies: mending(),
		},
		{
			name: "an answer from many files", task: "Which of the chapters in docs contradict each other about the limit of retries?", files: chapters(8), replies: reading(8),
		},
		{
			name: "a small program", task: "Write a program in Python that keeps a list of notes in a file, with a module for storing, one for searching, a command and a test.",
			replies: writing([]string{"store.py", "find.py", "notes.py", "test_notes.py"}),
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

// triage follows the steps of the skill.
func triage() []llmtest.Reply {
	report := "## What happened\n" + strings.Repeat("09:12:00 a worker reported an error for an order that had been handled before.\n", 12)
	return []llmtest.Reply{
		shell("wc -l app.log; head -n 3 app.log; tail -n 3 app.log"), shell("grep -c ERROR app.log"), shell("sh {skill}/scripts/log-patterns.sh --only error app.log | head -n 20"),
		shell("grep ERROR app.log | cut -c12-13 | sort | uniq -c | sort -rn | head"), shell("grep -n ERROR app.log | head -n 1"), shell("sed -n 1,15p app.log"),
		shell("sh {skill}/scripts/log-patterns.sh app.log | cut -f4 | sort | head -n 30"), shell("grep WARN app.log | head -n 10"),
		calls(call("write_file", map[string]any{"path": "incident.md", "content": report})), shell("head -n 5 incident.md"),
		{Text: "What happened is in incident.md: each fourth request fails, evenly over all hours."},
	}
}

// suite is a run of tests that prints much and names two failures in the middle.
const suite = `. ./calc.sh
i=0
while [ $i -lt 700 ]; do
	echo "ok $i - adding and subtracting number $i and its neighbours gives what was expected"
	i=$((i + 1))
	[ $i -ne 350 ] || [ "$add" = 2 ] || echo "not ok - add is $add, want 2"
	[ $i -ne 351 ] || [ "$sub" = 1 ] || echo "not ok - sub is $sub, want 1"
done
`

// mending runs the tests, mends one thing after the other and runs them again.
func mending() []llmtest.Reply {
	return []llmtest.Reply{
		shell("ls"), calls(call("read_file", map[string]any{"path": "tests.sh"}), call("read_file", map[string]any{"path": "calc.sh"})), shell("sh tests.sh"),
		shell("sh tests.sh | grep '^not ok'"), shell("sed -i s/add=3/add=2/ calc.sh"), shell("sh tests.sh"), shell("sed -i s/sub=9/sub=1/ calc.sh"), shell("sh tests.sh"),
		shell("sh tests.sh | grep -c '^ok'; cat calc.sh"), {Text: "All tests pass: add and sub in calc.sh were wrong."},
	}
}

func chapters(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[filepath.Join("docs", fmt.Sprintf("chapter%d.md", i))] = fmt.Sprintf("# Chapter %d\n\n", i) +
			strings.Repeat(fmt.Sprintf("A request that fails is sent again, at most %d times, with a pause that doubles each time.\nWhat cannot be sent is kept and reported.\n\n", 3+i%2), 40)
	}
	return files
}

// reading reads files four at a time.
func reading(n int) []llmtest.Reply {
	replies := []llmtest.Reply{shell("ls docs")}
	for at := 0; at < n; at += 4 {
		var four []llmtest.Call
		for i := at; i < at+4; i++ {
			four = append(four, call("read_file", map[string]any{"path": fmt.Sprintf("docs/chapter%d.md", i)}))
		}
		replies = append(replies, calls(four...))
	}
	return append(replies, shell("grep -c 'at most 3 times' docs/*.md"), llmtest.Reply{Text: "The even chapters say three times, the odd ones four."})
}

// writing writes programs, looks at them and runs them.
func writing(names []string) (out []llmtest.Reply) {
	for _, name := range names {
		text := "import sys\n\n" + strings.Repeat("def keep(notes, text):\n    # the newest comes first\n    notes.insert(0, text.strip())\n    return notes\n\n\n", 18)
		out = append(out, calls(call("write_file", map[string]any{"path": name, "content": text})), shell("wc -l "+name))
	}
	return append(out, shell("head -n 12 "+names[0]), shell("cat "+names[1]+" | head -n 20"), llmtest.Reply{Text: "The program is in notes.py; its parts are in store.py and find.py."})
}
