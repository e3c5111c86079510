package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"strings"

	"github.com/openspace-dev/openspace/pkg/roots"
)

// Section ids and row sizes of a segment.
const (
	secDocs     = 1
	secStrings  = 2
	secTerms    = 3
	secPostings = 4
	secNames    = 5
	secKeys     = 6

	docSize  = 96
	termSize = 40
)

// flagRacy marks a document whose file was so young when it was read that its stamp may not tell the next change.
const flagRacy = 1

// Doc is one skill as the index knows it.
type Doc struct {
	Rel, File         string // folder below the root ("." for the root), base name of the skill file
	Name, Description string
	Key               string // the name folded for comparing
	Tags              []string
	Stamp             roots.Stamp
	Sum               [8]byte // start of the SHA-256 of the file
	Racy              bool
}

// segment reads one segment file. It is safe for concurrent use.
type segment struct {
	c                                      *container
	docs, strings, terms, postings, byName []byte
	byKey                                  []byte
	n                                      int // documents, deleted ones too
	nTerms                                 int
}

func newSegment(c *container) (*segment, error) {
	s := &segment{c: c, docs: c.sections[secDocs], strings: c.sections[secStrings], terms: c.sections[secTerms],
		postings: c.sections[secPostings], byName: c.sections[secNames], byKey: c.sections[secKeys]}
	s.n, s.nTerms = len(s.docs)/docSize, len(s.terms)/termSize
	if len(s.docs)%docSize != 0 || len(s.terms)%termSize != 0 || len(s.byName) != 4*s.n || len(s.byKey) != 4*s.n {
		return nil, fmt.Errorf("%w: section of an odd size", ErrDamaged)
	}
	if checksum(s.byName) != c.sums[secNames] || checksum(s.byKey) != c.sums[secKeys] {
		return nil, fmt.Errorf("%w: checksum of the names or keys", ErrDamaged)
	}
	return s, nil
}

// str returns the string that the reference at the start of row points to, nil when it points outside.
func (s *segment) str(row []byte) []byte {
	off, n := binary.LittleEndian.Uint32(row), binary.LittleEndian.Uint32(row[4:])
	if uint64(off)+uint64(n) > uint64(len(s.strings)) {
		return nil
	}
	return s.strings[off : off+n : off+n]
}

// docRow returns row i after checking it.
func (s *segment) docRow(i int) ([]byte, error) {
	row := s.docs[i*docSize : (i+1)*docSize]
	if s.docSum(row) != binary.LittleEndian.Uint32(row[92:]) {
		return nil, fmt.Errorf("%w: checksum of document %d", ErrDamaged, i)
	}
	return row, nil
}

// docSum computes the checksum of a document row and its strings.
func (s *segment) docSum(row []byte) uint32 {
	return checksum(row[:92], s.str(row), s.str(row[8:]), s.str(row[16:]), s.str(row[24:]), s.str(row[32:]), s.str(row[40:]))
}

// doc returns document i with copies of its strings.
func (s *segment) doc(i int) (Doc, error) {
	row, err := s.docRow(i)
	if err != nil {
		return Doc{}, err
	}
	d := Doc{Rel: string(s.str(row)), File: string(s.str(row[8:])), Name: string(s.str(row[16:])), Description: string(s.str(row[24:])),
		Key: string(s.str(row[32:])), Stamp: stampAt(row[48:]), Racy: row[88]&flagRacy != 0}
	copy(d.Sum[:], row[80:])
	if t := s.str(row[40:]); len(t) > 0 {
		d.Tags = strings.Split(string(t), "\n")
	}
	return d, nil
}

func stampAt(b []byte) roots.Stamp {
	le := binary.LittleEndian
	return roots.Stamp{Mtime: int64(le.Uint64(b)), Ctime: int64(le.Uint64(b[8:])), Size: int64(le.Uint64(b[16:])), Ino: le.Uint64(b[24:])}
}

func appendStamp(b []byte, s roots.Stamp) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(s.Mtime))
	b = le.AppendUint64(b, uint64(s.Ctime))
	b = le.AppendUint64(b, uint64(s.Size))
	return le.AppendUint64(b, s.Ino)
}

// term is a row of the dictionary.
type term struct {
	stem, exact []byte
	list        []byte // its postings
	df          int
	last        uint32 // number of the last document + 1; 0 for not known
}

// stem returns the stem of term row i after checking the row: a damaged one would lead the search astray.
func (s *segment) stem(i int) ([]byte, error) {
	row := s.terms[i*termSize : (i+1)*termSize]
	stem := s.str(row)
	if checksum(row[:36], stem, s.str(row[8:])) != binary.LittleEndian.Uint32(row[36:]) {
		return nil, fmt.Errorf("%w: checksum of term %d", ErrDamaged, i)
	}
	return stem, nil
}

// term returns checked row i with its checked postings.
func (s *segment) term(i int) (term, error) {
	row := s.terms[i*termSize : (i+1)*termSize]
	le := binary.LittleEndian
	off, n := le.Uint64(row[16:]), uint64(le.Uint32(row[24:]))
	if off > uint64(len(s.postings)) || n > uint64(len(s.postings))-off {
		return term{}, fmt.Errorf("%w: postings of term %d outside the file", ErrDamaged, i)
	}
	t := term{s.str(row), s.str(row[8:]), s.postings[off : off+n], int(le.Uint32(row[28:])), 0}
	if checksum(t.list) != le.Uint32(row[32:]) {
		return term{}, fmt.Errorf("%w: checksum of the postings of term %d", ErrDamaged, i)
	}
	return t, nil
}

// variants returns the terms with the given stem, ordered by exact form.
func (s *segment) variants(stem string) (out []term, err error) {
	want := []byte(stem)
	lo, hi := 0, s.nTerms
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		got, err := s.stem(mid)
		if err != nil {
			return nil, err
		}
		if bytes.Compare(got, want) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for i := lo; i < s.nTerms; i++ {
		if got, err := s.stem(i); err != nil {
			return nil, err
		} else if !bytes.Equal(got, want) {
			break
		}
		t, err := s.term(i)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// nameAt returns the document at position p in the order of name keys, and its key.
func (s *segment) nameAt(p int) (doc int, key []byte) {
	doc = int(binary.LittleEndian.Uint32(s.byName[4*p:]))
	if doc >= s.n {
		return -1, nil
	}
	return doc, s.str(s.docs[doc*docSize+32:])
}

// namesFrom returns the first position whose key is not below key.
func (s *segment) namesFrom(key string) int {
	want := []byte(key)
	return sort.Search(s.n, func(p int) bool {
		_, k := s.nameAt(p)
		return bytes.Compare(k, want) >= 0
	})
}

// withKey returns the documents with the given key, see Doc.key.
func (s *segment) withKey(key uint64) (docs []int) {
	at := func(p int) (doc int, key uint64) {
		doc = int(binary.LittleEndian.Uint32(s.byKey[4*p:]))
		if doc >= s.n {
			return -1, 0
		}
		return doc, binary.LittleEndian.Uint64(s.docs[doc*docSize+80:])
	}
	first := sort.Search(s.n, func(p int) bool { _, k := at(p); return k >= key })
	for p := first; p < s.n; p++ {
		doc, k := at(p)
		if k != key || doc < 0 {
			break
		}
		docs = append(docs, doc)
	}
	return docs
}

func (s *segment) close() error { return s.c.close() }
