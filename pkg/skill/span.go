package skill

import (
	"bytes"
	"strings"
)

// valueSpan finds the text between a field's colon and the end of its value. A
// comment that stands inside that text, on the key's line, is given back to be
// written behind the new value; one that follows the value is not in the span.
func (d *document) valueSpan(f *Field) (start, end int, comment string, err error) {
	first := nextLine(d.data, f.Start)
	text := trimRight(first.text(d.data))
	indent := indentOf(text)
	colon := keyEnd(text[indent:])
	if colon < 0 {
		return 0, 0, "", ErrNotEditable
	}
	s := spanner{data: d.data, end: f.End, first: first, indent: indent, pos: first.start + indent + colon}
	if f.recovered {
		return s.pos, s.lastText(), "", nil
	}
	end, comment = s.value()
	return s.pos, end, comment, nil
}

// keyEnd is the offset behind the colon of a line that starts with a key; -1 for
// an explicit key (? key) or when there is none.
func keyEnd(text []byte) int {
	if _, at, ok := splitKey(text); ok {
		return at
	}
	if len(text) == 0 || text[0] == '?' || text[0] == '"' || text[0] == '\'' {
		return -1
	}
	for i := range text {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return i + 1
		}
	}
	return -1
}

// spanner measures one value.
type spanner struct {
	data   []byte
	end    int  // end of the field's lines
	first  line // the key's line
	indent int  // of the key
	pos    int  // behind the colon
}

func (s *spanner) value() (end int, comment string) {
	p := s.pos
	for {
		p += indentOf(s.data[p:s.first.end])
		if p >= s.first.end || s.data[p] == '#' {
			return s.below(p)
		}
		if s.data[p] != '&' && s.data[p] != '!' {
			break
		}
		if n := bytes.IndexAny(s.data[p:s.first.end], " \t"); n >= 0 { // an anchor or tag goes with its value
			p += n
		} else {
			p = s.first.end
		}
	}
	switch s.data[p] {
	case '|', '>':
		return s.block(p)
	case '"':
		return s.doubleQuoted(p), ""
	case '\'':
		return s.singleQuoted(p), ""
	case '[', '{':
		return s.flow(p), ""
	}
	return s.plain(p), ""
}

// below is a value on the lines after the key's, or no value. p is at the end
// of the key's line or at a comment there.
func (s *spanner) below(p int) (end int, comment string) {
	last := s.pos
	for l := nextLine(s.data, s.first.next); l.start < s.end; l = nextLine(s.data, l.next) {
		text := bytes.TrimSpace(l.text(s.data))
		if len(text) > 0 && text[0] != '#' {
			last = l.start + len(trimRight(l.text(s.data)))
		}
	}
	if last == s.pos || p >= s.first.end {
		return last, ""
	}
	return last, " " + string(trimRight(s.data[p:s.first.end]))
}

// block is a literal or folded scalar whose mark stands at p.
func (s *spanner) block(p int) (end int, comment string) {
	head := trimRight(s.data[p:s.first.end])
	end = p + len(head)
	if at := bytes.IndexByte(head, '#'); at >= 0 {
		comment = " " + string(head[at:])
	}
	least, given := s.indent+1, false // indentation of the block: that of its first line, if not given
	if n := strings.IndexAny(string(head), "123456789"); n >= 0 && n <= 2 {
		least, given = s.indent+int(head[n]-'0'), true
	}
	for l := nextLine(s.data, s.first.next); l.start < s.end; l = nextLine(s.data, l.next) {
		text := l.text(s.data)
		indent := indentOf(text)
		if indent == len(text) {
			continue
		}
		if indent < least {
			break
		}
		if !given {
			least, given = indent, true
		}
		end = l.end
	}
	return end, comment
}

func (s *spanner) doubleQuoted(p int) int {
	for i := p + 1; i < s.end; i++ {
		switch s.data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return s.lastText()
}

func (s *spanner) singleQuoted(p int) int {
	for i := p + 1; i < s.end; i++ {
		if s.data[i] != '\'' {
			continue
		}
		if i+1 < s.end && s.data[i+1] == '\'' {
			i++
			continue
		}
		return i + 1
	}
	return s.lastText()
}

// flow is a list or map in brackets.
func (s *spanner) flow(p int) int {
	depth, token := 0, true // token: a quote here opens a quoted text
	for i := p; i < s.end; i++ {
		c := s.data[i]
		switch {
		case c == '[' || c == '{':
			depth++
			token = true
		case c == ']' || c == '}':
			depth--
			token = false
			if depth == 0 {
				return i + 1
			}
		case c == '"' && token:
			i = s.doubleQuoted(i) - 1
			token = false
		case c == '\'' && token:
			i = s.singleQuoted(i) - 1
			token = false
		case c == '#' && i > p && bytes.IndexByte([]byte(" \t\n\r"), s.data[i-1]) >= 0:
			i = nextLine(s.data, i).end - 1
		case c == ',' || c == ':':
			token = true
		case bytes.IndexByte([]byte(" \t\n\r"), c) < 0:
			token = false
		}
	}
	return s.lastText()
}

// plain is an unquoted scalar, which a comment ends.
func (s *spanner) plain(p int) int {
	end := p
	for l := s.first; l.start < s.end; l = nextLine(s.data, l.next) {
		from := max(l.start, p)
		text := s.data[from:l.end]
		at := commentAt(text)
		if at >= 0 {
			text = text[:at]
		}
		if text = trimRight(text); indentOf(text) < len(text) {
			end = from + len(text)
		}
		if at >= 0 {
			break
		}
	}
	return end
}

// commentAt is the offset of a comment in a line, or -1.
func commentAt(text []byte) int {
	for i, c := range text {
		if c == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			return i
		}
	}
	return -1
}

// lastText is the end of the last line of the field that is not blank.
func (s *spanner) lastText() int {
	end := s.pos
	for l := s.first; l.start < s.end; l = nextLine(s.data, l.next) {
		if text := trimRight(l.text(s.data)); indentOf(text) < len(text) {
			end = l.start + len(text)
		}
		if l.next == l.end {
			break
		}
	}
	return max(end, s.pos)
}
