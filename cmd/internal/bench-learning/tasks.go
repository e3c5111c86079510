package main

import (
	"fmt"
	"slices"
	"strings"
)

// kind is a kind of tasks: what is to be done, and how, for files of two formats.
type kind struct {
	name, about string // of the skill that the scripted model makes
	prefix      string // of the names of its files
	task        string // %s: the file
	out         string
	formats     [2]format
	naive       string // the wrong command
	slow        bool   // the scripted model needs more looks
}

// format is how files look, and the command that is right for them. FILE and OUT stand for the names.
type format struct {
	first   string // what the first line has
	command string
	file    func(n int) (text, want string) // the n-th file, and what is to come of it
}

// task is one task of the benchmark.
type task struct {
	kind       *kind
	format     int
	file, text string // what is to be worked on
	want       string
}

func (t task) words() string { return fmt.Sprintf(t.kind.task, t.file) }

// perKind is how many tasks there are of each kind: half of them on each format.
const perKind = 4

// tasks returns all tasks: of each kind in turn one, so that what helps is never the task before.
func tasks() (all []task) {
	for n := range perKind {
		for k := range kinds {
			kind := &kinds[k]
			f := n / (perKind / 2)
			text, want := kind.formats[f].file(n)
			all = append(all, task{kind: kind, format: f, file: fmt.Sprintf("%s-%d.txt", kind.prefix, n+1), text: text, want: want})
		}
	}
	return all
}

// Words that files are made of.
var (
	services = []string{"billing", "mail", "search", "store"}
	people   = []string{"Ada Lovelace", "Alan Turing", "Edsger Dijkstra", "Grace Hopper", "Barbara Liskov", "Ken Thompson", "Ada Lovelace", "Grace Hopper"}
	settings = []string{"cache_size", "host", "log_level", "port", "retries"}
)

var kinds = []kind{
	{
		name: "sum-ledger", about: "Add up the amounts of a ledger file and write the sum with two decimals.", prefix: "ledger", out: "total.txt",
		task:  "Add up the amounts in the ledger %s and write the sum, with two decimals and a point, to total.txt.",
		naive: `awk -F, '{s+=$2} END{printf "%.2f\n",s}' FILE >OUT`,
		formats: [2]format{
			{"day,text,amount", `awk -F, 'NR>1{s+=$3} END{printf "%.2f\n",s}' FILE >OUT`, func(n int) (string, string) { return ledger(n, ",", ".") }},
			{"day;text;amount", `tr , . <FILE | awk -F';' 'NR>1{s+=$3} END{printf "%.2f\n",s}' >OUT`, func(n int) (string, string) { return ledger(n, ";", ",") }},
		},
	},
	{
		name: "count-log-errors", about: "Count the errors of each service in an application log.", prefix: "log", out: "errors.txt",
		task:  "Count the lines of level ERROR for each service in the application log %s and write one line per service, its name and the count, sorted by name, to errors.txt.",
		naive: `grep -c ERROR FILE >OUT`,
		formats: [2]format{
			{"# log 1", `awk '$2=="ERROR"{sub(":","",$3);n[$3]++} END{for(k in n)print k,n[k]}' FILE | sort >OUT`,
				func(n int) (string, string) { return log(n, "# log 1\n", "10:%02d %s %s: it happened\n") }},
			{"# log 2", `sed -n 's/.*level=ERROR service=\([a-z]*\).*/\1/p' FILE | sort | uniq -c | awk '{print $2,$1}' >OUT`,
				func(n int) (string, string) {
					return log(n, "# log 2\n", "at=10:%02d level=%s service=%s it happened\n")
				}},
		},
	},
	{
		name: "extract-prod-settings", about: "Write the settings of the section prod of a configuration as environment lines.", prefix: "conf", out: "prod.env",
		task:  "Write the settings of the section prod in the configuration %s as NAME=value lines, names in upper case, sorted, to prod.env.",
		naive: `grep = FILE >OUT`,
		formats: [2]format{
			{"# conf 1", `awk '/^\[/{p=($0=="[prod]");next} p&&/=/{split($0,a,/ *= */);print toupper(a[1])"="a[2]}' FILE | sort >OUT`,
				func(n int) (string, string) { return conf(n, "# conf 1\n[test]\n%s[prod]\n%s", "", "", " = ") }},
			{"# conf 2", `sed -n 's/^prod\.\([a-z_]*\): /\1=/p' FILE | awk -F= '{print toupper($1)"="$2}' | sort >OUT`,
				func(n int) (string, string) { return conf(n, "# conf 2\n%s%s", "test.", "prod.", ": ") }},
		},
	},
	{
		name: "list-people", about: "List the distinct people of a register, first name first.", prefix: "people", out: "names.txt",
		task:  "Write the distinct people of the register %s as first name and last name, one a line, sorted, to names.txt.",
		naive: `sort -u FILE >OUT`,
		formats: [2]format{
			{"# people 1", `grep -v '^#' FILE | sed 's/\(.*\), \(.*\)/\2 \1/' | sort -u >OUT`,
				func(n int) (string, string) { return register(n, "# people 1\n", "%[2]s, %[1]s\n") }},
			{"# people 2", `grep -v '^#' FILE | awk -F'|' '{print $1" "$2}' | sort -u >OUT`,
				func(n int) (string, string) { return register(n, "# people 2\n", "%s|%s\n") }},
		},
	},
	{
		name: "convert-dates", about: "Convert the dates of a calendar to year-month-day, oldest first.", prefix: "dates", out: "iso.txt", slow: true,
		task:  "Convert the dates of the calendar %s to the form YYYY-MM-DD and write them, oldest first, to iso.txt.",
		naive: `sort FILE >OUT`,
		formats: [2]format{
			{"# dates 1", `grep -v '^#' FILE | sed 's/\(..\)\.\(..\)\.\(....\)/\3-\2-\1/' | sort >OUT`,
				func(n int) (string, string) { return dates(n, "# dates 1\n", "%02[3]d.%02[2]d.%[1]d\n") }},
			{"# dates 2", `grep -v '^#' FILE | sed 's,\(..\)/\(..\)/\(....\),\3-\1-\2,' | sort >OUT`,
				func(n int) (string, string) { return dates(n, "# dates 2\n", "%02[2]d/%02[3]d/%[1]d\n") }},
		},
	},
}

func ledger(n int, sep, point string) (string, string) {
	text, cents := strings.Join([]string{"day", "text", "amount"}, sep)+"\n", 0
	for day := 1; day <= 9; day++ {
		amount := 137*day + 1009*n + 50
		cents += amount
		text += fmt.Sprintf("%d%s%s%s%d%s%02d\n", day, sep, services[day%4], sep, amount/100, point, amount%100)
	}
	return text, fmt.Sprintf("%d.%02d\n", cents/100, cents%100)
}

func log(n int, first, line string) (string, string) {
	text, count := first, map[string]int{}
	for i := range 30 {
		level, service := "INFO", services[(i*7+n)%4]
		if i%3 == 0 {
			level = "ERROR"
			count[service]++
		}
		text += fmt.Sprintf(line, i, level, service)
	}
	var want []string
	for service, c := range count {
		want = append(want, fmt.Sprintf("%s %d\n", service, c))
	}
	return text, sorted(want)
}

func conf(n int, whole, test, prod, is string) (string, string) {
	var a, b string
	var want []string
	for i, name := range settings {
		a += fmt.Sprintf("%s%s%s%d\n", test, name, is, i)
		b += fmt.Sprintf("%s%s%s%d\n", prod, name, is, 10*n+i)
		want = append(want, fmt.Sprintf("%s=%d\n", strings.ToUpper(name), 10*n+i))
	}
	return fmt.Sprintf(whole, a, b), sorted(want)
}

func register(n int, first, line string) (string, string) {
	text := first
	var want []string
	for _, p := range people[n : n+5] {
		name, last, _ := strings.Cut(p, " ")
		text += fmt.Sprintf(line, name, last)
		want = append(want, p+"\n")
	}
	return text, sorted(want)
}

func dates(n int, first, line string) (string, string) {
	text := first
	var want []string
	for i := range 8 {
		year, month, day := 2020+(i*3+n)%5, 1+(i*5+n)%12, 1+(i*11+n)%28
		text += fmt.Sprintf(line, year, month, day)
		want = append(want, fmt.Sprintf("%d-%02d-%02d\n", year, month, day))
	}
	return text, sorted(want)
}

// sorted joins lines in order, each once.
func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}
