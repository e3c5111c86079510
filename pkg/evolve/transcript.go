package evolve

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/llm"
)

// conversationBudget bounds the conversation that an analysis is shown, in characters.
const conversationBudget = 40_000

// segment is a part of a conversation. A lower rank is kept longer; short is the segment under pressure, "" when it goes.
type segment struct {
	rank        int
	text, short string
}

// transcript shows a conversation within a budget: what matters most whole, the rest shortened, and how much is missing.
func transcript(said []Said, budget int) string {
	segments := segmentsOf(said)
	keep := make([]string, len(segments))
	order := make([]int, len(segments))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return segments[order[a]].rank < segments[order[b]].rank })
	left, omitted := budget, 0
	for _, i := range order {
		s := segments[i]
		for _, text := range []string{s.text, s.short} {
			if s.rank <= always {
				text = clip(text, max(left, budget/4))
			}
			if n := utf8.RuneCountInString(text) + 1; text != "" && (n <= left || s.rank <= always) {
				keep[i] = text
				left -= n
				break
			}
		}
		if keep[i] == "" {
			omitted++
		}
	}
	var b strings.Builder
	for _, text := range keep {
		if text != "" {
			b.WriteString(text + "\n")
		}
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "[%d parts of the conversation are not shown]\n", omitted)
	}
	return b.String()
}

// Ranks of segments.
const (
	always = iota // the task and the last answer
	doing         // calls and errors
	saying        // what the model said
	result        // results of tools
)

func segmentsOf(said []Said) (out []segment) {
	last := lastAnswer(said)
	for i, s := range said {
		at := fmt.Sprintf("[%d.%d]", s.Phase, s.Iteration)
		text := strings.TrimSpace(s.Content)
		switch s.Role {
		case llm.User:
			rank := saying
			if s.Iteration == 0 {
				rank = always
			}
			out = append(out, segment{rank, at + " USER: " + text, at + " USER: " + clip(text, 500)})
		case llm.Assistant:
			rank := saying
			if i == last {
				rank = always
			}
			if text != "" {
				out = append(out, segment{rank, at + " AGENT: " + text, at + " AGENT: " + line(text, 200)})
			}
			for _, c := range s.ToolCalls {
				call := at + " CALL " + c.Name + " " + clip(c.Arguments, 500)
				out = append(out, segment{doing, call, line(call, 150)})
			}
		case llm.ToolRole:
			out = append(out, resultSegment(at, text))
		}
	}
	return out
}

func resultSegment(at, text string) segment {
	if failing(text) {
		return segment{doing, at + " ERROR " + clip(text, 1000), at + " ERROR " + line(text, 300)}
	}
	return segment{result, at + " RESULT " + clip(text, 800), at + " RESULT " + line(text, 200)}
}

// lastAnswer is the place of the last thing that the agent said, in whichever phase that was.
func lastAnswer(said []Said) int {
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role == llm.Assistant && strings.TrimSpace(said[i].Content) != "" {
			return i
		}
	}
	return -1
}

// errorText matches how results of tools that failed begin. "0 errors found" is none.
var errorText = regexp.MustCompile(`(?i)^\W*(error\b|failed\b|denied\b|traceback\b|exit (status|code):? [1-9]|timed out\b|connection refused\b)`)

func failing(text string) bool { return errorText.MatchString(firstRunes(text, 200)) }

// timeline lists the calls of tools, one a line.
func timeline(steps []Step) string {
	var b strings.Builder
	failed := 0
	for i, s := range steps {
		status := "ok"
		if !s.OK {
			failed++
			status = "ERROR " + line(s.Error, 200)
		}
		if i < maxSteps {
			fmt.Fprintf(&b, "%d. [%s] %s: %s\n", i+1, s.Key(), line(s.Command, 120), status)
		}
	}
	if n := len(steps) - maxSteps; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	return fmt.Sprintf("%d calls, %d failed\n", len(steps), failed) + b.String()
}

// maxSteps is how many calls a timeline shows.
const maxSteps = 100
