package skill

import (
	"bytes"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// Bounds for values built from YAML, against aliases that multiply.
const (
	maxValues = 20_000
	maxNested = 100
	maxFront  = 64 << 10 // bytes of frontmatter that are read; the largest real one has 10 KB
)

// document is a text cut into frontmatter fields and body.
type document struct {
	data     []byte
	block    *block
	fields   []Field
	flow     bool // the whole frontmatter is one flow mapping: no field has lines of its own
	valid    bool // the frontmatter is a YAML mapping, or empty
	problems []Diagnostic
}

// read cuts a text (valid UTF-8) into fields and body.
func read(data []byte) *document {
	d := &document{data: data, block: locate(data)}
	if d.block.found && len(d.block.lines) > 0 {
		d.decode()
	} else {
		d.valid = true
	}
	d.problems = append(d.block.problems, d.problems...)
	return d
}

// front is the text between the fences.
func (d *document) front() []byte {
	lines := d.block.lines
	if len(lines) == 0 {
		return nil
	}
	return d.data[lines[0].start:lines[len(lines)-1].next]
}

const frontTooLarge = "the frontmatter is larger than 64 KiB and is not read"

func (d *document) decode() {
	if len(d.front()) > maxFront {
		d.warn("frontmatter-large", d.block.firstLine, frontTooLarge, "close it with --- after its last field")
		return
	}
	if d.simple() {
		return
	}
	d.control()
	root, ok := d.parse()
	if !ok && d.block.reconsider(d.data) {
		root, ok = d.parse()
	}
	switch {
	case ok && root == nil:
		d.valid = true
	case ok && root.Kind == yaml.MappingNode:
		d.valid = true
		d.fromMapping(root)
	default:
		d.recoverFields()
	}
}

// control reports the first character that YAML does not allow.
func (d *document) control() {
	for i, l := range d.block.lines {
		text := l.text(d.data)
		if clean := printable(text); !bytes.Equal(clean, text) {
			d.warn("yaml-control", d.block.firstLine+i, "there are control characters or line separators in the frontmatter; they are read as blanks", "remove them")
			return
		}
	}
}

// parse gives the root node of the frontmatter; nil when it is empty.
func (d *document) parse() (*yaml.Node, bool) {
	for _, l := range d.block.lines {
		if t := l.text(d.data); bytes.HasPrefix(t, []byte("---")) || bytes.HasPrefix(t, []byte("...")) {
			return nil, false // a second YAML document would hide what follows
		}
	}
	return parseYAML(printable(d.front()))
}

func parseYAML(text []byte) (*yaml.Node, bool) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil {
		return nil, false
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "" {
		return nil, true
	}
	return doc.Content[0], true
}

// printable returns text with every character that YAML forbids, or that only
// some YAML versions take for a line break, replaced by blanks of the same
// length. It copies only if there is something to replace.
func printable(text []byte) []byte { return blanked(text, unprintable) }

func blanked(text []byte, bad func(rune) bool) []byte {
	var out []byte
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if bad(r) {
			if out == nil {
				out = bytes.Clone(text)
			}
			copy(out[i:i+n], "   ")
		}
		i += n
	}
	if out == nil {
		return text
	}
	return out
}

func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r <= 0x9f || oldBreak(r) || r == '\ufffe' || r == '\uffff'
}

// oldBreak tells NEL, LS and PS: line breaks in YAML 1.1 alone.
func oldBreak(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' }

// fromMapping makes fields of a mapping that YAML read without complaint.
func (d *document) fromMapping(root *yaml.Node) {
	b, v := d.block, values{left: maxValues}
	d.flow = root.Style&yaml.FlowStyle != 0
	d.fields = make([]Field, 0, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		at := min(max(key.Line-1, 0), len(b.lines)-1)
		next := len(b.lines)
		if i+2 < len(root.Content) {
			next = min(max(root.Content[i+2].Line-1, at+1), len(b.lines))
		}
		if key = v.key(key); key == nil {
			continue
		}
		f := Field{Key: key.Value, Value: v.of(root.Content[i+1], 0), Line: b.firstLine + at}
		f.Start, f.End = d.span(at, next)
		d.fields = append(d.fields, f)
	}
	if v.left < 0 {
		d.warn("yaml-too-large", b.firstLine, "the frontmatter holds more values than are read", "keep it short")
	}
	if v.oddKey > 0 {
		d.warn("yaml-key", b.firstLine+v.oddKey-1, "a key of a mapping is a list or mapping itself and is not read", "check the brackets")
	}
}

// span is the extent of lines[at:next] without the blank lines and comments at
// the fields' own indentation that follow the field.
func (d *document) span(at, next int) (start, end int) {
	lines := d.block.lines
	base := indentOf(lines[at].text(d.data))
	for next > at+1 {
		text := lines[next-1].text(d.data)
		indent := indentOf(text)
		if indent < len(text) && (indent > base || text[indent] != '#') {
			break
		}
		next--
	}
	return lines[at].start, lines[next-1].next
}

func (d *document) warn(code string, num int, msg, hint string) {
	d.problems = append(d.problems, Diagnostic{Code: code, Severity: Warning, Line: num, Message: msg, Hint: hint})
}

// values turns YAML nodes into plain Go values.
type values struct {
	left   int // how many more values may be built
	oddKey int // line of the first key that is no text
}

func (v *values) of(n *yaml.Node, depth int) any {
	v.left--
	if v.left < 0 || depth > maxNested {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return v.of(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			list = append(list, v.of(c, depth+1))
		}
		return list
	case yaml.MappingNode:
		return v.mapping(n, depth)
	}
	if isNull(n) {
		return nil
	}
	return n.Value
}

func (v *values) mapping(n *yaml.Node, depth int) map[string]any {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := v.key(n.Content[i]); key != nil {
			m[key.Value] = v.of(n.Content[i+1], depth+1)
		}
	}
	return m
}

// key is the scalar that a key is; nil for a key that is none.
func (v *values) key(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode {
		return n
	}
	if v.oddKey == 0 {
		v.oddKey = n.Line
	}
	return nil
}

// isNull tells a plain scalar that is nothing or null. A quoted "null" is text.
func isNull(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Kind != yaml.ScalarNode || n.Style&quoted != 0 {
		return false
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return n.Style&yaml.TaggedStyle == 0 || n.Tag == "!!null"
	}
	return false
}
