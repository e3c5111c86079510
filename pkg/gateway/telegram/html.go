package telegram

import (
	"html"
	"regexp"
	"strings"
)

// HTML turns Markdown into the HTML that Telegram shows: bold, italic, struck through, code, links, quotes;
// headings become bold, list marks dots, tables code. The tags are always balanced, whatever the text is, and
// nobody is mentioned.
func HTML(text string) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		if i > 0 {
			b.WriteByte('\n')
		}
		if n := block(&b, lines[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteString(plainLine(lines[i]))
		i++
	}
	return b.String()
}

// block writes what takes several lines, and returns how many: 0 for an ordinary line.
func block(b *strings.Builder, lines []string) int {
	if mark := fence.FindStringSubmatch(lines[0]); mark != nil {
		n := 1
		for n < len(lines) && strings.TrimSpace(lines[n]) != mark[1] {
			n++
		}
		code := html.EscapeString(strings.Join(lines[1:n], "\n"))
		if lang := strings.TrimSpace(language.FindString(mark[2])); lang != "" {
			b.WriteString(`<pre><code class="language-` + lang + `">` + code + "</code></pre>")
		} else {
			b.WriteString("<pre>" + code + "</pre>")
		}
		return min(n+1, len(lines))
	}
	if n := run(lines, "|"); n > 1 {
		b.WriteString("<pre>" + html.EscapeString(strings.Join(lines[:n], "\n")) + "</pre>")
		return n
	}
	if n := run(lines, ">"); n > 0 {
		var quoted []string
		for _, l := range lines[:n] {
			quoted = append(quoted, inline(strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(l, " "), ">"), " "), 0))
		}
		b.WriteString("<blockquote>" + strings.Join(quoted, "\n") + "</blockquote>")
		return n
	}
	return 0
}

var (
	fence    = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")
	language = regexp.MustCompile(`^\s*[A-Za-z0-9+#-]{1,20}`)
	heading  = regexp.MustCompile(`^#{1,6}\s+(.*)$`)
	bullet   = regexp.MustCompile(`^(\s*)[-*+]\s+`)
)

// run counts the lines at the beginning that start with a mark.
func run(lines []string, mark string) (n int) {
	for n < len(lines) && strings.HasPrefix(strings.TrimLeft(lines[n], " "), mark) {
		n++
	}
	return n
}

func plainLine(line string) string {
	if m := heading.FindStringSubmatch(line); m != nil {
		return "<b>" + inline(strings.TrimRight(m[1], "# "), 0) + "</b>"
	}
	if m := bullet.FindStringSubmatch(line); m != nil {
		return m[1] + "• " + inline(line[len(m[0]):], 0)
	}
	return inline(line, 0)
}

// maxDepth bounds marks within marks.
const maxDepth = 8

var marks = []struct{ mark, tag string }{{"**", "b"}, {"__", "b"}, {"~~", "s"}, {"*", "i"}, {"_", "i"}}

// inline turns the marks of one line into tags. A mark without its other half is text.
func inline(s string, depth int) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		out, n := "", 0
		if depth < maxDepth {
			out, n = spanAt(s, i, depth)
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(html.EscapeString(harmless(s[from:i])))
		b.WriteString(out)
		i += n
		from = i
	}
	b.WriteString(html.EscapeString(harmless(s[from:])))
	return b.String()
}

// spanAt returns the tags for what begins at i, and how long that is: 0 when nothing does.
func spanAt(s string, i, depth int) (string, int) {
	rest := s[i:]
	switch s[i] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("*_`[]~\\", rest[1]) >= 0 {
			return html.EscapeString(rest[1:2]), 2
		}
	case '`':
		n := len(rest) - len(strings.TrimLeft(rest, "`"))
		if end := strings.Index(rest[n:], rest[:n]); end > 0 {
			return "<code>" + html.EscapeString(rest[n:n+end]) + "</code>", n + end + n
		}
	case '[':
		return linkAt(rest, depth)
	}
	for _, m := range marks {
		if strings.HasPrefix(rest, m.mark) {
			return emphasis(s, i, m.mark, m.tag, depth)
		}
	}
	return "", 0
}

// emphasis: no white space within the marks, and no part of a word before or behind, so that 2*3*4 and
// snake_case_names stay.
func emphasis(s string, i int, mark, tag string, depth int) (string, int) {
	rest := s[i+len(mark):]
	if i > 0 && (wordByte(s[i-1]) || s[i-1] == mark[0]) || rest == "" || rest[0] == ' ' || rest[0] == mark[0] {
		return "", 0
	}
	for from := 1; from <= len(rest)-len(mark); {
		end := strings.Index(rest[from:], mark)
		if end < 0 {
			return "", 0
		}
		end += from
		after := end + len(mark)
		if rest[end-1] != ' ' && (after == len(rest) || !wordByte(rest[after])) {
			return "<" + tag + ">" + inline(rest[:end], depth+1) + "</" + tag + ">", len(mark) + after
		}
		from = end + 1
	}
	return "", 0
}

func wordByte(c byte) bool {
	return c >= 0x80 || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// linkAt is [text](address), where the address is one of the web or of mail.
func linkAt(s string, depth int) (string, int) {
	text := strings.Index(s, "](")
	if text < 1 {
		return "", 0
	}
	end := strings.IndexByte(s[text:], ')')
	if end < 0 {
		return "", 0
	}
	address := s[text+2 : text+end]
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(address), scheme) && !strings.ContainsAny(address, " \"<>") {
			return `<a href="` + html.EscapeString(address) + `">` + inline(s[1:text], maxDepth) + "</a>", text + end + 1
		}
	}
	return "", 0
}

var at = regexp.MustCompile(`(^|[^A-Za-z0-9_.])@`)

// harmless breaks what would mention somebody, also when the name follows behind a mark.
func harmless(s string) string { return at.ReplaceAllString(s, "$1@\u200b") }
