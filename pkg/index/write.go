package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

// maxDescription is how much of a description a document row keeps, in bytes.
const maxDescription = 4 << 10

// segmentWriter lays out one segment: documents first, in order, then terms in the order of (stem, exact).
type segmentWriter struct {
	docs, strings, terms, postings []byte
	names                          []string // name key of each document
	keys                           []uint64 // content key of each document
}

// reserve makes room for all that the sources hold.
func (w *segmentWriter) reserve(sources []source) {
	docs, terms, postings := 0, 0, 0
	for _, s := range sources {
		docs, terms, postings = docs+s.docCount(), terms+s.termCount(), postings+s.postingBytes()
	}
	w.docs, w.terms = make([]byte, 0, docs*docSize), make([]byte, 0, terms*termSize)
	w.postings, w.strings = make([]byte, 0, postings), make([]byte, 0, docs*512+terms*12)
}

// addDoc appends d and returns its number.
func (w *segmentWriter) addDoc(d Doc) {
	if len(d.Description) > maxDescription {
		d.Description = strings.ToValidUTF8(d.Description[:maxDescription], "")
	}
	row := make([]byte, 0, docSize)
	texts := [...]string{d.Rel, d.File, d.Name, d.Description, d.Key, strings.Join(d.Tags, "\n")}
	sums := make([][]byte, 1, 1+len(texts))
	for _, t := range texts {
		row = w.ref(row, t)
		sums = append(sums, []byte(t))
	}
	row = appendStamp(row, d.Stamp)
	row = append(row, d.Sum[:]...)
	flags := uint32(0)
	if d.Racy {
		flags |= flagRacy
	}
	row = binary.LittleEndian.AppendUint32(row, flags)
	sums[0] = row
	w.docs = append(w.docs, binary.LittleEndian.AppendUint32(row, checksum(sums...))...)
	w.names, w.keys = append(w.names, d.Key), append(w.keys, d.key())
}

// ref appends text to the strings and a reference to it to row.
func (w *segmentWriter) ref(row []byte, text string) []byte {
	row = binary.LittleEndian.AppendUint32(row, uint32(len(w.strings)))
	w.strings = append(w.strings, text...)
	return binary.LittleEndian.AppendUint32(row, uint32(len(text)))
}

// addTerm appends a term with its encoded postings list.
func (w *segmentWriter) addTerm(stem, exact string, list []byte, df int) {
	le := binary.LittleEndian
	row := make([]byte, 0, termSize)
	if strings.HasPrefix(exact, stem) { // the usual case: one copy serves both
		row = le.AppendUint32(row, uint32(len(w.strings)))
		row = le.AppendUint32(row, uint32(len(stem)))
	} else {
		row = w.ref(row, stem)
	}
	row = w.ref(row, exact)
	row = le.AppendUint64(row, uint64(len(w.postings)))
	row = le.AppendUint32(row, uint32(len(list)))
	row = le.AppendUint32(row, uint32(df))
	row = le.AppendUint32(row, checksum(list))
	row = le.AppendUint32(row, checksum(row, []byte(stem), []byte(exact)))
	w.terms = append(w.terms, row...)
	w.postings = append(w.postings, list...)
}

// sections returns the finished segment.
func (w *segmentWriter) sections() []section {
	return []section{{secDocs, w.docs}, {secStrings, w.strings}, {secTerms, w.terms}, {secPostings, w.postings},
		{secNames, orderOf(w.names)}, {secKeys, orderOf(w.keys)}}
}

// orderOf returns the numbers of the elements of keys in the order of (key, number).
func orderOf[K cmp.Ordered](keys []K) []byte {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	out := make([]byte, 0, 4*len(order))
	for _, i := range order {
		out = binary.LittleEndian.AppendUint32(out, uint32(i))
	}
	return out
}

// postingList is a list under construction.
type postingList struct {
	data []byte
	last uint32 // number of the last document + 1
	n    int
}

// add appends a posting; doc must be above all before it.
func (l *postingList) add(memory *arena, doc uint32, p lexical.Posting) {
	l.data = memory.room(l.data, binary.MaxVarintLen32+2)
	l.data = binary.AppendUvarint(l.data, uint64(doc+1-l.last))
	l.data = binary.LittleEndian.AppendUint16(l.data, uint16(p))
	l.last = doc + 1
	l.n++
}

// postingReader walks a list.
type postingReader struct {
	data []byte
	next uint32 // number of the last document + 1
}

// read returns the next posting; ok is false at the end, or where the list makes no sense.
func (r *postingReader) read() (doc uint32, p lexical.Posting, ok bool) {
	d, n := binary.Uvarint(r.data)
	if n <= 0 || len(r.data) < n+2 {
		return 0, 0, false
	}
	r.next += uint32(d)
	p = lexical.Posting(binary.LittleEndian.Uint16(r.data[n:]))
	r.data = r.data[n+2:]
	return r.next - 1, p, true
}

// source is something that terms are merged from: a builder or a segment. Documents are renumbered; those of
// gone are dropped.
type source interface {
	docCount() int
	termCount() int
	docAt(i int) (Doc, error)
	termAt(i int) (term, error) // in the order of (stem, exact)
	postingBytes() int          // of all lists
}

const gone = ^uint32(0)

// renumbering gives the documents of one source their numbers in the merged segment.
type renumbering struct {
	base uint32   // of the first document, when none is dropped
	to   []uint32 // by old number, gone for dropped ones; nil when none is
}

// mergeInto writes the terms of all sources to w.
func mergeInto(w *segmentWriter, sources []source, numbers []renumbering) error {
	var memory arena
	var buffer []byte
	at := make([]int, len(sources))
	heads := make([]term, len(sources))
	advance := func(i int) (err error) {
		heads[i] = term{}
		if at[i] < sources[i].termCount() {
			heads[i], err = sources[i].termAt(at[i])
			at[i]++
		}
		return err
	}
	for i := range sources {
		if err := advance(i); err != nil {
			return err
		}
	}
	for {
		low := lowest(heads)
		if low < 0 {
			return nil
		}
		stem, exact := string(heads[low].stem), string(heads[low].exact)
		list := postingList{data: buffer[:0]}
		for i := range heads {
			if string(heads[i].exact) != exact || string(heads[i].stem) != stem {
				continue
			}
			list.append(&memory, heads[i], numbers[i])
			if err := advance(i); err != nil {
				return err
			}
		}
		if list.n > 0 {
			w.addTerm(stem, exact, list.data, list.n)
		}
		buffer = list.data
	}
}

// lowest returns the index of the first term in dictionary order, -1 when all sources are at their end.
func lowest(heads []term) int {
	low := -1
	for i, h := range heads {
		if h.exact == nil {
			continue
		}
		if low < 0 || compareTerms(h, heads[low]) < 0 {
			low = i
		}
	}
	return low
}

func compareTerms(a, b term) int {
	if c := bytes.Compare(a.stem, b.stem); c != 0 {
		return c
	}
	return bytes.Compare(a.exact, b.exact)
}

// append adds the postings of t under their new numbers.
func (l *postingList) append(memory *arena, t term, numbers renumbering) {
	r := postingReader{data: t.list}
	if numbers.to == nil && t.last > 0 { // all but the first distance stay as they are
		doc, p, ok := r.read()
		if ok {
			l.add(memory, numbers.base+doc, p)
			l.data = append(memory.room(l.data, len(r.data)), r.data...)
			l.last, l.n = numbers.base+t.last, l.n+t.df-1
		}
		return
	}
	for doc, p, ok := r.read(); ok; doc, p, ok = r.read() {
		if new := numbers.of(doc); new != gone {
			l.add(memory, new, p)
		}
	}
}

func (n renumbering) of(doc uint32) uint32 {
	switch {
	case n.to == nil:
		return n.base + doc
	case int(doc) < len(n.to):
		return n.to[doc]
	}
	return gone
}

// merge returns one segment with all documents of the sources that keep says yes to, in their order.
func merge(sources []source, keep func(src, doc int) bool) ([]section, error) {
	w := &segmentWriter{}
	w.reserve(sources)
	numbers := make([]renumbering, len(sources))
	for i, s := range sources {
		numbers[i].base = uint32(len(w.names))
		to := make([]uint32, s.docCount())
		for d := range to {
			to[d] = gone
			if !keep(i, d) {
				numbers[i].to = to
				continue
			}
			doc, err := s.docAt(d)
			if err != nil {
				return nil, err
			}
			to[d] = uint32(len(w.names))
			w.addDoc(doc)
		}
	}
	if err := mergeInto(w, sources, numbers); err != nil {
		return nil, err
	}
	return w.sections(), nil
}
