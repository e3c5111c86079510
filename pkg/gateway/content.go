package gateway

import (
	"fmt"
	"strings"
	"unicode"
)

// The texts of messages that are none: channels put them where the text would be.

// PlaceText is the text of a place on a map, in degrees.
func PlaceText(latitude, longitude float64, names ...string) string {
	text := fmt.Sprintf("Location: %.6f, %.6f", latitude, longitude)
	if about := listed(names); about != "" {
		text += " (" + about + ")"
	}
	return text
}

// ContactText is the text of somebody's card: a name and numbers.
func ContactText(name string, numbers ...string) string {
	about := listed(append([]string{name}, numbers...))
	if about == "" {
		return ""
	}
	return "Contact: " + about
}

// PollText is the text of a poll.
func PollText(question string, options []string) string {
	var b strings.Builder
	b.WriteString("Poll: " + oneLine(question, 500))
	for _, o := range options {
		b.WriteString("\n- " + oneLine(o, 200))
	}
	return b.String()
}

// listed joins what is not blank, each on one line.
func listed(words []string) string {
	var kept []string
	for _, w := range words {
		if w = oneLine(w, 200); w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, ", ")
}

// Blank reports whether a text shows nothing to read: spaces, marks alone, characters without a shape.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
	})
}
