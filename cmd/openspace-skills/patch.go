package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// fileChange is one file before and after. A mode of "" means that there is no file.
type fileChange struct {
	path                  string
	before, after         []byte
	beforeMode, afterMode string // "0644" or "0755"
}

// kind is added, removed or modified; "" when nothing changed.
func (c fileChange) kind() string {
	switch {
	case c.beforeMode == "" && c.afterMode != "":
		return "added"
	case c.beforeMode != "" && c.afterMode == "":
		return "removed"
	case c.beforeMode != c.afterMode || !bytes.Equal(c.before, c.after):
		return "modified"
	}
	return ""
}

// unified returns the change as a patch that patch -p1 and git apply take; "" for content that is not text.
func unified(c fileChange) string {
	if !isText(c.before) || !isText(c.after) {
		return ""
	}
	from, to := "a/"+c.path, "b/"+c.path
	var head strings.Builder
	fmt.Fprintf(&head, "diff --git %s %s\n", quoted(from), quoted(to))
	switch c.kind() {
	case "added":
		fmt.Fprintf(&head, "new file mode 10%s\n", c.afterMode)
		from = "/dev/null"
	case "removed":
		fmt.Fprintf(&head, "deleted file mode 10%s\n", c.beforeMode)
		to = "/dev/null"
	case "modified":
		if c.beforeMode != c.afterMode {
			fmt.Fprintf(&head, "old mode 10%s\nnew mode 10%s\n", c.beforeMode, c.afterMode)
		}
	}
	return head.String() + udiff.Unified(label(from), label(to), string(c.before), string(c.after))
}

// isText tells whether content can stand in a patch: diff(1) too takes a NUL byte as the mark of what is not text.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// label ends a name that has blanks with a tab, as patch programs expect it.
func label(path string) string {
	if q := quoted(path); q != path || !strings.ContainsRune(path, ' ') {
		return q
	}
	return path + "\t"
}

// quoted writes a name with control characters, quotes or backslashes as git does.
func quoted(path string) string {
	var b strings.Builder
	odd := false
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
			continue
		}
		odd = true
	}
	if !odd {
		return path
	}
	return `"` + b.String() + `"`
}
