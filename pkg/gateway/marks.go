package gateway

import (
	"regexp"
	"strings"
)

// Marks turns Markdown into the simple marks that several platforms share: bold, italic, struck through, code
// as it is; headings become bold.
type Marks struct {
	Bold, Italic, Struck string // before and behind
	Bullet               string // of lists
	Link                 string // $1 is the text and $2 the address
	Quote                string // what stands for "> " when it is escaped; "": it is not
	Escape               func(string) string
}

var (
	headingLine = regexp.MustCompile(`^#{1,6}\s+(.*?)[# ]*$`)
	bulletLine  = regexp.MustCompile(`^(\s*)[-*+]\s+`)
	strongMark  = regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*|__([^_\s](?:[^_]*[^_\s])?)__`)
	lightMark   = regexp.MustCompile(`(^|[^*\w])\*([^*\s](?:[^*]*[^*\s])?)\*($|[^*\w])`)
	struckMark  = regexp.MustCompile(`~~([^~]+)~~`)
	linkMark    = regexp.MustCompile(`\[([^\]|]+)\]\(((?:https?://|mailto:)[^)\s|]+)\)`)
)

// Text converts a text.
func (m Marks) Text(text string) string {
	if m.Escape != nil {
		text = m.Escape(text)
	}
	lines, inCode := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			inCode = !inCode
			lines[i] = "```" // a language would be shown as text
			continue
		}
		if !inCode {
			lines[i] = m.line(line)
		}
	}
	return strings.Join(lines, "\n")
}

// strong stands for the mark of bold until italics are done.
const strong = "\x00"

func (m Marks) line(line string) string {
	if h := headingLine.FindStringSubmatch(line); h != nil {
		line = "**" + strings.ReplaceAll(h[1], "**", "") + "**"
	}
	line = bulletLine.ReplaceAllString(line, "${1}"+m.Bullet+" ")
	if m.Quote != "" && strings.HasPrefix(line, m.Quote) {
		line = "> " + line[len(m.Quote):]
	}
	parts := strings.Split(strings.ReplaceAll(line, strong, ""), "`")
	for i := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			continue // code
		}
		s := strongMark.ReplaceAllString(parts[i], strong+"${1}${2}"+strong)
		s = lightMark.ReplaceAllString(s, "${1}"+m.Italic+"${2}"+m.Italic+"${3}")
		s = struckMark.ReplaceAllString(s, m.Struck+"${1}"+m.Struck)
		s = linkMark.ReplaceAllString(s, m.Link)
		parts[i] = strings.ReplaceAll(s, strong, m.Bold)
	}
	return strings.Join(parts, "`")
}
