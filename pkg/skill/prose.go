package skill

import (
	"bytes"
	"strings"
	"unicode"
)

// firstProse is the first line of a Markdown text that reads like a sentence,
// cut to the length of a description; else its first heading; else "". Code,
// comments, tables, pictures and rules are passed over.
func firstProse(body []byte) string {
	p := prose{}
	for off := 0; off < len(body) && p.found == ""; {
		l := nextLine(body, off)
		p.add(string(bytes.TrimSpace(l.text(body))))
		off = l.next
	}
	if p.found == "" {
		p.found = p.heading
	}
	if r := []rune(p.found); len(r) > maxDescription {
		return strings.TrimSpace(string(r[:maxDescription]))
	}
	return p.found
}

type prose struct {
	fence          string // what ends the code block or comment that we are in
	heading, found string
}

func (p *prose) add(text string) {
	switch {
	case p.fence != "":
		if strings.Contains(text, p.fence) {
			p.fence = ""
		}
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		p.fence = text[:3]
	case strings.HasPrefix(text, "<!--"):
		if !strings.Contains(text, "-->") {
			p.fence = "-->"
		}
	case strings.HasPrefix(text, "#!"), strings.HasPrefix(text, "|"), strings.HasPrefix(text, "!["), strings.HasPrefix(text, "[!["):
	case strings.HasPrefix(text, "#"):
		if p.heading == "" {
			p.heading = plain(strings.TrimLeft(text, "#"))
		}
	default:
		p.found = plain(text)
	}
}

// plain takes the Markdown off the ends of a line; "" when no letter is left.
func plain(text string) string {
	text = strings.TrimLeft(text, ">*-+ \t")
	text = strings.TrimSpace(strings.ReplaceAll(text, "**", ""))
	text = strings.TrimRight(text, "#* \t")
	if strings.IndexFunc(text, unicode.IsLetter) < 0 {
		return ""
	}
	return string(printable([]byte(text)))
}
