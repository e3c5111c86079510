package llm

import (
	"regexp"
	"sync"
)

// lazy is a pattern that is compiled when it is needed first: most runs need few of them.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// alike are the rules by which what changes from run to run is made comparable. docs/format-replay.md has
// them as a table.
var alike = []struct {
	what   func() *regexp.Regexp
	with   string
	tool   bool // in results of tools
	system bool // in system messages
}{
	{lazy(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(\d{1,2} )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,4} +\d{2}:\d{2}:\d{2}( [AP]M)?( [A-Z]{2,5}| [+-]\d{4})?( \d{4})?\b`), "<time>", true, true},
	{lazy(`(?m)^total \d+\n([-bcdlps][-rwxsStT]{9})`), "total <size>\n$1", true, false},
	{lazy(`(?m)^(d[-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +\d+ `), "$1 <owner> ", true, false},
	{lazy(`(?m)^([-bclps][-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +`), "$1 <owner> ", true, false},
	{lazy(`\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?`), "<time>", true, true},
	{lazy(`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +(\d{2}:\d{2}(:\d{2})?|\d{4})\b`), "<time>", true, true},
	{lazy(`\b\d{2}:\d{2}:\d{2}([.,]\d+)?\b`), "<time>", true, true},
	{lazy(`\b\d{4}-\d{2}-\d{2}\b`), "<time>", false, true},
	{lazy(`"?\b[a-z_]+_ms\b"? ?[:=] ?\d+`), "<duration>", true, false},
	{lazy(`\b\d+(\.\d+)? ?(ns|µs|us|ms|s|sec|secs|seconds|second)\b`), "<duration>", true, false},
	{lazy(`(?i)\bpid\b[ =:#]*\d+|\[\d+\] \d{2,}\b`), "<pid>", true, false},
	{lazy(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<id>", true, false},
	{lazy(`/tmp/(tmp\.[A-Za-z0-9]+|[A-Za-z._-]*\d{6,})`), "<tmp>", true, false},
}

// withoutTimes returns a message's text without what changes from run to run.
func withoutTimes(role Role, s string) string {
	if role != ToolRole && role != System {
		return s
	}
	for _, r := range alike {
		if role == ToolRole && r.tool || role == System && r.system {
			s = r.what().ReplaceAllString(s, r.with)
		}
	}
	return s
}
