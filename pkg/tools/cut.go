package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// cut returns the first bytes of a text, at most n of them and no half character, and tells how many are left out.
func cut(text string, n int) (string, int) {
	if len(text) <= n {
		return text, 0
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], len(text) - n
}

// middle takes a piece out of the middle of a text of more than n bytes, and says so there.
func middle(text string, n int) (string, int) {
	if len(text) <= n {
		return text, 0
	}
	head, _ := cut(text, n/2)
	from := len(text) - (n - n/2)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	left := from - len(head)
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", head, left, text[from:]), left
}

// Fence puts text from elsewhere between two lines that cannot stand in it, with where it came from before them, so that
// a model can tell it from what it was told by the user.
func Fence(origin, text string) string {
	rail := strings.Repeat("~", max(3, longestRun(text, '~')+1))
	return fmt.Sprintf("%s\n%s\n%s\n%s", oneLine(origin), rail, strings.TrimRight(text, "\n"), rail)
}

// longestRun returns how often c stands in a row at most.
func longestRun(text string, c byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// oneLine makes one line of a text that is put into a sentence of ours.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// count says how many of something there are.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// size says how many bytes something has.
func size(n int64) string {
	switch {
	case n < 1000:
		return count(int(n), "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
