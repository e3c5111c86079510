package patch

import (
	"fmt"
	"strings"
)

const markHint = "In a hunk each line starts with a blank (stays), - (goes) or + (comes)."

// patchReader reads the patch format line by line.
type patchReader struct {
	source
	at int
}

// parsePatch reads all envelopes of a text.
func parsePatch(in source) ([]step, error) {
	var steps []step
	alignEnd(in.lines)
	r := &patchReader{source: in}
	for r.at < len(r.lines) {
		if marker(r.lines[r.at]) != beginPatch {
			r.at++
			continue
		}
		start := r.at
		r.at++
		more, err := r.envelope(start)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	if len(steps) == 0 {
		return nil, &Error{Kind: Syntax, Line: in.first, Message: "the patch has no file", Hint: "Begin each file with *** Update File: PATH, *** Add File: PATH or *** Delete File: PATH."}
	}
	return steps, nil
}

// alignEnd takes the blanks before the last line of a patch away, when no such
// line stands at the first column.
func alignEnd(lines []string) {
	last := -1
	for i, line := range lines {
		if line = marker(line); line == endPatch {
			return
		}
		if strings.HasSuffix(strings.TrimRight(line, " \t*"), "End Patch") && marker(strings.TrimLeft(line, " \t")) == endPatch {
			last = i
		}
	}
	if last >= 0 {
		lines[last] = endPatch
	}
}

// envelope reads files up to the end of the patch that begins at a line.
func (r *patchReader) envelope(start int) ([]step, error) {
	var steps []step
	for ; r.at < len(r.lines); r.at++ {
		line := marker(r.lines[r.at])
		if line == endPatch {
			r.at++
			return steps, nil
		}
		m := patchHeader().FindStringSubmatch(line)
		switch {
		case m != nil && m[1] != "Move to":
			s, err := r.file(m[1], headerPath(m[2]))
			if err != nil {
				err.File = s.path
				return nil, err
			}
			if steps = append(steps, s); len(steps) > mostFiles {
				return nil, tooMany()
			}
			r.at--
		case strings.HasPrefix(line, "*** "):
			return nil, &Error{Kind: Syntax, Line: r.number(r.at), Message: fmt.Sprintf("%q is no header of a patch", clip(line)), Hint: "Headers are *** Add File:, *** Update File:, *** Delete File:, and *** Move to: below an update."}
		}
	}
	return nil, &Error{Kind: Syntax, Line: r.number(start), Message: "the patch has no *** End Patch: it was cut off", Hint: "Give the whole patch, with *** End Patch as its last line."}
}

// file reads what belongs to the header at the current line.
func (r *patchReader) file(verb, path string) (step, *Error) {
	s := step{path: path, line: r.number(r.at)}
	if path == "" {
		return s, &Error{Kind: Syntax, Line: s.line, Message: "the header has no path"}
	}
	r.at++
	switch verb {
	case "Add File":
		s.kind = Add
		err := r.added(&s)
		return s, err
	case "Delete File":
		s.kind = Delete
		r.skipBody()
		return s, nil
	}
	s.kind = Update
	err := r.updated(&s)
	return s, err
}

// ends tells whether the current line is no part of the file before it.
func (r *patchReader) ends() bool {
	line := r.lines[r.at]
	if !strings.HasPrefix(line, "***") {
		return false
	}
	line = marker(line)
	return line == endPatch || patchHeader().MatchString(line)
}

// skipBody skips the content that some models put below a deletion.
func (r *patchReader) skipBody() {
	for r.at < len(r.lines) && !r.ends() && !strings.HasPrefix(r.lines[r.at], "***") {
		r.at++
	}
}

// added reads the lines of a new file.
func (r *patchReader) added(s *step) *Error {
	var lines []string
	bare, blank := false, 0
	for ; r.at < len(r.lines) && !r.ends(); r.at++ {
		line := r.lines[r.at]
		switch {
		case line == "":
			blank++ // counts when a line follows
		case line[0] == '+':
			for ; blank > 0; blank-- {
				lines = append(lines, "")
			}
			lines = append(lines, line[1:])
		case line[0] == '\\':
			bare = true
		case marker(line) == endOfFile:
		default:
			return &Error{Kind: Syntax, Line: r.number(r.at), Message: "a line of a new file has no + before it", Wanted: clip(line)}
		}
	}
	s.content = strings.Join(lines, "\n")
	if len(lines) > 0 && !bare {
		s.content += "\n"
	}
	return nil
}

// updated reads the move and the hunks of a changed file.
func (r *patchReader) updated(s *step) *Error {
	for r.at < len(r.lines) && r.lines[r.at] == "" {
		r.at++
	}
	if r.at < len(r.lines) {
		if m := patchHeader().FindStringSubmatch(marker(r.lines[r.at])); m != nil && m[1] == "Move to" {
			if s.to = headerPath(m[2]); s.to == "" {
				return &Error{Kind: Syntax, Line: r.number(r.at), Message: "the move has no path"}
			}
			r.at++
		}
	}
	for r.at < len(r.lines) && !r.ends() {
		if r.lines[r.at] == "" {
			r.at++
			continue
		}
		h, err := r.hunk()
		if err != nil {
			err.Hunk = len(s.hunks) + 1
			return err
		}
		if s.hunks = append(s.hunks, h); len(s.hunks) > mostHunks {
			return tooMany()
		}
	}
	if len(s.hunks) == 0 && s.to == "" {
		return &Error{Kind: Syntax, Line: s.line, Message: "the update has no hunk", Hint: "Below the header: @@ and an existing line, then the change. " + markHint}
	}
	return nil
}

// hunk reads one hunk: its anchors, if any, and its lines.
func (r *patchReader) hunk() (hunk, *Error) {
	h := hunk{line: r.number(r.at)}
	for ; r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], "@@"); r.at++ {
		if anchor := strings.TrimSpace(r.lines[r.at][2:]); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
	}
	changes, bare := false, 0 // bare counts the wholly empty lines since the last other one
	for last := byte(0); r.at < len(r.lines) && !r.ends() && !strings.HasPrefix(r.lines[r.at], "@@"); r.at++ {
		line := r.lines[r.at]
		if marker(line) == endOfFile {
			h.atEnd = true
			r.at++
			break
		}
		if bare++; line == "" {
			line = " "
		} else {
			bare = 0
		}
		if !h.take(line, last) {
			return h, &Error{Kind: Syntax, Line: r.number(r.at), Message: "a line of the hunk has no mark", Wanted: clip(line), Hint: markHint}
		}
		last = line[0]
		changes = changes || last == '-' || last == '+'
	}
	h.old, h.new = h.old[:len(h.old)-bare], h.new[:len(h.new)-bare] // before the next hunk or header they say nothing
	h.atEnd = h.atEnd || h.oldBare || h.newBare
	if !changes {
		return h, &Error{Kind: Syntax, Line: h.line, Message: "the hunk has neither - nor + lines", Hint: markHint}
	}
	return h, nil
}

// take adds a line to the hunk; last is the mark of the line before it.
func (h *hunk) take(line string, last byte) bool {
	text := line[1:]
	switch line[0] {
	case ' ':
		h.old, h.new = append(h.old, text), append(h.new, text)
	case '-':
		h.old = append(h.old, text)
	case '+':
		h.new = append(h.new, text)
	case '\\':
		h.oldBare = h.oldBare || last == '-' || last == ' '
		h.newBare = h.newBare || last == '+' || last == ' '
	default:
		return false
	}
	return true
}
