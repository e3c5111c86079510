package safety

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// isDefensive reports whether the skill's own title or description is about
// attacks. It only ever softens rules that are about words; what would really
// run is judged as before, because anybody can write "security" into a
// description.
func isDefensive(texts []Text) bool {
	for _, t := range texts {
		if t.Path == "" || strings.EqualFold(t.Path, skill.FileName) {
			about := head(t.Data)
			n := aboutAttacks().count(about)
			return n > 0 && n+aboutChecks().count(about) > 1
		}
	}
	return false
}

// head is where a skill says what it is: the frontmatter and the first heading,
// or the first lines.
func head(text []byte) []byte {
	regions := regionsOf(text[:min(len(text), 4000)], prose)
	end := 0
	if len(regions) > 0 && regions[0].kind == front {
		end = regions[0].end
	}
	return text[:min(len(text), end+250)]
}

// softened says by how many steps a finding at off is milder because the place
// speaks about attacks: one when the skill as a whole does, one when the words
// before it introduce a citation, one when it is put in quotation marks.
//
// An address is more than a word: what names one is not softened by the skill's
// subject alone. In a program, or in a block of one, quotation marks mean nothing;
// there a skill about attacks may name them in a text that nothing runs.
func (s *scanner) softened(off int, m *match) int {
	before, cited := s.cites(off)
	quote := quoted(before)
	if s.kind == code && (!s.defensive() || !quote || runsText().in(before)) {
		return 0
	}
	steps := 0
	if s.defensive() && (quote || cited || !addresses(m)) {
		steps++
	}
	if cited {
		steps++
	}
	if quote && s.kind != code && s.regionAt(off).speaks() && (s.defensive() || m.words()) {
		steps++
	}
	return steps
}

// words reports whether a match is of a rule about words, not about commands.
func (m *match) words() bool {
	return m.rule != nil && (m.rule.flag == FlagInjection || strings.HasPrefix(m.rule.id, "asks-"))
}

// addresses reports whether a match names a real address.
func addresses(m *match) bool {
	return bytes.Contains(m.data[m.start:m.end], []byte("://"))
}

// cites looks at the line up to off and the few lines above it.
func (s *scanner) cites(off int) (before []byte, cited bool) {
	text := s.text.Data
	start := bytes.LastIndexByte(text[:off], '\n') + 1
	for off < len(text) && (text[off] == '"' || text[off] == '\'' || text[off] == '`') {
		off++ // a match may begin with the quotation mark
	}
	before = text[start:off]
	from := max(0, start-300)
	if s.regionAt(0).kind == front && off >= s.regionAt(0).end {
		from = max(from, s.regionAt(0).end)
	}
	return before, citing().in(text[from:off])
}

// quoted reports whether a quotation is open at the end of a line's beginning.
func quoted(before []byte) bool {
	return bytes.Count(before, []byte(`"`))%2 == 1 || bytes.Count(before, []byte("'"))%2 == 1 && bytes.HasSuffix(before, []byte("'")) || bytes.Count(before, []byte("`"))%2 == 1 ||
		bytes.Count(before, []byte("“")) > bytes.Count(before, []byte("”"))
}

// excerpt is the line that starts at start, cut to size around off, with what
// cannot be seen written as escapes and secrets masked.
func excerpt(text []byte, start, off int) string {
	end := len(text)
	if i := bytes.IndexAny(text[start:], "\r\n"); i >= 0 {
		end = start + i
	}
	lead, tail := "", ""
	if from := off - excerptSize/4; from > start && end-start > excerptSize {
		start, lead = from, "…"
	}
	if end-start > excerptSize {
		end, tail = start+excerptSize, "…"
	}
	for start > 0 && start < end && !utf8.RuneStart(text[start]) {
		start++
	}
	line := strings.ToValidUTF8(string(text[start:end]), "")
	return lead + maskSecrets(strings.TrimSpace(visible(line))) + tail
}

// visible writes control and format characters as <U+XXXX>.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= 0xE0000:
			b.WriteString(codepoint(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func codepoint(r rune) string {
	const hex = "0123456789ABCDEF"
	digits := []byte{}
	for ; r > 0 || len(digits) < 4; r >>= 4 {
		digits = append([]byte{hex[r&15]}, digits...)
	}
	return "<U+" + string(digits) + ">"
}
