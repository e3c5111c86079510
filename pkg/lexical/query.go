package lexical

import (
	"slices"
	"strings"
)

// Group is what a query asks under one stem: the forms that the user wrote count in full, other forms of the
// stem for less.
type Group struct {
	Stem   string
	Exact  []string // the forms in the query, in the order of appearance
	Weight float64  // how much of the query it is; 1 for a word that stands there once
}

// Query is a text cut into groups.
type Query struct {
	Groups []Group
	Key    string // the words joined by hyphens, for comparing with names
}

// ParseQuery cuts text into groups, in the order of their first appearance. Stop words are left out unless
// there is nothing else. No sign in the text is an operator.
func ParseQuery(text string) Query {
	a := NewAnalyzer()
	b := queryBuilder{analyzer: a, at: map[string]int{}}
	a.Each([]byte(text), b.add)
	if len(b.groups) > b.stops {
		b.dropStops()
	}
	for i := range b.groups {
		b.groups[i].Weight = countWeight(b.groups[i].Weight)
	}
	return Query{b.groups, Key(text)}
}

type queryBuilder struct {
	analyzer *Analyzer
	groups   []Group
	at       map[string]int // stem → index in groups
	stops    int
}

// add takes in the pieces of one unit.
func (b *queryBuilder) add(pieces []Piece) {
	for _, p := range pieces {
		if p.Role == Single {
			continue // the bigrams ask for the run
		}
		exact := string(b.analyzer.Term(p.Term))
		stem := Stem(exact)
		i, ok := b.at[stem]
		if !ok {
			i = len(b.groups)
			b.at[stem] = i
			b.groups = append(b.groups, Group{Stem: stem})
			if StopWord(exact) {
				b.stops++
			}
		}
		g := &b.groups[i]
		g.Weight += roleWeight[p.Role]
		if !slices.Contains(g.Exact, exact) {
			g.Exact = append(g.Exact, exact)
		}
	}
}

// dropStops removes the groups of stop words.
func (b *queryBuilder) dropStops() {
	kept := b.groups[:0]
	for _, g := range b.groups {
		if !StopWord(g.Exact[0]) {
			kept = append(kept, g)
		}
	}
	b.groups = kept
}

// roleWeight is what an occurrence in a query counts by its role: a compound is first of all itself.
var roleWeight = [...]float64{Word: 1, Part: 0.7, Joined: 1}

// countWeight dampens repetition: a word that a long task text repeats is more of what it is about, but not
// that many times more.
func countWeight(n float64) float64 { return n * (queryK + 1) / (n + queryK) }

const queryK = 3

// Key returns the form in which names are compared with each other and with a query: folded, every run of
// anything that is neither a letter, a digit nor one of + and # turned into one hyphen.
func Key(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range Fold(s) {
		if !keyRune(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// Forms returns every searchable form of text once, sorted. It is for tests and for showing how a text is cut.
func Forms(text string) []string {
	a := NewAnalyzer()
	a.Each([]byte(text), func([]Piece) {})
	out := make([]string, a.Len())
	for i := range out {
		out[i] = string(a.Term(uint32(i)))
	}
	slices.Sort(out)
	return out
}
