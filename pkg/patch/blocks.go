package patch

import "strings"

var (
	divider = lazy(`^[ \t]*={7}[ \t]*$`)
	replace = lazy(`^[ \t]*>{7}[ \t]*REPLACE[ \t]*$`)
)

const blockHint = "A block is <<<<<<< SEARCH, the text as it is, =======, the text as it should be, >>>>>>> REPLACE. Text that has such lines itself needs the patch format."

// parseDiff reads search and replace blocks for the skill file.
func parseDiff(in source) ([]step, error) {
	s := step{kind: Update, path: skillFile, line: in.first}
	for i := 0; i < len(in.lines); i++ {
		if !search().MatchString(in.lines[i]) {
			continue
		}
		h, end, err := parseBlock(in, i)
		if err != nil {
			err.File, err.Hunk = skillFile, len(s.hunks)+1
			return nil, err
		}
		if s.hunks, i = append(s.hunks, h), end; len(s.hunks) > mostHunks {
			return nil, tooMany()
		}
	}
	return []step{s}, nil
}

// parseBlock reads the block that begins at a line, and returns its last line.
func parseBlock(in source, start int) (hunk, int, *Error) {
	middle := -1
	for i := start + 1; i < len(in.lines); i++ {
		line := in.lines[i]
		switch {
		case search().MatchString(line), middle < 0 && replace().MatchString(line), middle >= 0 && divider().MatchString(line):
			return hunk{}, 0, &Error{Kind: Syntax, Line: in.number(i), Message: "this marker is out of place", Hint: blockHint}
		case divider().MatchString(line):
			middle = i
		case replace().MatchString(line):
			h := hunk{line: in.number(start), block: true, old: in.lines[start+1 : middle], new: in.lines[middle+1 : i]}
			err := h.checkBlock()
			return h, i, err
		}
	}
	return hunk{}, 0, &Error{Kind: Syntax, Line: in.number(start), Message: "the block has no end", Hint: blockHint}
}

// checkBlock makes a blank search part an addition and refuses what changes
// nothing.
func (h *hunk) checkBlock() *Error {
	if isBlank(strings.Join(h.old, "")) {
		h.old = nil
	}
	if len(h.old) == len(h.new) && strings.Join(h.old, "\n") == strings.Join(h.new, "\n") {
		return &Error{Kind: Syntax, Line: h.line, Message: "both parts of the block are the same"}
	}
	return nil
}
