package skill

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Severity says how much a diagnostic matters.
type Severity string

// The severities. An Error means that the skill, or the part concerned, cannot
// be used as written under the rules it was read with.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Diagnostic is one problem: a stable kebab-case Code, where it is, what it is
// and how to mend it. Line and Column are 1-based, Column counts characters; 0
// means that the problem has no such place. Messages may change, codes do not.
type Diagnostic struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Fixable  bool     `json:"fixable,omitempty"` // Fix mends it
}

// String is the diagnostic on one line, in the form compilers use.
func (d Diagnostic) String() string {
	s := ""
	if d.Path != "" {
		s = d.Path + ":"
	}
	if d.Line > 0 {
		s += fmt.Sprintf("%d:", d.Line)
		if d.Column > 0 {
			s += fmt.Sprintf("%d:", d.Column)
		}
	}
	if s != "" {
		s += " "
	}
	return s + fmt.Sprintf("%s: %s [%s]", d.Severity, d.Message, d.Code)
}

func withPath(ds []Diagnostic, path string) []Diagnostic {
	for i := range ds {
		if ds[i].Path == "" {
			ds[i].Path = path
		}
	}
	return ds
}

// notUTF8 names the first bad byte, and the encoding where a mark gives it away.
func notUTF8(data []byte) Diagnostic {
	off := 0
	for off < len(data) {
		r, n := utf8.DecodeRune(data[off:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		off += n
	}
	hint := "save the file as UTF-8"
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		hint = "the file looks like UTF-16: save it as UTF-8"
	}
	return Diagnostic{
		Code: "not-utf8", Severity: Error, Line: lineAt(data, off),
		Message: fmt.Sprintf("the text is not UTF-8: byte 0x%02x at byte offset %d", data[off], off),
		Hint:    hint,
	}
}

// lineAt is the 1-based number of the line that holds offset off.
func lineAt(data []byte, off int) int {
	n := 1
	for l := nextLine(data, 0); l.next <= off && l.next > l.end; l = nextLine(data, l.next) {
		n++
	}
	return n
}
