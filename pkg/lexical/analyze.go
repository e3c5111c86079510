package lexical

import (
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// Term is one searchable form: the exact folded text and the stem it is grouped under.
// The stem of an identifier, a number or a CJK bigram is the form itself.
type Term struct {
	Exact, Stem string
}

// Role says how a form came out of its unit.
type Role uint8

const (
	// Word is a word that stands by itself.
	Word Role = iota
	// Part is a word of a compound ("node" of "node.js").
	Part
	// Joined is a compound written as one ("nodejs" of "node.js"). It does not count towards the length of a field.
	Joined
	// Single is one CJK character of a longer run, whose bigrams are its Words. It does not count towards the length of a field.
	Single
)

// Piece is one form of a unit: the number of its term in the analyzer, and its role.
type Piece struct {
	Term uint32
	Role Role
}

const (
	maxWord  = 40      // bytes of a form; longer runs of letters are blobs, not words
	maxParts = 5       // parts of a compound that is also kept joined
	maxUnits = 1 << 20 // units remembered before the memory is dropped and begun anew
)

// Analyzer turns text into pieces and numbers the terms that it meets, from 0 on in the order of meeting.
// It remembers every unit that it has cut up, so that a common word costs one map look-up.
type Analyzer struct {
	terms  []Term
	ids    map[string]uint32
	units  map[string]span
	pieces []Piece
	parts  [][]byte // scratch
	fold   []byte   // scratch
}

type span struct{ from, to uint32 }

// NewAnalyzer returns an analyzer that has met no term yet.
func NewAnalyzer() *Analyzer {
	return &Analyzer{ids: map[string]uint32{}, units: map[string]span{}}
}

// Terms returns the terms met so far; a piece's Term indexes it.
func (a *Analyzer) Terms() []Term { return a.terms }

// Each calls f with the pieces of each unit of text, in order.
func (a *Analyzer) Each(text []byte, f func([]Piece)) {
	for i := 0; ; {
		u, next, ok := nextUnit(text, i)
		if !ok {
			return
		}
		i = next
		if p := a.unit(u); len(p) > 0 {
			f(p)
		}
	}
}

// unit returns the pieces of u, from memory when it was met before.
func (a *Analyzer) unit(u unit) []Piece {
	if s, ok := a.units[string(u.text)]; ok {
		return a.pieces[s.from:s.to]
	}
	if len(a.units) >= maxUnits {
		clear(a.units)
		a.pieces = a.pieces[:0]
	}
	s := span{from: uint32(len(a.pieces))}
	if u.ascii {
		a.asciiUnit(u.text)
	} else {
		a.foreign(u.text)
	}
	s.to = uint32(len(a.pieces))
	a.units[string(u.text)] = s
	return a.pieces[s.from:s.to]
}

// asciiUnit cuts an ASCII unit at its connectors and camelCase humps.
func (a *Analyzer) asciiUnit(text []byte) {
	if last := text[len(text)-1]; last == '+' || last == '#' {
		a.add(strings.ToLower(string(text)), false, Word)
		return
	}
	a.parts = a.parts[:0]
	start := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || class[text[i]] == classJoin {
			if i < len(text) && text[i] == '\'' {
				if i+2 == len(text) && text[i+1]|0x20 == 's' { // a possessive 's is no word
					a.humps(text[start:i])
					break
				}
				continue // don't is one word
			}
			a.humps(text[start:i])
			start = i + 1
		}
	}
	a.compound(a.parts)
}

// humps appends the camelCase words of part to a.parts: parseHTTPResponse gives parse, HTTP, Response.
func (a *Analyzer) humps(part []byte) {
	start := 0
	for i := 1; i < len(part); i++ {
		up, prev := isUpper(part[i]), isUpper(part[i-1])
		word := up && i+1 < len(part) && isLower(part[i+1]) // a capital that begins a word
		if up && isLower(part[i-1]) || word && prev && i-start > 1 || word && isDigit(part[i-1]) {
			a.parts = append(a.parts, part[start:i])
			start = i
		}
	}
	if start < len(part) {
		a.parts = append(a.parts, part[start:])
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// compound adds the parts of one unit, and the unit joined when it has more than one part.
func (a *Analyzer) compound(parts [][]byte) {
	if len(parts) == 1 {
		a.addASCII(parts[0], Word)
		return
	}
	numeric, size := true, 0
	for _, p := range parts {
		a.addASCII(p, Part)
		numeric = numeric && isNumber(p)
		size += len(p)
	}
	if len(parts) > maxParts || numeric || size > maxWord {
		return
	}
	joined := make([]byte, 0, maxWord)
	for _, p := range parts {
		joined = append(joined, p...)
	}
	a.addASCII(joined, Joined)
}

// addASCII folds an ASCII word and adds it.
func (a *Analyzer) addASCII(word []byte, role Role) {
	if len(word) > maxWord {
		return
	}
	a.fold = a.fold[:0]
	for _, c := range word {
		if c == '\'' {
			continue
		}
		if isUpper(c) {
			c |= 0x20
		}
		a.fold = append(a.fold, c)
	}
	a.add(string(a.fold), role != Joined, role)
}

// add appends the piece for an exact form. A form with a digit, a short one or one marked as no word keeps itself as its stem.
func (a *Analyzer) add(exact string, word bool, role Role) {
	id, ok := a.ids[exact]
	if !ok {
		id = uint32(len(a.terms))
		stem := exact
		if word || role == Joined {
			stem = stemOf(exact)
		}
		a.terms = append(a.terms, Term{exact, stem})
		a.ids[exact] = id
	}
	a.pieces = append(a.pieces, Piece{id, role})
}

// stemOf returns the Snowball stem of a folded word: Russian for Cyrillic, English for everything else in letters.
// Short words and those with a digit are identifiers rather than words and stay as they are.
func stemOf(word string) string {
	if len(word) < 3 {
		return word
	}
	cyrillic := false
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			return word
		case r >= 0x0400 && r <= 0x04FF:
			cyrillic = true
		case r >= 0x0250:
			return word
		}
	}
	if cyrillic {
		return russian.Stem(word, true)
	}
	// Snowball leaves "analyses" and "analysis" apart; the plural of every Greek -ysis is -yses.
	if base, ok := strings.CutSuffix(word, "yses"); ok {
		word = base + "ysis"
	}
	return english.Stem(word, true)
}

func isNumber(p []byte) bool {
	for _, c := range p {
		if !isDigit(c) {
			return false
		}
	}
	return true
}
