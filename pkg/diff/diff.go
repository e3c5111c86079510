// Package diff writes the change of a file as a patch that git apply and patch -p1 take.
//
// It owns the form of a patch: headers, modes, names that need quotes, files that come or go, the mark for a missing end of line. It reads no
// file and keeps no state. Binary content has no patch.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// MaxText is the size in bytes above which content is treated as binary.
const MaxText = 1 << 20

// File is one side of a change. The zero File means that there is no file.
type File struct {
	Mode string // "0644" or "0755"
	Data []byte
}

// The kinds of changes.
const (
	Added    = "added"
	Removed  = "removed"
	Modified = "modified"
)

// Kind tells what happened between a and b; "" when nothing did.
func Kind(a, b File) string {
	switch {
	case a.Mode == "" && b.Mode != "":
		return Added
	case a.Mode != "" && b.Mode == "":
		return Removed
	case a.Mode != b.Mode || !bytes.Equal(a.Data, b.Data):
		return Modified
	}
	return ""
}

// Patch returns the change of the file at path from a to b; "" when there is none, or when a side is not text.
func Patch(path string, a, b File) string {
	kind := Kind(a, b)
	if kind == "" || !IsText(a.Data) || !IsText(b.Data) {
		return ""
	}
	from, to := "a/"+path, "b/"+path
	var out strings.Builder
	fmt.Fprintf(&out, "diff --git %s %s\n", quoted(from), quoted(to))
	switch {
	case kind == Added:
		fmt.Fprintf(&out, "new file mode 10%s\n", b.Mode)
		from = "/dev/null"
	case kind == Removed:
		fmt.Fprintf(&out, "deleted file mode 10%s\n", a.Mode)
		to = "/dev/null"
	case a.Mode != b.Mode:
		fmt.Fprintf(&out, "old mode 10%s\nnew mode 10%s\n", a.Mode, b.Mode)
	}
	out.WriteString(udiff.Unified(label(from), label(to), string(a.Data), string(b.Data)))
	return out.String()
}

// IsText tells whether content can stand in a patch: UTF-8 of at most MaxText bytes without a NUL, which diff(1) too takes as the mark of
// what is not text.
func IsText(data []byte) bool {
	return len(data) <= MaxText && bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}

// label ends a name that has blanks with a tab, so that patch programs know where it ends.
func label(path string) string {
	if q := quoted(path); q != path || !strings.ContainsRune(path, ' ') {
		return q
	}
	return path + "\t"
}

// quoted writes a name with control characters, quotes or backslashes as git does.
func quoted(path string) string {
	if !strings.ContainsFunc(path, odd) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case odd(rune(c)):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func odd(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
