package skill

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"
)

// ErrNotEditable means that a text cannot be edited without touching more than
// was asked: the file is not UTF-8, or its YAML ties the field to others.
var ErrNotEditable = errors.New("the frontmatter cannot be edited field by field")

// edit replaces data[start:end] by text.
type edit struct {
	start, end int
	text       string
}

// apply makes edits that do not overlap. Edits at one place keep their order.
func apply(data []byte, edits []edit) []byte {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	out := make([]byte, 0, len(data)+256)
	at := 0
	for _, e := range edits {
		out = append(append(out, data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, data[at:]...)
}

// SetField gives the top-level key a text value, in place. Everything else stays
// byte for byte: other fields, their order and form, comments, line endings, a
// byte-order mark, the body. A missing key is added at the end of the
// frontmatter, a missing frontmatter before the text, a missing fence where it
// belongs. The result has exactly one frontmatter, in which the key has the
// value; otherwise the error wraps ErrNotEditable.
func SetField(data []byte, key, value string) ([]byte, error) {
	if !utf8.Valid(data) || !utf8.ValidString(value) {
		return nil, fmt.Errorf("set field %q: not UTF-8: %w", key, ErrNotEditable)
	}
	if k, at, ok := splitKey([]byte(key + ":")); !ok || k != key || at != len(key)+1 {
		return nil, fmt.Errorf("set field %q: not a plain key: %w", key, ErrNotEditable)
	}
	doc := read(data)
	if f := findField(doc.fields, key); f != nil && f.Value == any(value) && !f.recovered {
		return data, nil
	}
	edits, err := doc.setEdits(key, value)
	if err != nil {
		return nil, fmt.Errorf("set field %q: %w", key, err)
	}
	out := apply(data, edits)
	if !doc.changedOnly(read(out), key, value) {
		return nil, fmt.Errorf("set field %q: %w", key, ErrNotEditable)
	}
	return out, nil
}

// setEdits are the edits that give key the value.
func (d *document) setEdits(key, value string) ([]edit, error) {
	b, eol := d.block, lineBreak(d.data)
	switch f := findField(d.fields, key); {
	case !b.found:
		return []edit{{b.start, b.start, "---" + eol + key + ": " + quote(value) + eol + "---" + eol}}, nil
	case d.flow:
		return nil, ErrNotEditable
	case f == nil:
		at := b.close.start
		text := strings.Repeat(" ", d.indent()) + key + ": " + quote(value) + eol
		if at > b.open.next && !endsLine(d.data[:at]) {
			text = eol + text
		}
		return append([]edit{{at, at, text}}, d.fenceEdits(true)...), nil
	default:
		start, end, comment, err := d.valueSpan(f)
		if err != nil {
			return nil, err
		}
		return append([]edit{{start, end, " " + quote(value) + comment}}, d.fenceEdits(false)...), nil
	}
}

// fenceEdits add the fences that are missing. ended tells that the text before
// the closing fence is sure to end in a line break.
func (d *document) fenceEdits(ended bool) []edit {
	b, eol := d.block, lineBreak(d.data)
	var edits []edit
	if b.open.start == b.open.next {
		edits = append(edits, edit{b.open.start, b.open.start, "---" + eol})
	}
	if b.close.start == b.close.next {
		text := "---" + eol
		if !ended && !endsLine(d.data[:b.close.start]) {
			text = eol + text
		}
		edits = append(edits, edit{b.close.start, b.close.start, text})
	}
	return edits
}

// indent is the indentation of the fields.
func (d *document) indent() int {
	if len(d.fields) == 0 {
		return 0
	}
	return indentOf(nextLine(d.data, d.fields[0].Start).text(d.data))
}

// changedOnly tells whether after is d with key set to value and nothing else.
func (d *document) changedOnly(after *document, key, value string) bool {
	f := findField(after.fields, key)
	if f == nil || f.Value != any(value) || !bytes.Equal(d.data[d.block.body:], after.data[after.block.body:]) {
		return false
	}
	old, now := d.fields, after.fields
	if findField(old, key) == nil {
		if len(now) == 0 || now[len(now)-1].Key != key {
			return false
		}
		now = now[:len(now)-1]
	}
	if len(old) != len(now) {
		return false
	}
	for i := range old {
		set := old[i].Key == key && findField(old, key) == &old[i]
		if old[i].Key != now[i].Key || !set && !reflect.DeepEqual(old[i].Value, now[i].Value) {
			return false
		}
	}
	return true
}

// lineBreak is the style of the first line break in data, LF when there is none.
func lineBreak(data []byte) string {
	l := nextLine(data, 0)
	if l.end == l.next {
		return "\n"
	}
	return string(data[l.end:l.next])
}

func endsLine(data []byte) bool {
	return len(data) > 0 && (data[len(data)-1] == '\n' || data[len(data)-1] == '\r')
}
