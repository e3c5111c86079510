package patch

import (
	"regexp"
	"strings"
	"sync"
)

// source is the part of a text that is the edit.
type source struct {
	format Format
	lines  []string
	first  int // number of the first of them in the text, from 1
}

// number returns the line number in the text of the i-th line.
func (s source) number(i int) int { return s.first + i }

// cut returns the lines from i up to j.
func (s source) cut(i, j int) source {
	return source{s.format, s.lines[i:j], s.first + i}
}

// most lines and bytes of what is looked at around an edit.
const (
	mostFrontmatter = 500  // lines
	mostTalk        = 2000 // bytes
)

var (
	nameKey   = lazy(`^name[ \t]*:`)
	fenceOpen = lazy("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
	hereDoc   = lazy(`<<-?[ \t]*["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)
	search    = lazy(`^[ \t]*<{7}[ \t]*SEARCH[ \t]*$`)
)

// unwrap finds the edit in a text and tells its format.
func unwrap(text string) source {
	text = strings.TrimPrefix(text, "\uFEFF")
	in := source{Full, strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), 1}
	at, format := firstMarker(in.lines)
	if plain, ok := in.skillText(at); ok {
		return plain
	}
	if at == len(in.lines) {
		return in.plain()
	}
	in.format = format
	in.lines[at] = strings.TrimLeft(in.lines[at], " \t")
	return in.cut(at, in.end(at))
}

// firstMarker returns the first line that begins an edit, and its format.
// Markers with blanks before them count when there are no others.
func firstMarker(lines []string) (int, Format) {
	indented, format := len(lines), Full
	for i, line := range lines {
		if f, ok := begins(line); ok {
			return i, f
		}
		if indented == len(lines) {
			if f, ok := begins(strings.TrimLeft(line, " \t")); ok {
				indented, format = i, f
			}
		}
	}
	return indented, format
}

// begins tells whether a line is a marker that begins an edit.
func begins(line string) (Format, bool) {
	if !strings.HasPrefix(line, "***") {
		return Diff, strings.HasPrefix(line, "<<<<<<<") && search().MatchString(line)
	}
	switch m := marker(line); {
	case m == beginPatch:
		return Patch, true
	case m == beginFiles, fileHeader().MatchString(m):
		return Full, true
	}
	return "", false
}

// end returns where the edit ends that begins at a line: at the end of the
// fence or here-document that opens just above, or at the end of the text.
func (s source) end(at int) int {
	end := len(s.lines)
	for i, seen := at-1, 0; i >= 0 && seen < 2; i-- {
		line := s.lines[i]
		if isBlank(line) {
			continue
		}
		seen++
		if j := lastClosing(s.lines[:end], at, line); j >= 0 {
			end = j
		}
	}
	return end
}

// lastClosing returns the last line after from that closes the fence or
// here-document which line opens, or -1. Fences inside come in pairs, so an
// even number of closing lines more than opening ones means that the outer
// fence is not closed.
func lastClosing(lines []string, from int, line string) int {
	last, closing, opening := -1, 0, 0
	closes, fence := closer(line)
	for j := from + 1; closes != nil && j < len(lines); j++ {
		if closes(lines[j]) {
			last, closing = j, closing+1
		} else if m := fenceOpen().FindStringSubmatch(lines[j]); m != nil && fence != "" && strings.HasPrefix(m[1], fence) {
			opening++
		}
	}
	if fence != "" && (closing <= opening || (closing-opening)%2 == 0) {
		return -1
	}
	return last
}

// closer returns what tells the lines that close the fence or here-document
// which a line opens, and the fence; nil when it opens none.
func closer(line string) (func(string) bool, string) {
	if m := fenceOpen().FindStringSubmatch(line); m != nil {
		return func(l string) bool { return closesFence(l, m[1]) }, m[1]
	}
	if m := hereDoc().FindStringSubmatch(line); m != nil {
		return func(l string) bool { return strings.TrimSpace(l) == m[1] }, ""
	}
	return nil, ""
}

// closesFence tells whether a line closes a fence of those characters.
func closesFence(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// skillText finds a skill file with frontmatter that begins before a line: at
// the start of the text, or after some talk, with or without a fence or
// here-document around it.
func (s source) skillText(before int) (source, bool) {
	talk, opening := 0, ""
	for i, line := range s.lines[:before] {
		if frontmatter(s.lines[i:before]) {
			return s.skillFrom(i, opening)
		}
		if talk += len(line) + 1; talk > mostTalk || strings.HasPrefix(line, "#") {
			break
		}
		if !isBlank(line) {
			if opening != "" && fenceOpen().MatchString(opening) {
				break // something else stands in the fence
			}
			opening = line
		}
	}
	return source{}, false
}

// skillFrom returns the skill file that begins at a line, below a line that
// may open a fence around it.
func (s source) skillFrom(i int, opening string) (source, bool) {
	j := lastClosing(s.lines, i, opening)
	if j < 0 {
		return s.cut(i, len(s.lines)), true
	}
	for _, line := range s.lines[j+1:] {
		if strings.HasPrefix(line, "#") {
			return s.cut(i, len(s.lines)), true // the closing line belongs to the text
		}
	}
	s.lines = append(append([]string(nil), s.lines[:j]...), "")
	return s.cut(i, j+1), true
}

// frontmatter tells whether lines begin with a frontmatter block of a skill.
func frontmatter(lines []string) bool {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \t") != "---" {
		return false
	}
	named := false
	for _, line := range lines[1:min(len(lines), mostFrontmatter)] {
		if strings.TrimRight(line, " \t") == "---" {
			return named
		}
		named = named || nameKey().MatchString(line)
	}
	return false
}

// plain takes a fence or here-document away that is around the whole text. A
// text that only begins and ends with fenced blocks keeps them.
func (s source) plain() source {
	i, j := 0, len(s.lines)
	for i < j && isBlank(s.lines[i]) {
		i++
	}
	for j > i && isBlank(s.lines[j-1]) {
		j--
	}
	if j-i < 2 || !encloses(s.lines[i:j]) {
		return s
	}
	s.lines = append(append([]string(nil), s.lines[:j-1]...), "")
	return s.cut(i+1, j)
}

// encloses tells whether the first line opens a fence or here-document that
// the last line, and none before it, closes.
func encloses(lines []string) bool {
	closes, _ := closer(lines[0])
	for i, line := range lines[1:] {
		if closes != nil && closes(line) {
			return i == len(lines)-2
		}
	}
	return false
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// lazy is a pattern that is compiled when it is needed first.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
