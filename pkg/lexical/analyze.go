package lexical

// Role says how a form came out of its unit.
type Role uint8

const (
	// Word is a word that stands by itself.
	Word Role = iota
	// Part is a word of a compound ("node" of "node.js").
	Part
	// Joined is a compound written as one ("nodejs" of "node.js"). It does not count towards the length of a field.
	Joined
	// Single is one CJK character of a longer run, whose bigrams are its Words. It does not count towards the
	// length of a field.
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
	maxUnit  = 4 << 10 // bytes of a compound or of foreign text without a space; a longer one is a blob

	maxPieces = 1 << 22 // pieces remembered before they are forgotten
)

// Analyzer turns text into pieces and numbers the terms that it meets, from 0 on in the order of meeting.
// It remembers every compound that it has cut up, so that a common one costs one look-up.
type Analyzer struct {
	terms *vocab

	units  *vocab  // compounds and foreign text met before
	spans  []span  // of each unit in pieces
	pieces []Piece // of all units, one after the other

	single [1]Piece // scratch: the piece of a plain word
	parts  [][]byte // scratch
	fold   []byte   // scratch
}

type span struct{ from, to uint32 }

// NewAnalyzer returns an analyzer that has met no term yet.
func NewAnalyzer() *Analyzer { return &Analyzer{terms: newVocab(), units: newVocab()} }

// Len returns the number of terms met so far.
func (a *Analyzer) Len() int { return a.terms.len() }

// Term returns the exact form of term i. It is good until the analyzer meets another term.
func (a *Analyzer) Term(i uint32) []byte { return a.terms.at(i) }

// Each calls f with the pieces of each unit of text, in order. The slice is only good during the call.
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

// unit returns the pieces of u.
func (a *Analyzer) unit(u unit) []Piece {
	if u.plain && len(u.text) <= maxWord {
		a.single[0] = Piece{a.number(a.lower(u.text)), Word}
		return a.single[:]
	}
	if len(u.text) > maxUnit {
		return nil
	}
	i, isNew := a.units.number(u.text)
	if isNew {
		s := span{from: uint32(len(a.pieces))}
		if u.ascii {
			a.asciiUnit(u.text)
		} else {
			a.foreign(u.text)
		}
		s.to = uint32(len(a.pieces))
		a.spans = append(a.spans, s)
	}
	s := a.spans[i]
	if len(a.pieces) > maxPieces {
		defer a.forget()
	}
	return a.pieces[s.from:s.to]
}

// forget drops the units met so far, so that endless strange text does not take endless memory.
func (a *Analyzer) forget() { a.units, a.spans, a.pieces = newVocab(), nil, nil }

// lower returns an ASCII word in lower case, without apostrophes, in scratch memory.
func (a *Analyzer) lower(word []byte) []byte {
	a.fold = a.fold[:0]
	for _, c := range word {
		if isUpper(c) {
			c |= 0x20
		}
		if c != '\'' {
			a.fold = append(a.fold, c)
		}
	}
	return a.fold
}

// number returns the number of the term with an exact form.
func (a *Analyzer) number(exact []byte) uint32 {
	i, _ := a.terms.number(exact)
	return i
}

// asciiUnit cuts an ASCII unit at its connectors and camelCase humps.
func (a *Analyzer) asciiUnit(text []byte) {
	if last := text[len(text)-1]; last == '+' || last == '#' {
		a.add(a.lower(text), Word)
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
	if len(word) <= maxWord {
		a.add(a.lower(word), role)
	}
}

// add appends the piece for an exact form.
func (a *Analyzer) add(exact []byte, role Role) {
	a.pieces = append(a.pieces, Piece{a.number(exact), role})
}

func isNumber(p []byte) bool {
	for _, c := range p {
		if !isDigit(c) {
			return false
		}
	}
	return true
}
