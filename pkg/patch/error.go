package patch

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrorKind says what an edit failed on.
type ErrorKind string

// Kinds of errors.
const (
	Syntax    ErrorKind = "syntax"    // the edit cannot be read
	BadPath   ErrorKind = "path"      // a path is refused
	Missing   ErrorKind = "missing"   // a file to change is not there
	Exists    ErrorKind = "exists"    // a file to add or a target of a move is there
	NotFound  ErrorKind = "not_found" // the old text or the anchor is nowhere
	Ambiguous ErrorKind = "ambiguous" // the old text or the anchor is in several places
	NotText   ErrorKind = "not_text"  // the file is not UTF-8
	Unchanged ErrorKind = "unchanged" // the edit changes nothing
	TooLarge  ErrorKind = "limit"     // beyond a limit of this package
)

// Error is an edit that cannot be read or applied. Its text is short, names
// everything that is needed to repair the edit, and is made for a model.
type Error struct {
	Kind       ErrorKind
	File       string // path as the edit gives it; empty when the error is of no file
	Hunk       int    // number of the hunk or block in its file, from 1; 0 = none
	Line       int    // line of the edit text, from 1; 0 = none
	Message    string // what is wrong
	Wanted     string // the first line that was looked for
	Candidates []Candidate
	Hint       string // what to do
}

// Candidate is a place in a file that an edit may have meant.
type Candidate struct {
	Line    int    // first line of the place, from 1
	Text    string // that line, cut to 200 characters
	Differs string // what is different there, or what stands above it
}

// shown is how many candidates an error has at most.
const shown = 5

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.where())
	b.WriteString(e.Message)
	if e.Wanted != "" {
		fmt.Fprintf(&b, "\n  looked for: %s", e.Wanted)
	}
	for _, c := range e.Candidates {
		fmt.Fprintf(&b, "\n  line %d: %s", c.Line, c.Text)
		if c.Differs != "" {
			fmt.Fprintf(&b, "\n    (%s)", c.Differs)
		}
	}
	if e.Hint != "" {
		b.WriteString("\n" + e.Hint)
	}
	return b.String()
}

// where names the file, the hunk and the line of the edit, as far as known.
func (e *Error) where() string {
	var parts []string
	if e.File != "" {
		parts = append(parts, clip(e.File))
	}
	if e.Hunk > 0 {
		parts = append(parts, fmt.Sprintf("hunk %d", e.Hunk))
	}
	if e.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d of the edit", e.Line))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

// clip cuts a text to 200 characters and shows what cannot be printed.
func clip(s string) string {
	const most = 200
	if n := 0; len(s) > most {
		for i := range s {
			if n++; n > most {
				s = s[:i] + "…"
				break
			}
		}
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable) {
		return strings.Map(func(r rune) rune {
			if unprintable(r) {
				return utf8.RuneError
			}
			return r
		}, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return s
}

func unprintable(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
