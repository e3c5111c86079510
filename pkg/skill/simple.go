package skill

import (
	"bytes"
	"unicode/utf8"
)

// simple reads a frontmatter in which every line is a comment, blank, or a key
// with a value on the same line that is plain or in quotes without escapes. More
// than half of the real files are like that, and most of the time of Parse goes
// into the YAML parser. It gives the same fields, or false: then the parser is asked.
func (d *document) simple() bool {
	b := d.block
	fields := make([]Field, 0, len(b.lines))
	for i, l := range b.lines {
		text := l.text(d.data)
		if len(text) == 0 || text[0] == '#' && allPrintable(text) {
			continue
		}
		key, rest, ok := simpleKey(text)
		if !ok {
			return false
		}
		value, ok := simpleValue(rest)
		if !ok || !allPrintable(text) {
			return false
		}
		fields = append(fields, Field{Key: string(key), Value: value, Line: b.firstLine + i, Start: l.start, End: l.next})
	}
	if len(fields) == 0 {
		return false
	}
	d.fields, d.valid = fields, true
	return true
}

// simpleKey splits off a key of ASCII letters, digits, _ and - and its colon.
func simpleKey(text []byte) (key, rest []byte, ok bool) {
	const longest = 100 // YAML has a limit of 1024
	for i, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_'):
		case c == ':' && i > 0 && i < longest && i+1 < len(text) && text[i+1] == ' ':
			return text[:i], text[i+1:], true
		default:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// simpleValue reads a value that no reader of YAML can take for anything else.
func simpleValue(rest []byte) (any, bool) {
	v := bytes.Trim(rest, " ")
	if len(v) == 0 {
		return nil, false
	}
	c := v[0]
	switch {
	case c == '"', c == '\'':
		inner := v[1:]
		if n := len(inner) - 1; n >= 0 && inner[n] == c {
			inner = inner[:n]
			return string(inner), bytes.IndexByte(inner, c) < 0 && bytes.IndexByte(inner, '\\') < 0
		}
		return nil, false
	case c >= utf8.RuneSelf, c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '(', c == '/':
	default:
		return nil, false
	}
	if v[len(v)-1] == ':' || bytes.Contains(v, []byte(": ")) || bytes.Contains(v, []byte(" #")) {
		return nil, false
	}
	switch string(v) {
	case "null", "Null", "NULL":
		return nil, true
	}
	return string(v), true
}

// allPrintable tells a text without tabs, control characters, line separators
// and byte-order marks.
func allPrintable(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if unprintable(r) || r == '\ufeff' {
			return false
		}
		i += n
	}
	return true
}
