package lexical

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foreign cuts a unit with characters beyond ASCII: compatibility forms are composed (NFKC), words are cut by
// UAX #29, scripts that are written without spaces give bigrams, and everything else is folded to lower case
// without its Latin accents.
func (a *Analyzer) foreign(text []byte) {
	text = norm.NFKC.Bytes(text)
	var run []rune // adjoining characters of scripts without spaces
	var parts [][]byte
	flush := func() {
		if len(parts) > 0 {
			a.foreignWords(parts)
		}
		a.bigrams(run)
		parts, run = parts[:0], run[:0]
	}
	for it := words.FromBytes(text); it.Next(); {
		w := it.Value()
		r, _ := utf8.DecodeRune(w)
		switch {
		case spaceless(r):
			if len(parts) > 0 {
				flush()
			}
			run = append(run, []rune(string(w))...)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if len(run) > 0 {
				flush()
			}
			parts = append(parts, w)
		case len(w) == 1 && class[w[0]] == classJoin && len(parts) > 0:
			// a connector: the next word belongs to the same compound
		default:
			flush()
		}
	}
	flush()
}

// foreignWords adds the words of one compound in their folded form.
func (a *Analyzer) foreignWords(parts [][]byte) {
	role := Word
	if len(parts) > 1 {
		role = Part
	}
	joined := ""
	for _, p := range parts {
		w := Fold(string(p))
		if len(w) <= 3*maxWord {
			a.add([]byte(w), role)
		}
		joined += w
	}
	if len(parts) > 1 && len(parts) <= maxParts && len(joined) <= 3*maxWord {
		a.add([]byte(joined), Joined)
	}
}

// bigrams adds a run of a script without spaces: every pair of neighbours, and every single character for
// queries of one character.
func (a *Analyzer) bigrams(run []rune) {
	if len(run) == 1 {
		a.add([]byte(string(run)), Word)
		return
	}
	for i := range run {
		if i+1 < len(run) {
			a.add([]byte(string(run[i:i+2])), Word)
		}
		a.add([]byte(string(run[i])), Single)
	}
}

// spaceless reports whether r belongs to a script that does not put spaces between words, or whose words are
// best matched by their syllables.
func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 0x30FC // the long vowel mark of both kana
}

// Fold returns the form of s that is compared: NFKC, full case folding independent of any locale, and Latin,
// Greek and Cyrillic-free of accents (é is e, İ and ı are i; й stays a letter of its own).
func Fold(s string) string {
	s = cases.Fold().String(norm.NFKC.String(s))
	out := make([]rune, 0, len(s))
	latin := false
	for _, r := range norm.NFD.String(s) {
		if r >= 0x0300 && r <= 0x036F {
			if latin {
				continue
			}
		} else {
			latin = unicode.In(r, unicode.Latin, unicode.Greek)
		}
		if r == 'ı' {
			r = 'i'
		}
		out = append(out, r)
	}
	return norm.NFC.String(string(out))
}
