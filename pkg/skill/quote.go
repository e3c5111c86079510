package skill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote writes a text as a YAML scalar on one line: plain where every YAML
// parser reads it back as this text, else in double quotes.
func quote(s string) string {
	if plainSafe(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unprintable(r) || r == '\ufeff':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainSafe is narrower than YAML: it leaves out whatever some parser reads as
// another type or trips over.
func plainSafe(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if s == "" || !unicode.IsLetter(first) && !unicode.IsDigit(first) || unicode.IsSpace(last) || last == ':' || typed(s) {
		return false
	}
	prev := rune(0)
	for _, r := range s {
		if unprintable(r) || r == '\ufeff' || prev == ':' && unicode.IsSpace(r) || r == '#' && unicode.IsSpace(prev) {
			return false
		}
		prev = r
	}
	return true
}

// typed tells a text that a YAML parser may take for a boolean, null, number or
// date.
func typed(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return true
	}
	return s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEFxXoOtTzZ_.:+- ") == ""
}
