package index

import (
	"bytes"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

// Document is a skill to be indexed: what is kept of it, and its text.
type Document struct {
	Doc
	Body []byte
}

// builder collects documents and their postings in memory.
type builder struct {
	weights  *lexical.Weights
	analyzer *lexical.Analyzer
	docs     []Doc
	lists    []postingList    // by term number
	memory   arena            // of the lists
	counts   []lexical.Counts // by term number; zero between documents
	touched  []uint32         // terms of the current document
	lengths  [lexical.NumFields]int
	stems    []string // by term number, once sorted
	order    []uint32 // term numbers in dictionary order, once sorted
}

func newBuilder() *builder {
	return &builder{weights: &lexical.Default, analyzer: lexical.NewAnalyzer()}
}

// add indexes d under the next number.
func (b *builder) add(d Document) {
	b.lengths = [lexical.NumFields]int{}
	b.field(lexical.Name, []byte(d.Name))
	b.field(lexical.Description, []byte(d.Description))
	for _, t := range d.Tags {
		b.field(lexical.Tags, []byte(t))
	}
	b.field(lexical.Body, d.Body)
	norms := b.weights.Norms(b.lengths)
	doc := uint32(len(b.docs))
	for _, t := range b.touched {
		c := &b.counts[t]
		b.lists[t].add(&b.memory, doc, lexical.NewPosting(b.weights.Impact(*c, &norms), *c))
		*c = lexical.Counts{}
	}
	b.touched = b.touched[:0]
	b.docs = append(b.docs, d.Doc)
}

// field counts the terms of one field of the current document.
func (b *builder) field(f lexical.Field, text []byte) {
	b.analyzer.Each(text, func(pieces []lexical.Piece) {
		for _, p := range pieces {
			for int(p.Term) >= len(b.counts) {
				b.counts = append(b.counts, lexical.Counts{})
				b.lists = append(b.lists, postingList{})
			}
			c := &b.counts[p.Term]
			if *c == (lexical.Counts{}) {
				b.touched = append(b.touched, p.Term)
			}
			if c[f] < 1<<16-1 {
				c[f]++
			}
			if p.Role == lexical.Word || p.Role == lexical.Part {
				b.lengths[f]++
			}
		}
	})
}

// sort finds the stems and puts the dictionary in order. No document may be added after it.
func (b *builder) sort() {
	b.stems = make([]string, len(b.lists))
	b.order = make([]uint32, len(b.lists))
	for i := range b.order {
		b.order[i] = uint32(i)
		b.stems[i] = lexical.Stem(string(b.analyzer.Term(uint32(i))))
	}
	slices.SortFunc(b.order, func(i, j uint32) int {
		if c := strings.Compare(b.stems[i], b.stems[j]); c != 0 {
			return c
		}
		return bytes.Compare(b.analyzer.Term(i), b.analyzer.Term(j))
	})
}

func (b *builder) docCount() int            { return len(b.docs) }
func (b *builder) termCount() int           { return len(b.order) }
func (b *builder) docAt(i int) (Doc, error) { return b.docs[i], nil }

func (b *builder) termAt(i int) (term, error) {
	n := b.order[i]
	l := &b.lists[n]
	return term{[]byte(b.stems[n]), b.analyzer.Term(n), l.data, l.n, l.last}, nil
}

func (s *segment) docCount() int            { return s.n }
func (s *segment) termCount() int           { return s.nTerms }
func (s *segment) docAt(i int) (Doc, error) { return s.doc(i) }
func (s *segment) termAt(i int) (term, error) {
	if _, err := s.stem(i); err != nil {
		return term{}, err
	}
	return s.term(i)
}

// arena hands out the memory of many lists that grow, without an allocation for each step of growth.
type arena struct{ free []byte }

const arenaBlock = 1 << 20

// room returns b with space for n more bytes, moved to twice the memory when it is full.
func (a *arena) room(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	size := max(2*cap(b), 8, n)
	if len(a.free) < size {
		a.free = make([]byte, max(arenaBlock, size))
	}
	moved := a.free[:len(b):size]
	a.free = a.free[size:]
	copy(moved, b)
	return moved
}
