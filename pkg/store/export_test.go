package store

import (
	"bytes"
	"maps"
	"slices"
)

// PlainRename makes a store behave as on a file system that cannot exchange
// folders.
func (s *Store) PlainRename() { s.plainRename = true }

// SegmentPath is where a journal segment lies.
func (s *Store) SegmentPath(n uint64) string { return s.j.path(n) }

// ObjectPath is where an object lies.
func (s *Store) ObjectPath(sum string) string { return s.objectPath(sum) }

// CataloguePath is where the catalogue lies.
func (s *Store) CataloguePath() string { return s.cataloguePath() }

// SegmentSize is the length at which a segment ends.
const SegmentSize = segmentSize

// TailLimit is the journal length that makes a writer refresh the catalogue.
const TailLimit = tailLimit

// CheckLine decodes one journal line and encodes it again.
func CheckLine(line []byte) (again []byte, err error) {
	var e event
	if err := decode(line, &e); err != nil {
		return nil, err
	}
	return e.encode()
}

// SealLine gives a JSON object its checksum.
func SealLine(object string) string { return string(appendSum([]byte(object))) }

// WriteTable makes a table.
func WriteTable(entries map[string][]byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := newTableWriter(&buf)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if err := w.add(key, entries[key]); err != nil {
			return nil, err
		}
	}
	err = w.finish(watermark{seq: 7})
	return buf.Bytes(), err
}

// ReadTable opens any bytes as a table and looks at everything in it; key is
// looked up as well.
func ReadTable(data []byte, key string) (entries map[string][]byte, value []byte, err error) {
	t, err := openTable(data)
	if err != nil {
		return nil, nil, err
	}
	entries = map[string][]byte{}
	for i := range t.n {
		k, v, err := t.entry(i)
		if err != nil {
			return entries, nil, err
		}
		entries[string(k)] = v
		decodeRow(v)
	}
	value, _, err = t.get([]byte(key))
	return entries, value, err
}

// FoldLines folds lines that carry checksums and tells what was skipped.
func FoldLines(data []byte) (bad, conflicts uint64) {
	v := newView(nil)
	for line := range bytes.Lines(data) {
		v.line(place{seg: 1, len: len(line)}, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return v.mark.bad, v.mark.conflicts
}
