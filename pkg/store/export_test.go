package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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

// TailLimit and TailShare make the journal length at which a writer refreshes the catalogue.
const (
	TailLimit = tailLimit
	TailShare = tailShare
)

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

// Generate writes a journal of n imported records below root, with an analysis
// after every tenth, as a store would that had run for long. It syncs nothing
// and stores no objects.
func Generate(home, root string, n int) error {
	s, err := Open(home, Options{})
	if err != nil {
		return err
	}
	if err := s.prepare(context.Background()); err != nil {
		return err
	}
	g := generator{j: s.j, seg: 1}
	for i := range n {
		id := GeneratedID(i)
		r := Record{SkillID: id, Name: "skill-" + strconv.Itoa(i), Description: strings.Repeat("what it does ", 12), IsActive: true,
			Path: filepath.Join(root, "skill-"+strconv.Itoa(i), "SKILL.md"), Tags: []string{"a", "b"},
			Lineage: Lineage{Origin: OriginImported, Tree: sumOf([]byte(id))}}
		s.complete(&r)
		g.add(&event{Op: opCommit, Commit: &commit{Ops: []Op{Put(r)}, Expect: Expect{r.Dir(): ""}}})
		if i%10 == 0 {
			g.add(&event{Op: opAnalysis, Analysis: &Analysis{TaskID: "task_" + strconv.Itoa(i), TaskCompleted: true,
				ExecutionNote: strings.Repeat("note ", 100), SkillJudgments: []Judgment{{SkillID: id, SkillApplied: true}}}})
		}
	}
	return errors.Join(g.err, g.flush(), s.Close())
}

// GeneratedID is the id of the i-th generated record.
func GeneratedID(i int) string { return fmt.Sprintf("skill-%d__imp_%08x", i, i) }

type generator struct {
	j   journal
	seg uint64
	seq uint64
	buf []byte
	err error
}

func (g *generator) add(e *event) {
	g.seq++
	e.V, e.T, e.Seq, e.PID = 1, time.Unix(int64(g.seq), 0).UTC(), g.seq, 1
	line, err := e.encode()
	if len(g.buf)+len(line) > segmentSize {
		err = errors.Join(err, g.flush())
	}
	g.buf = append(g.buf, line...)
	g.err = errors.Join(g.err, err)
}

func (g *generator) flush() error {
	err := os.WriteFile(g.j.path(g.seg), g.buf, 0o600)
	g.seg, g.buf = g.seg+1, g.buf[:0]
	return err
}

// CopyFile is how a file is carried over where it cannot be linked.
var CopyFile = copyFile
