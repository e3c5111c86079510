package lexical

import (
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// longestStem is the length in bytes above which a word is taken for a joined compound and stays as it is.
const longestStem = 20

// endless are the letters that no suffix of the English stemmer ends in: a word that ends in one of them is
// its own stem, which is worth knowing before the stemmer is asked.
const endless = "abfhjkopquvwxz"

// Stem returns the Snowball stem of a folded word: Russian for Cyrillic, English for Latin letters. What is
// no word of such a script, a short word and one with a digit (an identifier) is its own stem. It depends on
// the form alone, so that index and query agree.
func Stem(word string) string {
	if len(word) < 3 || len(word) > 2*longestStem {
		return word
	}
	cyrillic := false
	for _, r := range word {
		switch {
		case r >= 0x0400 && r <= 0x04FF:
			cyrillic = true
		case r < 'a' || r > 'z' && r < 0xC0 || r >= 0x0250:
			return word
		}
	}
	switch {
	case cyrillic:
		return russian.Stem(word, true)
	case len(word) > longestStem:
		return word
	}
	if strings.IndexByte(endless, word[len(word)-1]) >= 0 {
		return word
	}
	// Snowball leaves "analyses" and "analysis" apart; the plural of every Greek -ysis is -yses.
	if base, ok := strings.CutSuffix(word, "yses"); ok {
		word = base + "ysis"
	}
	return english.Stem(word, true)
}
