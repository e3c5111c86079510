package store

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// HeadAt returns the active record of a skill folder.
func (s *Store) HeadAt(dir string) (Record, bool, error) {
	dir, err := Canonical(dir)
	if err != nil {
		return Record{}, false, err
	}
	return s.one(func(v *view) string { return v.folder(dir).head })
}

// Record returns the record with that id.
func (s *Store) Record(id string) (Record, bool, error) {
	return s.one(func(*view) string { return id })
}

func (s *Store) one(id func(v *view) string) (rec Record, ok bool, err error) {
	err = s.read(func(v *view) error {
		rec, ok, err = s.load(v, id(v))
		return err
	})
	return rec, ok, err
}

// load reads a record from its journal line. It is called with s.mu held.
func (s *Store) load(v *view, id string) (Record, bool, error) {
	r, ok := v.row(id)
	if !ok {
		return Record{}, false, nil
	}
	rec, err := s.loadRow(r)
	if err != nil {
		return Record{}, false, fmt.Errorf("record %q: %w", id, err)
	}
	rec.LastUpdated = laterOf(rec.LastUpdated, v.counters(id).Last)
	return rec, true, nil
}

func (s *Store) loadRow(r row) (Record, error) {
	var e event
	if err := s.eventAt(r.at, &e); err != nil {
		return Record{}, err
	}
	if e.Commit == nil || r.op >= len(e.Commit.Ops) || e.Commit.Ops[r.op].Record == nil {
		return Record{}, fmt.Errorf("%w: no record in its journal line", ErrCorrupt)
	}
	rec := *e.Commit.Ops[r.op].Record
	rec.IsActive = r.active
	if r.changed != 0 {
		rec.LastUpdated = laterOf(rec.LastUpdated, time.Unix(0, r.changed).UTC())
	}
	return rec, nil
}

// eventAt reads one line again. It is called with s.mu held.
func (s *Store) eventAt(at place, e *event) error {
	f := s.files[at.seg]
	if f == nil {
		var err error
		if f, err = os.Open(s.j.path(at.seg)); err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		s.files[at.seg] = f
	}
	line, err := readLine(f, at)
	if err != nil {
		return err
	}
	if err := decode(line, e); err != nil {
		return fmt.Errorf("journal %q at byte %d: %w: %w", f.Name(), at.off, ErrCorrupt, err)
	}
	return nil
}

// Counters returns the counters of a record; zeros for an id without analyses.
func (s *Store) Counters(id string) (c Counters, err error) {
	err = s.read(func(v *view) error {
		c = v.counters(id)
		return nil
	})
	return c, err
}

// Children returns the direct children of a record, sorted by id.
func (s *Store) Children(id string) (out []Record, err error) {
	err = s.read(func(v *view) error {
		out, err = s.loadAll(v, v.children(id))
		return err
	})
	return out, err
}

func (v *view) children(id string) (out []string) {
	prefix := keyChild + id + nul
	v.scan(prefix, func(key string, _ []byte) bool {
		out = append(out, key[len(prefix):])
		return true
	})
	return out
}

// loadAll loads records and leaves out ids that are unknown (deleted).
func (s *Store) loadAll(v *view, ids []string) ([]Record, error) {
	var out []Record
	for _, id := range ids {
		rec, ok, err := s.load(v, id)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, rec)
		}
	}
	return out, nil
}

// Ancestors returns all records that a record descends from, each once, oldest
// generation first.
func (s *Store) Ancestors(id string) (out []Record, err error) {
	err = s.read(func(v *view) error {
		out, err = s.walk(v, id, func(r Record) []string { return r.Lineage.ParentSkillIDs })
		return err
	})
	return slices.DeleteFunc(out, func(r Record) bool { return r.SkillID == id }), err
}

// Line returns the whole line of versions that a record belongs to: all that
// are connected with it by fixes, oldest generation first. An unknown id has
// no line.
func (s *Store) Line(id string) (out []Record, err error) {
	err = s.read(func(v *view) error {
		out, err = s.line(v, id)
		return err
	})
	return out, err
}

// Family returns a record and all that are connected with it, through parents
// and children of every kind, oldest generation first. An unknown id has no
// family.
func (s *Store) Family(id string) (out []Record, err error) {
	err = s.read(func(v *view) error {
		out, err = s.walk(v, id, func(r Record) []string { return append(v.children(r.SkillID), r.Lineage.ParentSkillIDs...) })
		return err
	})
	return out, err
}

func (s *Store) line(v *view, id string) ([]Record, error) {
	return s.walk(v, id, func(r Record) []string {
		next := v.children(r.SkillID)
		next = slices.DeleteFunc(next, func(c string) bool {
			child, ok, err := s.load(v, c)
			return err == nil && (!ok || child.Lineage.Origin != OriginFixed)
		})
		if r.Lineage.Origin == OriginFixed {
			next = append(next, r.Lineage.ParentSkillIDs...)
		}
		return next
	})
}

// walk collects a record and all that next leads to.
func (s *Store) walk(v *view, id string, next func(Record) []string) ([]Record, error) {
	var out []Record
	seen := map[string]bool{id: true}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		rec, ok, err := s.load(v, queue[0])
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		out = append(out, rec)
		for _, n := range next(rec) {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	sortRecords(out)
	return out, nil
}

func sortRecords(rs []Record) {
	slices.SortFunc(rs, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Lineage.Generation, b.Lineage.Generation), a.FirstSeen.Compare(b.FirstSeen), strings.Compare(a.SkillID, b.SkillID))
	})
}

// Versions returns all records that ever were in a folder and the whole line
// of its head, oldest generation first.
func (s *Store) Versions(dir string) (out []Record, err error) {
	if dir, err = Canonical(dir); err != nil {
		return nil, err
	}
	err = s.read(func(v *view) error {
		f := v.folder(dir)
		if out, err = s.line(v, f.head); err != nil {
			return err
		}
		have := map[string]bool{}
		for _, r := range out {
			have[r.SkillID] = true
		}
		more, err := s.loadAll(v, slices.DeleteFunc(f.ids, func(id string) bool { return have[id] }))
		out = append(out, more...)
		sortRecords(out)
		return err
	})
	return out, err
}

// All yields every record, or every active one, in the order of the journal.
func (s *Store) All(activeOnly bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		rows, err := s.rows(activeOnly)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, id := range rows {
			rec, ok, err := s.Record(id)
			if (ok || err != nil) && !yield(rec, err) {
				return
			}
		}
	}
}

// rows lists ids in the order of their journal lines.
func (s *Store) rows(activeOnly bool) ([]string, error) {
	type item struct {
		id string
		row
	}
	var items []item
	err := s.read(func(v *view) error {
		items = items[:0]
		v.scan(keyRecord, func(key string, value []byte) bool {
			if r := decodeRow(value); r.active || !activeOnly {
				items = append(items, item{key[1:], r})
			}
			return true
		})
		return v.err
	})
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.at.seg, b.at.seg), cmp.Compare(a.at.off, b.at.off), cmp.Compare(a.op, b.op))
	})
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.id
	}
	return ids, err
}

// WithTree returns the records whose files are exactly this tree.
func (s *Store) WithTree(tree string) (out []Record, err error) {
	err = s.read(func(v *view) error {
		out, err = s.withTree(v, tree)
		return err
	})
	return out, err
}

func (s *Store) withTree(v *view, tree string) ([]Record, error) {
	var ids []string
	prefix := keyTree + tree + nul
	v.scan(prefix, func(key string, _ []byte) bool {
		ids = append(ids, key[len(prefix):])
		return true
	})
	out, err := s.loadAll(v, ids)
	return slices.DeleteFunc(out, func(r Record) bool { return r.Lineage.Tree != tree }), err
}

// Stats counts what the store holds, and what it had to skip.
type Stats struct {
	Records   int    `json:"records"`
	Active    int    `json:"active"`
	Analyses  int    `json:"analyses"`
	Pending   int    `json:"pending"`
	Events    uint64 `json:"events"`
	BadLines  uint64 `json:"bad_lines"`
	Conflicts uint64 `json:"conflicts"`
}

// Stats walks the fold and counts.
func (s *Store) Stats() (out Stats, err error) {
	err = s.read(func(v *view) error {
		out = Stats{Events: v.mark.seq, BadLines: v.mark.bad, Conflicts: v.mark.conflicts}
		v.scan(keyRecord, func(_ string, value []byte) bool {
			out.Records++
			if decodeRow(value).active {
				out.Active++
			}
			return true
		})
		out.Analyses, out.Pending = v.count(keyTask), v.count(keyPending)
		return v.err
	})
	return out, err
}

func (v *view) count(prefix string) (n int) {
	v.scan(prefix, func(string, []byte) bool {
		n++
		return true
	})
	return n
}

// validID is what the journal accepts as the id of a record.
func validID(id string) bool { return skill.ValidID(id) && !strings.Contains(id, nul) }
