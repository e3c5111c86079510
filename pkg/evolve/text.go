package evolve

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fence shows text from elsewhere to a model: after a label that says what it is, between fences that it cannot close.
func fence(label, text string) string {
	run, longest := 0, 2
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	ticks := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return label + "\n" + ticks + "\n" + text + ticks + "\n"
}

// clip shortens a text to n characters and says so.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return firstRunes(text, n) + fmt.Sprintf("\n[… %d more characters]", utf8.RuneCountInString(text)-n)
}

// line makes a text one line of at most n characters.
func line(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return firstRunes(text, n-1) + "…"
}

func firstRunes(text string, n int) string {
	i := 0
	for at := range text {
		if i == n {
			return text[:at]
		}
		i++
	}
	return text
}
