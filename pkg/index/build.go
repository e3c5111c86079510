package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	type entry struct {
		key  uint64 // the first eight bytes of the stem, which decide nearly always
		term uint32
	}
	b.stems = make([]string, len(b.lists))
	entries := make([]entry, len(b.lists))
	for i := range entries {
		b.stems[i] = lexical.Stem(string(b.analyzer.Term(uint32(i))))
		entries[i] = entry{prefixKey(b.stems[i]), uint32(i)}
	}
	slices.SortFunc(entries, func(x, y entry) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return cmp.Or(strings.Compare(b.stems[x.term], b.stems[y.term]),
			bytes.Compare(b.analyzer.Term(x.term), b.analyzer.Term(y.term)))
	})
	b.order = make([]uint32, len(entries))
	for i, e := range entries {
		b.order[i] = e.term
	}
}

// prefixKey returns the first eight bytes of s as a number that sorts like them.
func prefixKey(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

func (b *builder) docCount() int            { return len(b.docs) }
func (b *builder) termCount() int           { return len(b.order) }
func (b *builder) docAt(i int) (Doc, error) { return b.docs[i], nil }

func (b *builder) termAt(i int) (term, error) {
	n := b.order[i]
	l := &b.lists[n]
	return term{[]byte(b.stems[n]), b.analyzer.Term(n), l.data, l.n, l.last}, nil
}

func (b *builder) postingBytes() (n int) {
	for i := range b.lists {
		n += len(b.lists[i].data)
	}
	return n
}

func (s *segment) postingBytes() int        { return len(s.postings) }
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
