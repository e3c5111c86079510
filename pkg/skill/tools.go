package skill

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tools reads allowed-tools. A restriction is never lost: whatever of it cannot
// be read exactly becomes a list that allows nothing, with an error.
func (r *reader) tools() {
	var found []*Field
	for i := range r.doc.fields {
		f := &r.doc.fields[i]
		if restricts(f.Key) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		if num := r.hiddenTools(); num > 0 {
			r.noTools(num, "the frontmatter is broken where it restricts the tools")
		}
		return
	}
	last := found[len(found)-1]
	for _, f := range found {
		list, why := toolList(f)
		switch {
		case why != "":
			r.noTools(f.Line, why)
			return
		case f != found[0] && !slices.Equal(list, r.skill.AllowedTools):
			r.noTools(f.Line, "it is given twice with different values")
			return
		}
		r.skill.AllowedTools = list
	}
	if len(r.skill.AllowedTools) == 0 {
		r.warn("allowed-tools-empty", last.Line, "allowed-tools is empty: no tool is allowed", "name the tools, or remove the key", false)
	}
}

func (r *reader) noTools(num int, why string) {
	r.skill.AllowedTools = []string{}
	r.report(Diagnostic{
		Code: "allowed-tools-unreadable", Severity: Error, Line: num,
		Message: "allowed-tools cannot be read: " + why + "; no tool is allowed",
		Hint:    "write allowed-tools: and the tools on one line, separated by blanks",
	})
}

// toolList reads the value of one field, or says why it cannot.
func toolList(f *Field) (list []string, why string) {
	if f.recovered {
		return nil, "it is not valid YAML"
	}
	switch v := f.Value.(type) {
	case nil:
		return []string{}, ""
	case string:
		return splitTools(v)
	case []any:
		list = make([]string, 0, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok && item != nil {
				return nil, "an item of the list is not text"
			}
			if s = oneLine(s); s != "" {
				list = append(list, s)
			}
		}
		return list, ""
	}
	return nil, "it is a mapping"
}

// splitTools cuts at blanks and commas that are not inside parentheses.
func splitTools(s string) (list []string, why string) {
	list = []string{}
	depth, start := 0, 0
	cut := func(end int) {
		if item := strings.TrimSpace(s[start:end]); item != "" {
			list = append(list, item)
		}
	}
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == ',' || unicode.IsSpace(c)):
			cut(i)
			start = i + utf8.RuneLen(c)
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, "its parentheses do not match"
	}
	cut(len(s))
	return list, ""
}

// hiddenTools looks for a restriction that stands in the text but in no field:
// swallowed by a broken field, by quotes that run on, behind a merge key or a line
// separator that only some readers know, or cut off from a frontmatter without an
// end or with signs that cannot be seen before its first line. It returns its line, or 0.
func (r *reader) hiddenTools() int {
	b, data := r.doc.block, r.doc.data
	if f := findField(r.doc.fields, "<<"); f != nil {
		if m, ok := f.Value.(map[string]any); ok && m[keyAllowedTools] != nil {
			return f.Line
		}
	}
	base := -1
	for i, l := range b.lines {
		text := l.text(data)
		indent := indentOf(text)
		if base < 0 && indent < len(text) && text[indent] != '#' {
			base = indent
		}
		if toolsKey(text[indent:]) && (indent <= base || r.swallowed(l)) || toolsBehindSeparator(text) {
			return b.firstLine + i
		}
	}
	if b.found && b.close.start == b.close.next || !b.found && veiledFence(data[b.body:]) {
		return r.toolsBelow(data, b)
	}
	return 0
}

// toolsBehindSeparator looks behind NEL, LS and PS, which end a line in YAML 1.1.
func toolsBehindSeparator(text []byte) bool {
	for _, separator := range [...]string{"\u0085", "\u2028", "\u2029"} {
		for rest := text; ; {
			_, after, ok := bytes.Cut(rest, []byte(separator))
			if !ok {
				break
			}
			if toolsKey(after) {
				return true
			}
			rest = after
		}
	}
	return false
}

// veiledFence tells a text that looks as if it began with --- alone on a line.
func veiledFence(text []byte) bool {
	l := nextLine(text, 0)
	return bytes.Equal(bytes.TrimFunc(l.text(text), unseen), []byte("---"))
}

// swallowed tells whether a line is part of a field that was not read as YAML.
func (r *reader) swallowed(l line) bool {
	if r.doc.valid {
		return false
	}
	for i := range r.doc.fields {
		if f := &r.doc.fields[i]; l.start >= f.Start && l.start < f.End {
			return f.recovered
		}
	}
	return true
}

func (r *reader) toolsBelow(data []byte, b *block) int {
	num := b.bodyLine
	for off := b.body; off < len(data); num++ {
		l := nextLine(data, off)
		if toolsKey(l.text(data)) {
			return num
		}
		off = l.next
	}
	return 0
}

// toolsKey tells a line that starts with the key allowed-tools in any spelling.
func toolsKey(text []byte) bool {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 || colon > 2*len(keyAllowedTools) {
		return false
	}
	key := strings.Trim(string(text[:colon]), " \t\"'-?")
	return flatKey(key) == flatTools
}
