package patch

import "strings"

// Format is one of the three edit formats.
type Format string

// The formats.
const (
	Full  Format = "full"  // whole files
	Diff  Format = "diff"  // search and replace blocks for SKILL.md
	Patch Format = "patch" // hunks for several files
)

// Limits of an edit.
const (
	mostText  = 16 << 20 // bytes of edit text
	mostFiles = 1000
	mostHunks = 20_000
)

// Edit is a parsed edit. It can be applied any number of times.
type Edit struct {
	Format Format
	steps  []step
}

// step is what an edit does with one file.
type step struct {
	kind    Kind // Add (Overwrite allowed if whole), Update, Delete
	path    string
	to      string // target of a move, or empty
	line    int    // of the header in the edit text
	whole   bool   // a file of FULL: content holds whether the file is there or not
	raw     bool   // FULL without a header: no LF is added
	content string // for Add
	hunks   []hunk
}

// hunk is one change of a file: old lines become new ones.
type hunk struct {
	line     int      // of its start in the edit text
	anchors  []string // lines above the change, from the outer to the inner
	old, new []string
	atEnd    bool // the old lines stand at the end of the file
	oldBare  bool // the last old line has no newline
	newBare  bool // the last new line has no newline
	block    bool // a block of DIFF
}

// Paths returns the paths that the edit names, in order, each once.
func (e *Edit) Paths() []string {
	var paths []string
	seen := map[string]bool{"": true}
	for _, s := range e.steps {
		for _, p := range []string{s.path, s.to} {
			if !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// Detect tells which format a text has. A text without any marker is Full.
func Detect(text string) Format { return unwrap(text).format }

// Parse reads an edit out of a text that may have a code fence, a
// here-document or some talk around it. Errors are of type *Error.
func Parse(text string) (*Edit, error) {
	if len(text) > mostText {
		return nil, &Error{Kind: TooLarge, Message: "the edit is longer than 16 MiB"}
	}
	in := unwrap(text)
	e := &Edit{Format: in.format}
	var err error
	switch in.format {
	case Patch:
		e.steps, err = parsePatch(in)
	case Diff:
		e.steps, err = parseDiff(in)
	default:
		e.steps, err = parseFull(in)
	}
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// check bounds the edit and refuses paths that lead outside.
func (e *Edit) check() error {
	hunks := 0
	for i := range e.steps {
		s := &e.steps[i]
		hunks += len(s.hunks)
		for _, p := range []*string{&s.path, &s.to} {
			if p == &s.to && s.to == "" {
				continue
			}
			clean, err := CheckPath(*p)
			if err != nil {
				err.(*Error).Line = s.line
				return err
			}
			*p = clean
		}
		if s.to == s.path {
			s.to = ""
		}
	}
	if len(e.steps) > mostFiles || hunks > mostHunks {
		return tooMany()
	}
	return nil
}

func tooMany() *Error {
	return &Error{Kind: TooLarge, Message: "the edit has more than 1000 files or 20000 hunks"}
}

// Markers, each a whole line without its trailing blanks.
var (
	fileHeader  = lazy(`^\*\*\*[ \t]*File:[ \t]+(\S.*)$`)
	patchHeader = lazy(`^\*\*\* (Add File|Update File|Delete File|Move to):(.*)$`)
)

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	beginFiles = "*** Begin Files"
	endFiles   = "*** End Files"
	endOfFile  = "*** End of File"
)

// marker returns a line without trailing blanks and without the " ***" that
// models put behind markers, when it starts like a marker.
func marker(line string) string {
	if !strings.HasPrefix(line, "***") {
		return line
	}
	line = strings.TrimRight(line, " \t")
	if bare := strings.TrimRight(strings.TrimSuffix(line, "***"), " \t"); bare != "" {
		return bare
	}
	return line
}

// headerPath returns the path of a header, without what models put around it.
func headerPath(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) > 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return strings.TrimSpace(s[1 : len(s)-1])
		}
	}
	return s
}
