package lexical

// unit is a maximal run of text that is analyzed as one: a word, or a compound such as node.js or c++.
type unit struct {
	text  []byte
	ascii bool
	plain bool // one word of ASCII letters and digits without an inner capital
}

// nextUnit returns the first unit at or after position i of text and the position behind it; ok is false at
// the end of the text.
//
// ASCII text is cut here by table: letters and digits, with a single connector (- _ . ' +) allowed between
// two of them, and the endings "++" and "#". A unit that touches a byte above 0x7F runs to the next ASCII
// byte that is neither a letter, a digit nor a connector, and is cut up by [Analyzer.foreign].
func nextUnit(text []byte, i int) (u unit, next int, ok bool) {
	for i < len(text) && class[text[i]] < classWord {
		i++
	}
	if i == len(text) {
		return unit{}, i, false
	}
	start := i
	u = unit{ascii: true, plain: true}
	for ; i < len(text); i++ {
		switch c := class[text[i]]; {
		case c == classLower:
		case c == classUpper:
			u.plain = u.plain && i == start
		case c == classHigh:
			u.ascii, u.plain = false, false
		case c == classJoin && i > start && i+1 < len(text) && class[text[i+1]] >= classWord:
			u.plain = false
		default:
			end := languageSuffix(text, start, i)
			u.text, u.plain = text[start:end], u.plain && end == i
			return u, end, true
		}
	}
	u.text = text[start:]
	return u, i, true
}

// languageSuffix takes the ending of names such as c++, c# and f# into the unit that ends at i: a short word
// only, and nothing wordlike behind it.
func languageSuffix(text []byte, start, i int) int {
	if i-start > 3 {
		return i
	}
	end := i
	switch {
	case i+1 < len(text) && text[i] == '+' && text[i+1] == '+':
		end = i + 2
	case text[i] == '#':
		end = i + 1
	}
	if end < len(text) && class[text[end]] >= classWord {
		return i
	}
	return end
}

const (
	classOther = iota // separates units
	classJoin         // joins two words into a compound
	classLower        // lower-case ASCII letter or digit
	classUpper        // upper-case ASCII letter
	classHigh         // part of a character beyond ASCII

	classWord = classLower // the first class of a word
)

// class tells for each byte what it does to a unit.
var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = classLower
		case c >= 'A' && c <= 'Z':
			t[c] = classUpper
		case c == '-' || c == '_' || c == '.' || c == '\'':
			t[c] = classJoin
		case c >= 0x80:
			t[c] = classHigh
		}
	}
	return t
}()
