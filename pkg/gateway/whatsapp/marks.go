package whatsapp

import (
	"regexp"
	"strings"
)

var (
	heading = regexp.MustCompile(`^#{1,6}\s+(.*?)[# ]*$`)
	bullet  = regexp.MustCompile(`^(\s*)[*+]\s+`)
	strong  = regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*|__([^_\s](?:[^_]*[^_\s])?)__`)
	light   = regexp.MustCompile(`(^|[^*\w])\*([^*\s](?:[^*]*[^*\s])?)\*($|[^*\w])`)
	through = regexp.MustCompile(`~~([^~]+)~~`)
	link    = regexp.MustCompile(`\[([^\]]+)\]\(((?:https?://|mailto:)[^)\s]+)\)`)
)

// Marks turns Markdown into what WhatsApp shows: *bold*, _italic_, ~struck through~, code as it is; headings become bold, links a text with its address.
func Marks(text string) string {
	lines, inCode := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			inCode = !inCode
			lines[i] = "```" // a language would be shown as text
			continue
		}
		if !inCode {
			lines[i] = markLine(line)
		}
	}
	return strings.Join(lines, "\n")
}

// bold stands for the mark of bold until italics are done.
const bold = "\x00"

func markLine(line string) string {
	if m := heading.FindStringSubmatch(line); m != nil {
		line = "**" + strings.ReplaceAll(m[1], "**", "") + "**"
	}
	line = bullet.ReplaceAllString(line, "$1- ")
	parts := strings.Split(strings.ReplaceAll(line, bold, ""), "`")
	for i := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			continue // code
		}
		s := strong.ReplaceAllString(parts[i], bold+"$1$2"+bold)
		s = light.ReplaceAllString(s, "${1}_${2}_$3")
		s = through.ReplaceAllString(s, "~$1~")
		s = link.ReplaceAllString(s, "$1 ($2)")
		parts[i] = strings.ReplaceAll(s, bold, "*")
	}
	return strings.Join(parts, "`")
}
