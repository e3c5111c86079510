package patch

import (
	"fmt"
	"slices"
	"strings"
)

// mostWork bounds the lines that one Apply looks at.
const mostWork = 1 << 28

// place is where a hunk goes: its lines replace size lines from start.
type place struct {
	start, size int
	level       int
	old, new    []string
	kept        []int // per new line the line of the file that it keeps, or -1
}

// placer applies the hunks of one file one after the other.
type placer struct {
	*document
	file   string
	number int // of the hunk
	cursor int // line behind the last hunk
	notes  []string
}

// apply finds the place of a hunk and changes the file there.
func (p *placer) apply(h *hunk) *Error {
	p.number++
	at, err := p.locate(h)
	if err == nil && *p.work > mostWork {
		err = &Error{Kind: TooLarge, Message: "the edit needs too much searching", Hint: "Give fewer hunks, or the whole file."}
	}
	if err != nil {
		err.File, err.Hunk, err.Line = p.file, p.number, h.line
		return err
	}
	if at.level > exact {
		p.notes = append(p.notes, fmt.Sprintf("%s, hunk %d: found at line %d without regard to %s", p.file, p.number, at.start+1, loosely[at.level]))
	}
	p.replace(at.start, at.start+at.size, at.new, at.kept, h)
	if at.start < p.cursor { // out of order
		p.cursor += len(at.new) - at.size
	} else {
		p.cursor = at.start + len(at.new)
	}
	return nil
}

// locate finds the only place of a hunk.
func (p *placer) locate(h *hunk) (place, *Error) {
	below, err := p.below(h.anchors)
	if err != nil {
		return place{}, err
	}
	if len(h.old) == 0 {
		return p.addition(h, below)
	}
	for _, v := range h.variants() {
		for level := exact; level < levels; level++ {
			start, err := p.choose(h, p.find(level, v.old, p.from(h, below), len(p.lines), !h.block), below, len(v.old))
			if start < 0 && err == nil && below == nil && p.cursor > 0 && !h.block {
				start, err = p.choose(h, p.find(level, v.old, 0, p.cursor, true), nil, len(v.old))
			}
			if err != nil {
				return place{}, err
			}
			if start >= 0 {
				return p.fit(v, start, level)
			}
			if level == exact && h.block {
				if at, found, err := p.part(h); found {
					return at, err
				}
			}
		}
	}
	return place{}, p.nowhere(h, below)
}

// from returns the first line where a hunk may stand.
func (p *placer) from(h *hunk, below []int) int {
	switch {
	case h.block:
		return 0
	case below != nil:
		return below[0]
	}
	return p.cursor
}

// variants returns the hunk as it is and without empty lines at its end (for a
// block at both ends) that only stay.
func (h *hunk) variants() []hunk {
	v := *h
	for len(v.old) > 1 && len(v.new) > 0 && isBlank(v.old[len(v.old)-1]) && isBlank(v.new[len(v.new)-1]) {
		v.old, v.new = v.old[:len(v.old)-1], v.new[:len(v.new)-1]
	}
	for h.block && len(v.old) > 1 && len(v.new) > 0 && isBlank(v.old[0]) && isBlank(v.new[0]) {
		v.old, v.new = v.old[1:], v.new[1:]
	}
	if len(v.old) == len(h.old) {
		return []hunk{*h}
	}
	return []hunk{*h, v}
}

// choose picks the place that is meant out of those found, or -1.
func (p *placer) choose(h *hunk, found, below []int, size int) (int, *Error) {
	if h.atEnd {
		found = p.onlyLast(found, size, h.oldBare || h.newBare)
	}
	switch {
	case below != nil && firstText(h.old) == "": // empty lines are everywhere
		found = slices.DeleteFunc(found, func(at int) bool { return !slices.Contains(below, at-1) })
	case below != nil:
		found = p.firstBelow(found, below)
	}
	switch len(found) {
	case 0:
		return -1, nil
	case 1:
		return found[0], nil
	}
	return -1, &Error{
		Kind: Ambiguous, Message: fmt.Sprintf("the text to change stands in %d places", len(found)),
		Wanted: clip(firstText(h.old)), Candidates: p.above(found), Hint: ambiguousHint(h),
	}
}

func ambiguousHint(h *hunk) string {
	if h.block {
		return "Add lines above or below to the search part, so that it is there only once."
	}
	return "Put a line that stands only above the place you mean after @@, or add more unchanged lines."
}

// onlyLast keeps the place behind which nothing (if strict), or nothing but
// blank lines stands.
func (p *placer) onlyLast(found []int, size int, strict bool) []int {
	if len(found) == 0 {
		return nil
	}
	last := found[len(found)-1:]
	if behind := last[0] + size; strict && behind < len(p.lines) || !p.blankFrom(behind) {
		return nil
	}
	return last
}

// firstBelow keeps for each anchor the first place below it, or all of them
// when something like the anchor stands in between and there are several.
func (p *placer) firstBelow(found, below []int) []int {
	var kept []int
	next := 0
	for _, anchor := range below {
		for next < len(found) && found[next] < anchor {
			next++
		}
		rest := found[next:]
		if len(rest) > 1 && !p.likeBetween(anchor, rest[0]) {
			rest = rest[:1]
		}
		for _, at := range rest {
			if len(kept) == 0 || kept[len(kept)-1] < at {
				kept = append(kept, at)
			}
		}
	}
	return kept
}

// likeBetween tells whether between an anchor and a place a line stands that
// begins something of the same kind as the anchor.
func (p *placer) likeBetween(anchor, at int) bool {
	rank, first := heading(p.lines[anchor].text), beginning(p.lines[anchor].text)
	for _, l := range p.lines[min(anchor+1, at):at] {
		if r := heading(l.text); rank > 0 && r > 0 && r <= rank || beginning(l.text) == first {
			return true
		}
	}
	return false
}

// heading returns the rank of a Markdown heading, or 0.
func heading(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "#"))
	if n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// beginning returns the indentation of a line and its first word.
func beginning(s string) string {
	indent := indentOf(s)
	word, _, _ := strings.Cut(s[len(indent):], " ")
	return indent + word
}

// mostAnchors is how many lines may be equal to an anchor.
const mostAnchors = 50

// below returns where the innermost anchor stands, or nil without anchors.
func (p *placer) below(anchors []string) ([]int, *Error) {
	var at []int
	for i, anchor := range anchors {
		found := p.anchor(anchor, i > 0)
		if i > 0 {
			found = following(at, found)
		}
		if len(found) == 0 {
			return nil, p.noAnchor(anchor)
		}
		if len(found) > mostAnchors {
			return nil, &Error{Kind: Ambiguous, Message: fmt.Sprintf("the anchor stands in %d places", len(found)), Wanted: clip(anchor), Candidates: p.above(found), Hint: "Choose a line that is there once."}
		}
		at = found
	}
	return at, nil
}

// anchor finds a line: anywhere, or behind the last hunk if it is there.
func (p *placer) anchor(anchor string, anywhere bool) []int {
	for _, text := range []string{anchor, strings.TrimSpace(strings.TrimSuffix(anchor, "@@"))} {
		for level := exact; level < levels; level++ {
			found := p.find(level, []string{text}, 0, len(p.lines), true)
			if len(found) == 0 {
				continue
			}
			if i, _ := slices.BinarySearch(found, p.cursor); !anywhere && i < len(found) {
				return found[i:]
			}
			return found
		}
	}
	return nil
}

// following returns for each place the first of found behind it, each once.
func following(places, found []int) []int {
	var kept []int
	next := 0
	for _, at := range places {
		for next < len(found) && found[next] <= at {
			next++
		}
		if next < len(found) && (len(kept) == 0 || kept[len(kept)-1] != found[next]) {
			kept = append(kept, found[next])
		}
	}
	return kept
}

// addition places a hunk that only adds lines.
func (p *placer) addition(h *hunk, below []int) (place, *Error) {
	at := place{start: len(p.lines), new: h.new, kept: none(len(h.new))}
	if len(h.anchors) == 1 { // nothing else says which of several it is
		below = p.anchor(h.anchors[0], true)
	}
	switch {
	case len(below) > 1:
		return at, &Error{Kind: Ambiguous, Message: fmt.Sprintf("the anchor stands in %d places", len(below)), Wanted: clip(h.anchors[len(h.anchors)-1]), Candidates: p.above(below), Hint: "Put a line above it after another @@, or add unchanged lines."}
	case len(below) == 1 && h.atEnd && !p.blankFrom(below[0]+1):
		return at, &Error{Kind: NotFound, Message: "the anchor is not at the end of the file", Wanted: clip(h.anchors[len(h.anchors)-1])}
	case len(below) == 1:
		at.start = below[0] + 1
	case !h.block && !h.atEnd && at.start > 0 && p.lines[at.start-1].text == "" && p.lines[at.start-1].end != "":
		at.start--
	}
	return at, nil
}

func (p *placer) blankFrom(i int) bool {
	for _, l := range p.lines[i:] {
		if !isBlank(l.text) {
			return false
		}
	}
	return true
}

func none(n int) []int {
	kept := make([]int, n)
	for i := range kept {
		kept[i] = -1
	}
	return kept
}

// part places a block whose search text is a part of the running text that
// occurs once. found tells whether the text is there at all.
func (p *placer) part(h *hunk) (at place, found bool, err *Error) {
	wanted := strings.Join(h.old, "\n")
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	text := b.String()
	*p.work += len(text) / 16
	i := strings.Index(text, wanted)
	if i < 0 {
		return at, false, nil
	}
	first, column := position(text, i)
	last, end := position(text, i+len(wanted))
	if k := strings.Index(text[i+1:], wanted); k >= 0 {
		second, _ := position(text, i+1+k)
		return at, true, &Error{Kind: Ambiguous, Message: "the text to change stands in several places", Wanted: clip(firstText(h.old)), Candidates: p.above([]int{first, second}), Hint: ambiguousHint(h)}
	}
	if last == len(p.lines) || splitsWord(text, i) || splitsWord(text, i+len(wanted)) { // it ends in a newline, or is a part of a word
		return at, false, nil
	}
	with := p.lines[first].text[:column] + strings.Join(h.new, "\n") + p.lines[last].text[end:]
	at = place{start: first, size: last - first + 1, new: strings.Split(with, "\n")}
	at.kept = none(len(at.new))
	return at, true, nil
}

// splitsWord tells whether an offset lies inside a word of ASCII letters and digits; other scripts may be written without
// blanks.
func splitsWord(text string, offset int) bool {
	return offset > 0 && offset < len(text) && isWord(text[offset-1]) && isWord(text[offset])
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }

// position returns the line and the column, from 0, of an offset.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	return strings.Count(before, "\n"), offset - (strings.LastIndexByte(before, '\n') + 1)
}

// firstText returns the first line that is not blank.
func firstText(lines []string) string {
	for _, l := range lines {
		if !isBlank(l) {
			return l
		}
	}
	return ""
}
