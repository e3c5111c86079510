package gateway

import (
	"strings"
	"unicode/utf8"
)

// Split cuts a Markdown text into parts that fit the limits: between paragraphs if possible, else between
// lines, sentences' ends, words, and at last anywhere between two characters. A block of code that is cut is
// closed in one part and opened again in the next. There is always at least one part, and no part is empty
// unless the text is.
func Split(text string, l Limits) []string {
	text = strings.Trim(text, "\n")
	var parts []string
	fence := ""
	for {
		text = fence + text
		if l.Text <= 0 || l.measure(text) <= l.Text {
			return append(parts, text)
		}
		n := cut(text, len(fence), l)
		head, open := text[:n], openFence(text[:n])
		text = strings.TrimLeft(text[n:], "\n")
		if open == "" {
			text = strings.TrimLeft(text, " ")
		}
		head = strings.TrimRight(head, " \n")
		fence = ""
		if open != "" {
			head += "\n" + fenceMark(open)
			fence = open + "\n"
		}
		parts = append(parts, head)
		if strings.TrimSpace(text) == "" || open != "" && strings.TrimSpace(text) == fenceMark(open) {
			return parts
		}
	}
}

// reserve is what the closing of a block may need.
const reserve = 16

// cut returns where the first part of a text ends, after from bytes that every part begins with.
func cut(text string, from int, l Limits) int {
	limit := max(l.Text-reserve, 1)
	n := fits(text, limit, l)
	if n <= from {
		n = from + runeLen(text[from:]) // a limit below a single character: go on nevertheless
	}
	head := text[from:n]
	for _, sep := range []string{"\n\n", "\n", ". ", "。", " "} {
		if i := strings.LastIndex(head, sep); i >= len(head)/3 && i > 0 {
			return from + i + len(sep)
		}
	}
	return n
}

// fits returns how many bytes of the text, whole characters, are within the limit.
func fits(text string, limit int, l Limits) int {
	if l.Measure == nil {
		n := min(limit, len(text))
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		return n
	}
	low, high := 0, len(text)
	for low < high {
		mid := (low + high + 1) / 2
		for mid < high && !utf8.RuneStart(text[mid]) {
			mid++
		}
		if l.measure(text[:mid]) <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low > 0 && low < len(text) && !utf8.RuneStart(text[low]) {
		low--
	}
	return low
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// openFence returns the line that opens the block of code in which the text ends, "" when it ends in none. A
// line that is longer than 40 bytes is shortened to its mark.
func openFence(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		mark := fenceMark(line)
		switch {
		case mark == "":
		case open == "":
			open = line
		case strings.HasPrefix(mark, fenceMark(open)) && strings.TrimSpace(line) == mark:
			open = ""
		}
	}
	if len(open) > 40 {
		open = fenceMark(open)
	}
	return open
}

// maxFence bounds the mark of a block of code: with it, a closing line fits into what is reserved.
const maxFence = 12

// fenceMark returns the mark at the beginning of a line that opens or closes a block of code: three or more
// backquotes or tildes.
func fenceMark(line string) string {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		if n := len(s) - len(strings.TrimLeft(s, c)); n >= 3 && n <= maxFence {
			return s[:n]
		}
	}
	return ""
}
