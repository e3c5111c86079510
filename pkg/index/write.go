package index

import (
	"bytes"
	"encoding/binary"
	"io"
	"sort"
	"strings"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

// maxDescription is how much of a description a document row keeps, in bytes.
const maxDescription = 4 << 10

// segmentWriter lays out one segment: documents first, in order, then terms in the order of (stem, exact).
type segmentWriter struct {
	docs, strings, terms, postings []byte
	keys                           []string // name key of each document
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
	w.keys = append(w.keys, d.Key)
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
	order := make([]int, len(w.keys))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return w.keys[order[a]] < w.keys[order[b]] })
	names := make([]byte, 0, 4*len(order))
	for _, d := range order {
		names = binary.LittleEndian.AppendUint32(names, uint32(d))
	}
	return []section{{secDocs, w.docs}, {secStrings, w.strings}, {secTerms, w.terms}, {secPostings, w.postings}, {secNames, names}}
}

// postingList is a list under construction.
type postingList struct {
	data []byte
	last uint32 // number of the last document + 1
	n    int
}

// add appends a posting; doc must be above all before it.
func (l *postingList) add(doc uint32, p lexical.Posting) {
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

// source is something that terms are merged from: a builder or a segment. Documents are renumbered; those of gone are dropped.
type source interface {
	docCount() int
	termCount() int
	docAt(i int) (Doc, error)
	termAt(i int) (term, error) // in the order of (stem, exact)
}

const gone = ^uint32(0)

// mergeInto writes the documents and terms of all sources to w; remap[i][d] is the new number of document d of source i, or gone.
func mergeInto(w *segmentWriter, sources []source, remap [][]uint32) error {
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
		var list postingList
		for i := range heads {
			if string(heads[i].exact) != exact || string(heads[i].stem) != stem {
				continue
			}
			copyPostings(&list, heads[i].list, remap[i])
			if err := advance(i); err != nil {
				return err
			}
		}
		if list.n > 0 {
			w.addTerm(stem, exact, list.data, list.n)
		}
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

// copyPostings appends the postings of a list under their new numbers.
func copyPostings(to *postingList, list []byte, remap []uint32) {
	r := postingReader{data: list}
	for {
		doc, p, ok := r.read()
		if !ok {
			return
		}
		if int(doc) < len(remap) && remap[doc] != gone {
			to.add(remap[doc], p)
		}
	}
}

// merge returns one segment with all documents of the sources that keep says yes to, in their order.
func merge(sources []source, keep func(src, doc int) bool) ([]section, error) {
	w := &segmentWriter{}
	remap := make([][]uint32, len(sources))
	next := uint32(0)
	for i, s := range sources {
		remap[i] = make([]uint32, s.docCount())
		for d := range remap[i] {
			remap[i][d] = gone
			if !keep(i, d) {
				continue
			}
			doc, err := s.docAt(d)
			if err != nil {
				return nil, err
			}
			w.addDoc(doc)
			remap[i][d] = next
			next++
		}
	}
	if err := mergeInto(w, sources, remap); err != nil {
		return nil, err
	}
	return w.sections(), nil
}

// writeContainer writes sections as a container.
func writeContainer(out io.Writer, sections []section) error {
	_, err := out.Write(encodeContainer(sections))
	return err
}
