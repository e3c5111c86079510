package skill

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

const maxRecoverDepth = 16

// recoverFields reads a frontmatter whose YAML is broken, field by field: each field
// is parsed alone, and only where that fails is its text taken as it stands.
func (d *document) recoverFields() {
	r := &recovery{doc: d}
	d.fields = r.fields(d.block.lines, d.block.firstLine, 0)
	if !r.explained {
		d.warn("yaml-invalid", d.block.firstLine, "the frontmatter is not a YAML mapping", "write one key: value per line")
	}
}

type recovery struct {
	doc       *document
	junk      bool // a line that is no field was reported
	explained bool
}

// fields cuts lines into fields at their common indentation.
func (r *recovery) fields(lines []line, num, depth int) []Field {
	var out []Field
	base := -1
	for i := 0; i < len(lines); {
		text := lines[i].text(r.doc.data)
		indent := indentOf(text)
		text = trimRight(text[indent:])
		if len(text) == 0 || text[0] == '#' {
			i++
			continue
		}
		key, value, ok := splitKey(text)
		if !ok || base >= 0 && indent != base {
			r.unread(num+i, text)
			i++
			continue
		}
		base = indent
		n := r.reach(lines, i, base)
		out = append(out, r.field(key, lines[i:i+n], indent+value, num+i, depth))
		i += n
	}
	return out
}

// unread reports a line that belongs to no field; the first one stands for all.
func (r *recovery) unread(num int, text []byte) {
	if !r.junk {
		r.junk, r.explained = true, true
		r.doc.warn("yaml-line", num, fmt.Sprintf("line %q of the frontmatter is not a field and is not read", clip(string(text), 40)), "write key: value, or move the text below the closing ---")
	}
}

// reach counts the lines of the field that starts at lines[i].
func (r *recovery) reach(lines []line, i, base int) int {
	n := 1
	for j := i + 1; j < len(lines); j++ {
		text := lines[j].text(r.doc.data)
		indent := indentOf(text)
		if indent == len(text) {
			continue
		}
		item := indent == base && isItem(text[indent:])
		closer := strings.IndexByte("}]", text[indent]) >= 0
		if indent <= base && !item && !closer {
			break
		}
		n = j - i + 1
	}
	return n
}

// field reads one field from its lines; value is where the text after the colon
// starts in the first of them.
func (r *recovery) field(key string, lines []line, value, num, depth int) Field {
	data := r.doc.data
	f := Field{Key: key, Line: num, Start: lines[0].start, End: lines[len(lines)-1].next}
	first := lines[0].text(data)
	if root, ok := parseYAML(printable(data[f.Start:f.End])); ok && root != nil && len(root.Content) == 2 && root.Content[0].Value == key {
		v := values{left: maxValues}
		f.Value = v.of(root.Content[1], 0)
		return f
	}
	rest := bytes.TrimSpace(first[value:])
	if len(rest) == 0 && len(lines) > 1 && depth < maxRecoverDepth && r.nested(lines[1:]) {
		m := make(map[string]any)
		for _, sub := range r.fields(lines[1:], num+1, depth+1) {
			m[sub.Key] = sub.Value
		}
		f.Value = m
		f.recovered = true
		return f
	}
	f.recovered = true
	f.Value = r.bare(rest, lines[1:])
	_, text := f.Value.(string)
	r.explain(key, value, lines, num, text && depth == 0 && !restricts(key))
	return f
}

// nested tells whether lines start with a field of their own.
func (r *recovery) nested(lines []line) bool {
	for _, l := range lines {
		text := bytes.TrimSpace(l.text(r.doc.data))
		if len(text) > 0 && text[0] != '#' {
			_, _, ok := splitKey(text)
			return ok
		}
	}
	return false
}

// bare is the text of a value as it stands, its lines joined by blanks, without
// the quotes or the block mark that it starts with.
func (r *recovery) bare(rest []byte, more []line) any {
	parts := []string{string(rest)}
	if len(more) > 0 && len(rest) > 0 && (rest[0] == '|' || rest[0] == '>') && len(rest) <= 3 {
		parts = nil
	}
	for _, l := range more {
		if t := bytes.TrimSpace(l.text(r.doc.data)); len(t) > 0 {
			parts = append(parts, string(t))
		}
	}
	text := string(printable([]byte(strings.Join(parts, " "))))
	text = strings.TrimSpace(text)
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1]
	}
	if text == "" {
		return nil
	}
	return text
}

// explain says why a field was not read as YAML.
func (r *recovery) explain(key string, value int, lines []line, num int, fixable bool) {
	r.explained = true
	d := Diagnostic{Code: "yaml-invalid", Severity: Warning, Line: num, Fixable: fixable,
		Message: fmt.Sprintf("the value of %q is not valid YAML and was read as plain text", key), Hint: "put the value in quotes"}
	if at, column := r.colon(value, lines); column > 0 {
		d.Code, d.Line, d.Column = "yaml-colon", num+at, column
		d.Message = fmt.Sprintf("the value of %q has a colon followed by a blank, which YAML does not allow without quotes", key)
	}
	r.doc.problems = append(r.doc.problems, d)
}

// colon finds the colon that breaks a plain value: the index of its line and its
// 1-based column, 0 when the reason is another.
func (r *recovery) colon(value int, lines []line) (at, column int) {
	start := bytes.TrimSpace(lines[0].text(r.doc.data)[value:])
	if len(start) > 0 && strings.IndexByte("\"'[{|>&*!@`%", start[0]) >= 0 {
		return 0, 0
	}
	for i, l := range lines {
		text, from := l.text(r.doc.data), 0
		if i == 0 {
			from = value
		}
		if n := bytes.Index(text[from:], []byte(": ")); n >= 0 {
			return i, utf8.RuneCount(text[:from+n]) + 1
		}
	}
	return 0, 0
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
