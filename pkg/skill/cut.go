package skill

import (
	"bytes"

	yaml "go.yaml.in/yaml/v3"
)

// cut is a frontmatter as one reader of the file sees it.
type cut struct {
	text []byte
	line int // 1-based line of the file on which text starts
}

func cutProblem(code, msg, hint string) *Diagnostic {
	return &Diagnostic{Code: code, Severity: Error, Line: 1, Message: msg, Hint: hint}
}

func noFrontmatter() *Diagnostic {
	return cutProblem("frontmatter-missing", "the file does not start with a frontmatter", "put --- on the first line, then name and description, and --- again")
}

func notClosed() *Diagnostic {
	return cutProblem("frontmatter-unclosed", "the frontmatter is not closed", "add a line --- after its last field")
}

// cutTolerant takes the block as Parse does, but not every form of it.
func cutTolerant(data []byte) (cut, *Diagnostic) {
	doc := read(data)
	for _, d := range doc.block.problems {
		switch d.Code {
		case "fence-blanks":
		case "frontmatter-missing", "frontmatter-unfenced":
			return cut{}, noFrontmatter()
		default:
			d.Severity = Error
			return cut{}, &d
		}
	}
	return cut{doc.front(), doc.block.firstLine}, nil
}

// cutReference cuts as the reference validator does: at the first two places
// with three hyphens, wherever they stand.
func cutReference(data []byte) (cut, *Diagnostic) {
	if !bytes.HasPrefix(data, []byte("---")) {
		return cut{}, noFrontmatter()
	}
	rest := data[3:]
	end := bytes.Index(rest, []byte("---"))
	if end < 0 {
		return cut{}, notClosed()
	}
	return cut{rest[:end], 1}, nil
}

// cutGH cuts as gh does: empty lines may come first, and the block ends at the
// next line that starts with three hyphens.
func cutGH(data []byte) (cut, *Diagnostic) {
	text := bytes.TrimLeft(data, "\r\n")
	if !bytes.HasPrefix(text, []byte("---")) {
		return cut{}, noFrontmatter()
	}
	text = bytes.TrimLeft(text[3:], "\r\n")
	end := bytes.Index(text, []byte("\n---"))
	if end < 0 {
		return cut{}, notClosed()
	}
	return cut{text[:end], lineAt(data, len(data)-len(text))}, nil
}

// cutAnthropic cuts as Anthropic's validator does: the first line is three
// hyphens alone, and after at least one more line comes one that starts with
// three hyphens.
func cutAnthropic(data []byte) (cut, *Diagnostic) {
	first := nextLine(data, 0)
	if string(first.text(data)) != "---" || first.end == first.next {
		return cut{}, noFrontmatter()
	}
	for l := nextLine(data, first.next); l.start < len(data); l = nextLine(data, l.next) {
		if l.start > first.next && bytes.HasPrefix(l.text(data), []byte("---")) {
			return cut{data[first.next:l.start], 2}, nil
		}
	}
	return cut{}, notClosed()
}

// strictProblem says what in a mapping lies outside the YAML subset of the
// reference validator: no flow style, anchors, tags, duplicate keys or tabs as
// indentation, and sibling maps indented alike.
func strictProblem(text []byte, root *yaml.Node) (num int, why string) {
	if num := tabLine(text); num > 0 {
		return num, "a tab where blanks belong"
	}
	return strictNode(root)
}

// tabLine finds a tab in the indentation or right behind a key's colon.
func tabLine(text []byte) int {
	num := 1
	for off := 0; off < len(text); num++ {
		l := nextLine(text, off)
		t := l.text(text)
		indent := indentOf(t)
		if bytes.IndexByte(t[:indent], '\t') >= 0 && indent < len(t) {
			return num
		}
		if _, value, ok := splitKey(trimRight(t[indent:])); ok {
			rest := t[indent+value:]
			if n := indentOf(rest); n < len(rest) && bytes.IndexByte(rest[:n], '\t') >= 0 {
				return num
			}
		}
		off = l.next
	}
	return 0
}

func strictNode(n *yaml.Node) (num int, why string) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return n.Line, "an anchor or alias"
	case n.Style&yaml.TaggedStyle != 0:
		return n.Line, "a tag"
	case n.Style&yaml.FlowStyle != 0:
		return n.Line, "a list or map in brackets"
	}
	if n.Kind == yaml.MappingNode {
		if num, why := strictMapping(n); why != "" {
			return num, why
		}
	}
	for _, c := range n.Content {
		if num, why := strictNode(c); why != "" {
			return num, why
		}
	}
	return 0, ""
}

func strictMapping(n *yaml.Node) (num int, why string) {
	seen := make(map[string]bool)
	column := 0
	pairs(n, func(k, v *yaml.Node) {
		switch {
		case why != "":
		case seen[k.Value]:
			num, why = k.Line, "a key that is given twice"
		case k.Value == "<<" && k.Style == 0:
			num, why = k.Line, "a merge key"
		case v.Kind == yaml.MappingNode && column > 0 && v.Column != column:
			num, why = v.Line, "maps that are indented differently"
		}
		if v.Kind == yaml.MappingNode {
			column = v.Column
		}
		seen[k.Value] = true
	})
	return num, why
}
