package index

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

// Set is several open indexes that are searched as one: document frequencies and scores are those of all of
// them together.
type Set []*Index

// Ref names a document of a set.
type Ref struct {
	Index   int // in the set
	Segment int
	Doc     int
}

// Match is a document that has at least one word of a query.
type Match struct {
	Ref
	// Score is the share of the query that the document covers, above 0 and below 1: Σ
	// weight·idf·impact/(impact+k1) over Σ weight·idf.
	Score float64
}

// Part tells how one group of the query added to a match.
type Part struct {
	Stem   string   `json:"stem"`
	Forms  []string `json:"forms"`  // the forms found in the document
	Fields []string `json:"fields"` // where they stand
	IDF    float64  `json:"idf"`
	Weight float64  `json:"weight"` // of the group in the query
	Score  float64  `json:"score"`  // share of the match's score
}

// part is one segment of a set with the number of its first document.
type part struct {
	ref  Ref
	seg  *segment
	dead []uint64 // nil when no document is
	base int
}

func (p part) deleted(doc int) bool { return p.dead != nil && bit(p.dead, doc) }

// parts lists the segments of the set and counts all documents and the living ones.
func (s Set) parts() (parts []part, all, live int) {
	for i, x := range s {
		for j, seg := range x.segments {
			parts = append(parts, part{Ref{i, j, 0}, seg, x.deleted[j], all})
			all += seg.n
		}
		live += x.Len()
	}
	return parts, all, live
}

// Len returns the number of documents in all indexes.
func (s Set) Len() int {
	n := 0
	for _, x := range s {
		n += x.Len()
	}
	return n
}

// Scores are the scores of all documents of a set for one query.
type Scores struct {
	parts []part
	total []float32 // by document
	sum   float64   // the highest score there could be
}

// Score computes the scores of all documents for q. Damage found on the way is reported as [ErrDamaged].
func (s Set) Score(q lexical.Query) (scores *Scores, err error) {
	defer guard(&err)()
	sc := s.scorer()
	sum := 0.0
	for _, g := range q.Groups {
		idf, err := sc.addGroup(g)
		if err != nil {
			return nil, err
		}
		sum += g.Weight * idf
	}
	return &Scores{sc.parts, sc.total, sum}, nil
}

// Top returns the k best documents with a score above zero, best first, equal ones in the order of indexes,
// segments and documents.
func (s *Scores) Top(k int) (out []Match) {
	for _, d := range top(s.total, k) {
		out = append(out, Match{s.refOf(d), s.share(d)})
	}
	return out
}

// Of returns the score of one document, 0 when it has no word of the query.
func (s *Scores) Of(r Ref) float64 {
	for _, p := range s.parts {
		if p.ref.Index == r.Index && p.ref.Segment == r.Segment {
			return s.share(p.base + r.Doc)
		}
	}
	return 0
}

func (s *Scores) share(d int) float64 {
	if s.total[d] == 0 {
		return 0
	}
	return float64(s.total[d]) / s.sum
}

func (s *Scores) refOf(d int) Ref {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].base > d }) - 1
	ref := s.parts[i].ref
	ref.Doc = d - s.parts[i].base
	return ref
}

// guard turns a fault in mapped memory (a file that somebody cut short) and an index out of range into [ErrDamaged].
func guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			if e, ok := r.(error); ok {
				*err = fmt.Errorf("%w: %w", ErrDamaged, e)
				return
			}
			panic(r)
		}
	}
}

// scorer adds up the groups of a query, one after the other.
type scorer struct {
	parts   []part
	live    int
	total   []float32 // by document: the score so far
	impact  []float32 // by document: the impact of the current group; zero between groups
	touched []uint32  // documents of the current group
}

// list is the postings of one form of a group.
type list struct {
	part
	term
	factor float32 // 1 for a form that the query has, less for another one of the stem
}

func (s Set) scorer() *scorer {
	parts, all, live := s.parts()
	return &scorer{parts: parts, live: live, total: make([]float32, all), impact: make([]float32, all)}
}

// lists returns the postings that answer g.
func (sc *scorer) lists(g lexical.Group) (out []list, err error) {
	for _, p := range sc.parts {
		terms, err := p.seg.variants(g.Stem)
		if err != nil {
			return nil, err
		}
		for _, t := range terms {
			factor := float32(lexical.Default.Stem)
			for _, e := range g.Exact {
				if string(t.exact) == e {
					factor = 1
				}
			}
			out = append(out, list{p, t, factor})
		}
	}
	return out, nil
}

// addGroup adds the effect of g to all documents that have it and returns its inverse document frequency.
func (sc *scorer) addGroup(g lexical.Group) (idf float64, err error) {
	lists, err := sc.lists(g)
	if err != nil {
		return 0, err
	}
	sc.touched = sc.touched[:0]
	for _, l := range lists {
		if err := sc.gather(l); err != nil {
			return 0, err
		}
	}
	idf = lexical.IDF(sc.live, len(sc.touched))
	weight, k1 := float32(g.Weight*idf), float32(lexical.Default.K1)
	for _, d := range sc.touched {
		x := sc.impact[d]
		sc.impact[d] = 0
		sc.total[d] += weight * x / (x + k1)
	}
	return idf, nil
}

// gather adds the impacts of one list to the documents that live.
func (sc *scorer) gather(l list) error {
	r := postingReader{data: l.list}
	n, base := l.seg.n, l.base
	for {
		doc, p, ok := r.read()
		if !ok {
			break
		}
		if int(doc) >= n {
			return fmt.Errorf("%w: posting of document %d of %d", ErrDamaged, doc, n)
		}
		if l.deleted(int(doc)) {
			continue
		}
		d := base + int(doc)
		if sc.impact[d] == 0 {
			sc.touched = append(sc.touched, uint32(d))
		}
		sc.impact[d] += l.factor * p.Impact()
	}
	if len(r.data) > 0 {
		return fmt.Errorf("%w: postings of %q end early", ErrDamaged, l.exact)
	}
	return nil
}

// top returns the indexes of the k highest values above zero, highest first, equal ones in order.
func top(values []float32, k int) []int {
	var heap []int // the worst of the best is first
	worse := func(a, b int) bool {
		if values[a] != values[b] {
			return values[a] < values[b]
		}
		return a > b
	}
	for i, v := range values {
		if v <= 0 || k <= 0 {
			continue
		}
		if len(heap) < k {
			heap = append(heap, i)
			for c := len(heap) - 1; c > 0 && worse(heap[c], heap[(c-1)/2]); c = (c - 1) / 2 {
				heap[c], heap[(c-1)/2] = heap[(c-1)/2], heap[c]
			}
		} else if worse(heap[0], i) {
			heap[0] = i
			sink(heap, worse)
		}
	}
	sort.Slice(heap, func(a, b int) bool { return worse(heap[b], heap[a]) })
	return heap
}

// sink restores the heap after its first element was replaced.
func sink(heap []int, worse func(a, b int) bool) {
	for c := 0; ; {
		least := c
		for _, child := range [2]int{2*c + 1, 2*c + 2} {
			if child < len(heap) && worse(heap[child], heap[least]) {
				least = child
			}
		}
		if least == c {
			return
		}
		heap[c], heap[least] = heap[least], heap[c]
		c = least
	}
}

// Explain tells what each group of q added to the score of the document at ref; groups that it does not have
// are left out.
func (s Set) Explain(q lexical.Query, ref Ref) (out []Part, err error) {
	defer guard(&err)()
	sc := s.scorer()
	sum := 0.0
	for _, g := range q.Groups {
		p, err := sc.explain(g, ref)
		if err != nil {
			return nil, err
		}
		sum += g.Weight * p.IDF
		if p.Score > 0 {
			out = append(out, p)
		}
	}
	for i := range out {
		out[i].Score /= sum
	}
	return out, nil
}

// explain returns what g adds to ref, before it is divided by the weight of the whole query.
func (sc *scorer) explain(g lexical.Group, ref Ref) (Part, error) {
	lists, err := sc.lists(g)
	if err != nil {
		return Part{}, err
	}
	p := Part{Stem: g.Stem, Weight: g.Weight}
	for _, l := range lists {
		if l.ref.Index != ref.Index || l.ref.Segment != ref.Segment {
			continue
		}
		r := postingReader{data: l.list}
		for doc, post, ok := r.read(); ok; doc, post, ok = r.read() {
			if int(doc) == ref.Doc {
				p.Forms = append(p.Forms, string(l.exact))
				p.Fields = addFields(p.Fields, post)
			}
		}
	}
	at := -1
	for _, part := range sc.parts {
		if part.ref.Index == ref.Index && part.ref.Segment == ref.Segment {
			at = part.base + ref.Doc
		}
	}
	if at < 0 || at >= len(sc.total) {
		return Part{}, errors.New("explain: no such document")
	}
	before := sc.total[at]
	p.IDF, err = sc.addGroup(g)
	p.Score = float64(sc.total[at] - before)
	return p, err
}

// addFields adds the names of the fields of p that fields does not have yet.
func addFields(fields []string, p lexical.Posting) []string {
	for f := lexical.Field(0); f < lexical.NumFields; f++ {
		if name := lexical.Fields[f]; p.Has(f) && !strings.Contains(strings.Join(fields, " "), name) {
			fields = append(fields, name)
		}
	}
	return fields
}
