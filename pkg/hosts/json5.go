package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errSyntax is what the scanner says of a text that it does not understand.
var errSyntax = errors.New("the text is not understood")

// object is a JSON5 object in a text, by its places.
type object struct {
	open, close int // of the braces
	members     []member
}

// member is a member of an object.
type member struct {
	name              string
	start, value, end int // of the name, of the value, behind the value
	comma             int // of the comma after it; -1: none
}

// find returns the place of a member by name; -1: none. Of several the last one counts, as for every reader.
func (o object) find(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// scanner reads JSON5 text.
type scanner struct {
	text  []byte
	at    int
	depth int
}

// maxDepth bounds how deep values may stand in each other.
const maxDepth = 1000

// space skips white space and comments.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		r, n := utf8.DecodeRune(rest)
		switch {
		case strings.ContainsRune(" \t\r\n\v\f\u00a0\u2028\u2029\ufeff", r):
			s.at += n
		case bytes.HasPrefix(rest, []byte("//")):
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest[2:], []byte("*/"))
			if i < 0 {
				return errSyntax
			}
			s.at += i + 4
		default:
			return nil
		}
	}
	return nil
}

// peek returns the next byte after white space; 0 at the end.
func (s *scanner) peek() (byte, error) {
	if err := s.space(); err != nil || s.at >= len(s.text) {
		return 0, err
	}
	return s.text[s.at], nil
}

// value skips a value.
func (s *scanner) value() error {
	c, err := s.peek()
	switch {
	case err != nil:
		return err
	case c == '{':
		_, err := s.object()
		return err
	case c == '[':
		return s.list()
	case c == '"' || c == '\'':
		_, err := s.quoted()
		return err
	}
	start := s.at
	for s.at < len(s.text) && !strings.ContainsRune(",:{}[]\"' \t\r\n/", rune(s.text[s.at])) {
		s.at++
	}
	if s.at == start {
		return errSyntax
	}
	return nil
}

// quoted reads a text in quotes.
func (s *scanner) quoted() (string, error) {
	quote, start := s.text[s.at], s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			return unquoted(s.text[start:s.at]), nil
		}
	}
	return "", errSyntax
}

// unquoted is the text in quotes as far as names of settings need it.
func unquoted(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	inner := strings.NewReplacer(`\'`, `'`, `"`, `\"`).Replace(string(raw[1 : len(raw)-1]))
	if text, err := strconv.Unquote(`"` + inner + `"`); err == nil {
		return text
	}
	return inner
}

func (s *scanner) list() error {
	if s.depth++; s.depth > maxDepth {
		return errSyntax
	}
	defer func() { s.depth-- }()
	for s.at++; ; {
		c, err := s.peek()
		switch {
		case err != nil || c == 0:
			return errSyntax
		case c == ']':
			s.at++
			return nil
		}
		if err := s.value(); err != nil {
			return err
		}
		if c, _ = s.peek(); c == ',' {
			s.at++
		} else if c != ']' {
			return errSyntax
		}
	}
}

// object reads an object.
func (s *scanner) object() (object, error) {
	if s.depth++; s.depth > maxDepth {
		return object{}, errSyntax
	}
	defer func() { s.depth-- }()
	o := object{open: s.at}
	for s.at++; ; {
		c, err := s.peek()
		switch {
		case err != nil || c == 0:
			return o, errSyntax
		case c == '}':
			o.close = s.at
			s.at++
			return o, nil
		}
		m, err := s.member()
		if err != nil {
			return o, err
		}
		c, err = s.peek()
		switch {
		case err != nil:
			return o, err
		case c == ',':
			m.comma = s.at
			s.at++
		case c != '}':
			return o, errSyntax
		}
		o.members = append(o.members, m)
	}
}

func (s *scanner) member() (m member, err error) {
	m.comma, m.start = -1, s.at
	if c := s.text[s.at]; c == '"' || c == '\'' {
		m.name, err = s.quoted()
	} else {
		for s.at < len(s.text) && !strings.ContainsRune(":,{}[]\"' \t\r\n/", rune(s.text[s.at])) {
			s.at++
		}
		if m.name = string(s.text[m.start:s.at]); m.name == "" {
			err = errSyntax
		}
	}
	if err != nil {
		return m, err
	}
	if c, err := s.peek(); err != nil || c != ':' {
		return m, errSyntax
	}
	s.at++
	if _, err := s.peek(); err != nil {
		return m, err
	}
	m.value = s.at
	err = s.value()
	m.end = s.at
	return m, err
}

// root reads the object that a text is.
func root(text []byte) (object, error) {
	s := &scanner{text: text}
	if c, err := s.peek(); err != nil || c != '{' {
		return object{}, errSyntax
	}
	o, err := s.object()
	if err != nil {
		return o, err
	}
	if c, err := s.peek(); err != nil || c != 0 {
		return o, errSyntax
	}
	return o, nil
}

// inside reads the object at keys; found is how many of them are there.
func inside(text []byte, keys []string) (o object, found int, err error) {
	o, err = root(text)
	for _, key := range keys {
		if err != nil {
			break
		}
		i := o.find(key)
		if i < 0 {
			return o, found, nil
		}
		if text[o.members[i].value] != '{' {
			return o, found, errSyntax
		}
		s := &scanner{text: text, at: o.members[i].value}
		o, err = s.object()
		found++
	}
	return o, found, err
}

// setJSON puts a member into the object at keys, or gives it another value. Objects on the way that are not
// there are made. Nothing else of the text changes.
func setJSON(text []byte, keys []string, name string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) == 0 {
		text = []byte("{}\n")
	}
	o, found, err := inside(text, keys)
	if err != nil {
		return nil, err
	}
	for i := len(keys) - 1; i >= found; i-- {
		value, name = ordered{{name, value}}, keys[i]
	}
	if i := o.find(name); i >= 0 {
		m := o.members[i]
		return splice(text, m.value, m.end, render(value, lineIndent(text, m.start), unit(text), newline(text))), nil
	}
	return insert(text, o, name, value), nil
}

// insert adds a member behind the others.
func insert(text []byte, o object, name string, value any) []byte {
	nl, step := newline(text), unit(text)
	outer := lineIndent(text, o.open)
	indent := outer + step
	quotedName, _ := json.Marshal(name)
	if len(o.members) == 0 {
		body := nl + indent + string(quotedName) + ": " + render(value, indent, step, nl)
		if blank(text[o.open+1 : o.close]) {
			return splice(text, o.open+1, o.close, body+nl+outer)
		}
		return splice(text, o.open+1, o.open+1, body) // a comment stands there
	}
	last := o.members[len(o.members)-1]
	if !bytes.Contains(text[o.open:last.start], []byte("\n")) { // all on one line
		entry := " " + string(quotedName) + ": " + render(value, outer, step, nl)
		if last.comma >= 0 {
			return splice(text, last.comma+1, last.comma+1, entry+",")
		}
		return splice(text, last.end, last.end, ","+entry)
	}
	indent = lineIndent(text, last.start)
	entry := nl + indent + string(quotedName) + ": " + render(value, indent, step, nl)
	if last.comma >= 0 {
		at := lineEnd(text, last.comma+1, o.close)
		return splice(text, at, at, entry+",")
	}
	at := lineEnd(text, last.end, o.close)
	return splice(splice(text, at, at, entry), last.end, last.end, ",")
}

// removeJSON takes a member out of the object at keys, and the objects on the way that are empty then.
func removeJSON(text []byte, keys []string, name string) ([]byte, error) {
	o, found, err := inside(text, keys)
	if err != nil || found < len(keys) {
		return text, err
	}
	i := o.find(name)
	if i < 0 {
		return text, nil
	}
	text = cut(text, o, i)
	if o, _, err = inside(text, keys); err != nil || len(keys) == 0 || len(o.members) > 0 || !blank(text[o.open+1:o.close]) {
		return text, err
	}
	return removeJSON(text, keys[:len(keys)-1], keys[len(keys)-1])
}

// cut takes out the i-th member with the line that it stands on and one comma.
func cut(text []byte, o object, i int) []byte {
	m := o.members[i]
	from, to := m.start, m.end
	if m.comma >= 0 {
		to = m.comma + 1
	}
	for from > o.open+1 && strings.ContainsRune(" \t\r\n", rune(text[from-1])) {
		from--
		if text[from] == '\n' {
			if from > 0 && text[from-1] == '\r' {
				from--
			}
			break
		}
	}
	res := splice(text, from, to, "")
	switch {
	case i > 0 && m.comma < 0:
		before := o.members[i-1]
		res = splice(res, before.comma, before.comma+1, "")
	case len(o.members) == 1 && blank(res[o.open+1:from+o.close-to]):
		res = splice(res, o.open+1, from+o.close-to, "")
	}
	return res
}

func splice(text []byte, from, to int, with string) []byte {
	res := make([]byte, 0, len(text)+len(with))
	return append(append(append(res, text[:from]...), with...), text[to:]...)
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// lineIndent is the white space that begins the line of a place.
func lineIndent(text []byte, at int) string {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// lineEnd is the end of the line of a place, when nothing but comments is between, and else the place.
func lineEnd(text []byte, at, limit int) int {
	s := &scanner{text: text[:limit], at: at}
	for s.at < limit && text[s.at] != '\n' && text[s.at] != '\r' {
		rest := text[s.at:limit]
		switch {
		case text[s.at] == ' ' || text[s.at] == '\t':
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
				return s.at + i
			}
			return at
		case bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest, []byte("*/"))
			if i < 0 || bytes.ContainsAny(rest[:i], "\n") {
				return at
			}
			s.at += i + 2
		default:
			return at
		}
	}
	if s.at >= limit {
		return at
	}
	return s.at
}

func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit is what one level is indented by.
func unit(text []byte) string {
	o, err := root(text)
	if err != nil || len(o.members) == 0 || !bytes.Contains(text[o.open:o.members[0].start], []byte("\n")) {
		return "  "
	}
	if indent := lineIndent(text, o.members[0].start); indent != "" {
		return indent
	}
	return "  "
}

// ordered is an object whose members keep their order.
type ordered []named

type named struct {
	name  string
	value any
}

// render writes a value as JSON text whose lines but the first are indented.
func render(value any, indent, step, nl string) string {
	switch v := value.(type) {
	case ordered:
		if len(v) == 0 {
			return "{}"
		}
		var b strings.Builder
		b.WriteString("{")
		for i, m := range v {
			if i > 0 {
				b.WriteString(",")
			}
			name, _ := json.Marshal(m.name)
			b.WriteString(nl + indent + step + string(name) + ": " + render(m.value, indent+step, step, nl))
		}
		b.WriteString(nl + indent + "}")
		return b.String()
	default:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err) // the values are texts, numbers and lists of texts
		}
		return strings.TrimSpace(b.String())
	}
}
