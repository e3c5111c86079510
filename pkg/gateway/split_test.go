package gateway_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// CG-04: parts are within the limit and in order, cut at sensible places; blocks of code are closed and
// opened again.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"short", "abc", 100, []string{"abc"}},
		{"empty", "", 100, []string{""}},
		{"paragraphs", strings.Repeat("a", 30) + "\n\n" + strings.Repeat("b", 30), 60, []string{strings.Repeat("a", 30), strings.Repeat("b", 30)}},
		{"words", "aaaa bbbb cccc dddd", 26, []string{"aaaa bbbb cccc dddd"}},
		{"between words", "aaaaa bbbbb ccccc ddddd eeeee", 28, []string{"aaaaa bbbbb", "ccccc ddddd eeeee"}},
		{"one long word", strings.Repeat("x", 50), 36, []string{strings.Repeat("x", 20), strings.Repeat("x", 30)}},
		{"code", "```go\n" + strings.Repeat("line\n", 8) + "```", 40, []string{"```go\nline\nline\nline\n```", "```go\nline\nline\nline\nline\nline\n```"}},
	} {
		got := gateway.Split(tt.text, gateway.Limits{Text: tt.limit})
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	text := strings.Repeat("A paragraph of some words, and more of them.\n\n", 100) + "```go\n" + strings.Repeat("code()\n", 1000) + "```\n" + strings.Repeat("y", 9000)
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	parts := gateway.Split(text, gateway.Limits{Text: 4096, Measure: units})
	all := 0
	for i, p := range parts {
		if units(p) > 4096 || strings.Count(p, "```")%2 != 0 {
			t.Errorf("part %d has %d units and %d marks of code", i, units(p), strings.Count(p, "```"))
		}
		all += strings.Count(p, "code()") + strings.Count(p, "y")
	}
	if all != 1000+9000 {
		t.Errorf("got %d of 10000 pieces", all)
	}
}

// FuzzSplit: nothing is lost but white space and marks of code, and no part is too long.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a b c", "```\nx\n```\n\n~~~\n```\n~~~", "单词单词单词单词单词单词单词单词单词单词", "````x\n```\ny\n````", strings.Repeat("`", 80) + "\n"} {
		f.Add(s, 40)
	}
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \n`~", r) {
				return -1
			}
			return r
		}, s)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 100 || limit > 1000 || len(s) > 5000 || !utf8.ValidString(s) {
			return
		}
		var got strings.Builder
		for _, p := range gateway.Split(s, gateway.Limits{Text: limit}) {
			if len(p) > limit || !utf8.ValidString(p) {
				t.Errorf("got a part of %d bytes, limit %d: %q", len(p), limit, p)
			}
			got.WriteString(p)
		}
		if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") && letters(got.String()) != letters(s) {
			t.Errorf("got %q, want %q", got.String(), s)
		}
	})
}
