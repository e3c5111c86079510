package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is looked at for an error.
const (
	mostCompared = 200  // old lines
	mostEqual    = 50   // lines of the file that are equal to one of them
	mostAbove    = 2000 // lines above a place
)

// nowhere is the error of a hunk whose old lines were not found.
func (p *placer) nowhere(h *hunk, below []int) *Error {
	e := &Error{
		Kind: NotFound, Message: "the text to change was not found", Wanted: clip(firstText(h.old)), Candidates: p.nearest(h.old),
		Hint: "Copy the old lines exactly as they stand in the file.",
	}
	switch {
	case h.atEnd:
		e.Message = "the text to change was not found at the end of the file"
	case below != nil:
		e.Message = fmt.Sprintf("the text to change was not found below the anchor (line %d)", below[0]+1)
	case !h.block && len(h.old) > 1 && len(e.Candidates) == 0:
		e.Hint += " Read the file again if you are not sure."
	}
	return e
}

// noAnchor is the error of an anchor that is no line of the file.
func (p *placer) noAnchor(anchor string) *Error {
	return &Error{
		Kind: NotFound, Message: fmt.Sprintf("the anchor %q was not found", clip(anchor)), Candidates: p.alike(anchor, nil),
		Hint: "After @@ stands one whole existing line above the change, no line numbers; or nothing.",
	}
}

// nearest returns the places that have most lines in common with the old
// lines, and lines that are like the first of them.
func (p *placer) nearest(old []string) []Candidate {
	votes := p.votes(old)
	starts := make([]int, 0, len(votes))
	for start := range votes {
		starts = append(starts, start)
	}
	slices.SortFunc(starts, func(a, b int) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(a, b))
	})
	var near []Candidate
	for _, start := range starts[:min(len(starts), 3)] {
		near = append(near, p.compared(start, old))
	}
	return p.alike(firstText(old), near)
}

// votes counts for each place how many lines stand there as in old.
func (p *placer) votes(old []string) map[int]int {
	p.prepare(blanks)
	wanted := map[int32][]int{}
	for i, l := range old[:min(len(old), mostCompared)] {
		if key, ok := p.known[blanks][normal(blanks, l)]; ok && !isBlank(l) {
			wanted[key] = append(wanted[key], i)
		}
	}
	seen := map[int32]int{}
	votes := map[int]int{}
	for at, key := range p.keys[blanks] {
		places := wanted[key]
		if seen[key]++; places == nil || seen[key] > mostEqual {
			continue
		}
		for _, i := range places[:min(len(places), 4)] {
			if at >= i {
				votes[at-i]++
			}
		}
	}
	return votes
}

// compared describes a place beside the old lines.
func (p *placer) compared(start int, old []string) Candidate {
	c := Candidate{Line: start + 1, Text: clip(p.lines[start].text)}
	equal, first := 0, -1
	for i, l := range old {
		if start+i < len(p.lines) && p.lines[start+i].text == l {
			equal++
		} else if first < 0 {
			first = i
		}
	}
	switch {
	case first < 0:
		c.Differs = "the lines are there, but not where the edit places them"
	case start+first >= len(p.lines):
		c.Differs = fmt.Sprintf("%d of %d lines are equal; the file ends before %q", equal, len(old), clip(old[first]))
	default:
		there := p.lines[start+first].text
		c.Differs = fmt.Sprintf("%d of %d lines are equal; line %d is %q, the edit has %q%s", equal, len(old), start+first+1, clip(there), clip(old[first]), difference(there, old[first]))
	}
	return c
}

// difference says in a word how two lines differ, if there is one.
func difference(a, b string) string {
	switch {
	case normal(indentation, a) == normal(indentation, b):
		return ": only blanks at the ends differ"
	case normal(blanks, a) == normal(blanks, b):
		return ": only blanks or typographic characters differ"
	case strings.EqualFold(a, b):
		return ": only letter case differs"
	}
	return ""
}

// alike adds up to three lines that are like a text to candidates.
func (p *placer) alike(text string, near []Candidate) []Candidate {
	type match struct {
		at    int
		ratio float64
	}
	var best []match
	wanted := pairs(text)
	for i, l := range p.lines {
		if r := similarity(wanted, l.text); r > 0.6 && !listed(near, i+1) {
			best = append(best, match{i, r})
		}
	}
	slices.SortStableFunc(best, func(a, b match) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, m := range best[:min(len(best), 3, shown-len(near))] {
		near = append(near, Candidate{Line: m.at + 1, Text: clip(p.lines[m.at].text), Differs: strings.TrimPrefix(difference(p.lines[m.at].text, text), ": ")})
	}
	return near
}

func listed(near []Candidate, line int) bool {
	return slices.ContainsFunc(near, func(c Candidate) bool { return c.Line == line })
}

// pairs counts the pairs of neighbouring bytes of a text without outer blanks.
func pairs(s string) map[string]int {
	s = strings.TrimSpace(s)
	s = s[:min(len(s), 2000)]
	n := map[string]int{}
	for i := 0; i+2 <= len(s); i++ {
		n[s[i:i+2]]++
	}
	return n
}

// similarity is Dice's coefficient of the pairs of two texts: twice what they
// share, divided by what both have. It is linear, unlike an edit distance.
func similarity(wanted map[string]int, s string) float64 {
	s = strings.TrimSpace(s)
	total := 0
	for _, n := range wanted {
		total += n
	}
	if total == 0 || len(s) < 2 || len(s)-1 > 3*total || total > 3*(len(s)-1) {
		return 0
	}
	shared := 0
	for pair, n := range pairs(s) {
		shared += min(n, wanted[pair])
	}
	return 2 * float64(shared) / float64(total+len(s)-1)
}

// above describes places by the nearest line above that is there only once:
// one that can be an anchor. Headings are preferred.
func (p *placer) above(found []int) []Candidate {
	times := map[string]int{}
	for _, l := range p.lines {
		times[l.text]++
	}
	var near []Candidate
	for _, at := range found[:min(len(found), shown)] {
		c := Candidate{Line: at + 1, Text: clip(p.lines[at].text)}
		line := -1
		for i := at - 1; i >= max(0, at-mostAbove); i-- {
			text := p.lines[i].text
			if times[text] > 1 || isBlank(text) {
				continue
			}
			if line < 0 {
				line = i
			}
			if heading(text) > 0 {
				line = i
				break
			}
		}
		if line >= 0 {
			c.Differs = fmt.Sprintf("below line %d: %s", line+1, clip(p.lines[line].text))
		}
		near = append(near, c)
	}
	return near
}
