package tools

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxCandidates = 2
	maxCompared   = 20_000 // lines of a file that are compared with a line that is not in it
)

// ambiguous says where old text was found that was to be found once.
func ambiguous(body string, m matched) string {
	const most = 10
	var at []string
	for _, from := range m.found[:min(most, len(m.found))] {
		at = append(at, fmt.Sprint(1+strings.Count(body[:from], "\n")))
	}
	text := fmt.Sprintf("is there %d times, at lines %s", len(m.found), strings.Join(at, ", "))
	if len(m.found) > most {
		text += " and others"
	}
	return text + ": give more lines around it, or set replace_all"
}

// nearestPlaces shows the places of a text that are most like one that is not in it.
func (e *Env) nearestPlaces(body, old string) string {
	all := numbered(body, e.Mask)
	if strings.Contains(old, stars) {
		return fmt.Sprintf(": it has %s, which stands for a secret that you are not shown; leave that part out", stars)
	}
	wanted := textLines(unixLines(strings.Trim(old, "\r\n")))
	starts := candidates(all, wanted)
	if len(starts) == 0 {
		return ", nor anything like it: read the file again"
	}
	var b strings.Builder
	b.WriteString(". Nearest, with line numbers:\n")
	for i, at := range starts {
		if i > 0 {
			b.WriteString("or\n")
		}
		last := min(at+len(wanted), len(all)) - 1
		b.WriteString(someLines(all[at:last+1], 0, all[last].number))
		if different := firstDifference(all[at:last+1], wanted); different != "" {
			b.WriteString(different)
		}
	}
	return b.String()
}

// firstDifference shows the first line that is not as it was sent.
func firstDifference(here []line, wanted []string) string {
	for i, w := range wanted {
		if i < len(here) && here[i].text == w {
			continue
		}
		text, left := cut(w, 200)
		if left > 0 {
			text += "…"
		}
		if i >= len(here) {
			return fmt.Sprintf("behind its end, old_text has %q\n", text)
		}
		return fmt.Sprintf("in line %d, old_text has %q\n", here[i].number, text)
	}
	return ""
}

// candidates returns where in a text lines begin that are most like some others: those of which most lines are there at
// the right distance, else those with the line that is most like the longest one.
func candidates(all []line, wanted []string) []int {
	where := map[string][]int{}
	for i, w := range wanted {
		if key := strings.TrimSpace(w); len(key) > 2 {
			where[key] = append(where[key], i)
		}
	}
	votes := map[int]int{}
	for i, l := range all {
		for _, j := range where[strings.TrimSpace(l.text)] {
			votes[i-j] += len(strings.TrimSpace(l.text))
		}
	}
	if len(votes) == 0 {
		return likeLongest(all, wanted)
	}
	var starts []int
	for at := range votes {
		starts = append(starts, at)
	}
	slices.SortFunc(starts, func(a, b int) int {
		if votes[a] != votes[b] {
			return votes[b] - votes[a]
		}
		return a - b
	})
	return inside(starts[:min(maxCandidates, len(starts))], len(all))
}

// likeLongest finds lines that are like the longest of those that are wanted.
func likeLongest(all []line, wanted []string) []int {
	longest := 0
	for i, w := range wanted {
		if len(strings.TrimSpace(w)) > len(strings.TrimSpace(wanted[longest])) {
			longest = i
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	pairs := pairsOf(wanted[longest])
	best, at := 0.5, -1
	for i, l := range all[:min(maxCompared, len(all))] {
		if alike := pairs.likeness(l.text); alike > best {
			best, at = alike, i
		}
	}
	if at < 0 {
		return nil
	}
	return inside([]int{at - longest}, len(all))
}

// inside moves starts into the text.
func inside(starts []int, n int) []int {
	for i := range starts {
		starts[i] = min(max(0, starts[i]), n-1)
	}
	return slices.Compact(starts)
}

// pairs counts the pairs of neighbouring bytes of a line, blanks left out.
type pairs struct {
	of map[[2]byte]int
	n  int
}

func pairsOf(text string) pairs {
	text, _ = cut(strings.Join(strings.Fields(text), ""), maxLine)
	p := pairs{of: map[[2]byte]int{}}
	for i := 1; i < len(text); i++ {
		p.of[[2]byte{text[i-1], text[i]}]++
		p.n++
	}
	return p
}

// likeness is the share of pairs that two lines have in common: 2·common/(a+b), Dice's coefficient.
func (p pairs) likeness(text string) float64 {
	q := pairsOf(text)
	both := 0
	for pair, n := range q.of {
		both += min(n, p.of[pair])
	}
	if p.n+q.n == 0 {
		return 0
	}
	return 2 * float64(both) / float64(p.n+q.n)
}
