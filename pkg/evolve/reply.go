package evolve

import (
	"regexp"
	"strings"
)

// Tokens by which a model ends an answer.
const (
	doneToken   = "<EVOLUTION_COMPLETE>"
	failedToken = "<EVOLUTION_FAILED>"
)

// reply is a model's answer to the question for an edit.
type reply struct {
	summary string
	edit    string // empty when it declined
	failed  bool   // the model says that there is nothing to change, or that it cannot
	reason  string
}

// parseReply takes an answer apart. Tokens count only alone on the first or the last line: a skill may speak about them.
func parseReply(text string) reply {
	lines := strings.Split(strings.ReplaceAll(withoutThoughts(text), "\r\n", "\n"), "\n")
	lines = trimBlank(lines)
	if reason, failed := declined(lines); failed {
		return reply{failed: true, reason: line(reason, maxReason)}
	}
	for len(lines) > 0 && isToken(lines[len(lines)-1], doneToken) {
		lines = trimBlank(lines[:len(lines)-1])
	}
	var r reply
	if i, summary := summaryAt(lines); i >= 0 {
		closing := fenceOf(strings.Join(lines[:i], "\n"))
		lines = trimBlank(lines[i+1:])
		if n := len(lines); closing != "" && n > 0 && strings.TrimSpace(lines[n-1]) == closing { // a fence around the whole
			lines = trimBlank(lines[:n-1])
		}
		for len(lines) > 0 && isToken(lines[len(lines)-1], doneToken) {
			lines = trimBlank(lines[:len(lines)-1])
		}
		r.summary = line(summary, maxSummary)
	}
	if r.edit = strings.Join(lines, "\n"); r.edit != "" {
		r.edit += "\n"
	}
	return r
}

// maxReason and maxSummary bound what is kept of a reason and of a summary, in characters.
const maxReason, maxSummary = 500, 300

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func isToken(line, token string) bool { return strings.Trim(line, " \t`*_") == token }

// declined finds the token of failure. The reason follows it, or stands before it when nothing does.
func declined(lines []string) (reason string, failed bool) {
	if len(lines) == 0 {
		return "", false
	}
	var said []string
	switch last := len(lines) - 1; {
	case isToken(lines[0], failedToken):
		said = lines[1:]
	case isToken(lines[last], failedToken):
		said = lines[:last]
	case last > 0 && isToken(lines[last-1], failedToken) && reasonLine.MatchString(lines[last]):
		said = lines[last:]
	default:
		return "", false
	}
	reason = strings.TrimSpace(strings.Join(said, "\n"))
	return strings.TrimSpace(reasonLine.ReplaceAllString(reason, "")), true
}

var reasonLine = regexp.MustCompile(`(?i)^[\s*_]*reason[*_]*\s*:[*_]*`)

var (
	summaryLine = regexp.MustCompile(`(?i)^[\s*_#>-]*change[\s_-]?summary[*_]*\s*[:：][\s*_]*(\S.*)$`)
	// thoughts opens the thinking that some models put before their answer.
	thoughts  = regexp.MustCompile(`(?i)^\s*<(think|thinking|reasoning|thought)>`)
	fenceLine = regexp.MustCompile("(?m)^\\s*(`{3,}|~{3,})")
)

// summaryAt finds the line with the summary among what may stand before an edit.
func summaryAt(lines []string) (int, string) {
	for i, l := range lines[:min(len(lines), 12)] {
		if m := summaryLine.FindStringSubmatch(l); m != nil {
			return i, strings.Trim(strings.TrimSpace(m[1]), "*_ ")
		}
		if strings.HasPrefix(l, "***") || strings.HasPrefix(l, "<<<<<<<") || strings.TrimSpace(l) == "---" {
			break
		}
	}
	return -1, ""
}

// fenceOf returns the fence that is open at the end of a text.
func fenceOf(text string) string {
	open := ""
	for _, m := range fenceLine.FindAllStringSubmatch(text, -1) {
		if open == "" {
			open = m[1]
		} else if m[1] == open {
			open = ""
		}
	}
	return open
}

// withoutThoughts drops the thinking at the start of an answer. One that is not closed ends where the answer proper begins; package patch finds
// that place.
func withoutThoughts(text string) string {
	if m := thoughts.FindStringSubmatchIndex(text); m != nil {
		name, rest := text[m[2]:m[3]], text[m[1]:]
		if end := strings.Index(strings.ToLower(rest), "</"+strings.ToLower(name)+">"); end >= 0 {
			return withoutThoughts(rest[end+len(name)+3:])
		}
		return rest
	}
	// A chat template may have eaten the opening.
	for _, end := range []string{"</think>", "</thinking>"} {
		if i := strings.Index(text, end); i >= 0 && !strings.Contains(text[:i], "***") && !strings.Contains(text[:i], "\n---") && !strings.HasPrefix(text, "---") {
			return text[i+len(end):]
		}
	}
	return text
}
