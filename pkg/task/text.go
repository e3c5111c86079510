package task

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine makes a text a part of one line of at most n characters. What cannot be seen is taken out.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)), " ")
	return cut(s, n)
}

// cut shortens a text to n characters, the last of which then says so.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}
