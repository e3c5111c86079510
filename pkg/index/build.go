package index

import (
	"sort"

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
	counts   []lexical.Counts // by term number; zero between documents
	touched  []uint32         // terms of the current document
	lengths  [lexical.NumFields]int
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
		b.lists[t].add(doc, lexical.NewPosting(b.weights.Impact(*c, &norms), *c))
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

// sort puts the dictionary in order. No document may be added after it.
func (b *builder) sort() {
	terms := b.analyzer.Terms()
	b.order = make([]uint32, len(b.lists))
	for i := range b.order {
		b.order[i] = uint32(i)
	}
	sort.Slice(b.order, func(i, j int) bool {
		x, y := terms[b.order[i]], terms[b.order[j]]
		if x.Stem != y.Stem {
			return x.Stem < y.Stem
		}
		return x.Exact < y.Exact
	})
}

func (b *builder) docCount() int            { return len(b.docs) }
func (b *builder) termCount() int           { return len(b.order) }
func (b *builder) docAt(i int) (Doc, error) { return b.docs[i], nil }

func (b *builder) termAt(i int) (term, error) {
	n := b.order[i]
	t := b.analyzer.Terms()[n]
	return term{[]byte(t.Stem), []byte(t.Exact), b.lists[n].data, b.lists[n].n}, nil
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
