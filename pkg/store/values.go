package store

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// The values of the fold. Decoding takes any bytes: what is cut short reads as
// zeros, since a table's checksums have been checked before.

// row is what the fold knows about a record; the rest stands in the journal.
type row struct {
	active  bool
	at      place // of the commit line
	op      int   // which of its ops
	changed int64 // Unix nanoseconds of the last change of the record
	dir     string
}

func (r row) append(b []byte) []byte {
	active := byte(0)
	if r.active {
		active = 1
	}
	b = r.at.append(append(b, active))
	return append(appendUints(b, uint64(r.op), uint64(r.changed)), r.dir...)
}

func (v *view) row(id string) (row, bool) {
	b, ok := v.get(keyRecord + id)
	if !ok {
		return row{}, false
	}
	return decodeRow(b), true
}

func decodeRow(b []byte) row {
	if len(b) == 0 {
		return row{}
	}
	r := row{active: b[0] == 1}
	f := fields(b[1:])
	r.at, r.op, r.changed = f.place(), int(f.uint()), int64(f.uint())
	r.dir = string(f)
	return r
}

// folder is what the fold knows about a skill folder.
type folder struct {
	head string   // id of the active record, "" if none
	ids  []string // all records that ever were there, oldest first
}

func (v *view) folder(dir string) folder {
	b, ok := v.get(keyDir + dir)
	if !ok {
		return folder{}
	}
	parts := strings.Split(string(b), nul)
	return folder{head: parts[0], ids: parts[1:]}
}

func (v *view) setFolder(dir string, f folder) {
	if f.head == "" && len(f.ids) == 0 {
		v.remove(keyDir + dir)
		return
	}
	v.set(keyDir+dir, []byte(strings.Join(slices.Concat([]string{f.head}, f.ids), nul)))
}

// task is what the fold knows about an analysis.
type task struct {
	at  place
	seq uint64
}

func (t task) append(b []byte) []byte { return appendUints(t.at.append(b), t.seq) }

func (v *view) task(id string) (task, bool) {
	b, ok := v.get(keyTask + id)
	f := fields(b)
	return task{at: f.place(), seq: f.uint()}, ok
}

func (v *view) counters(id string) Counters {
	b, _ := v.get(keyCounters + id)
	f := fields(b)
	c := Counters{Selections: int(f.uint()), Applied: int(f.uint()), Completions: int(f.uint()), Fallbacks: int(f.uint())}
	if ns := f.uint(); ns != 0 {
		c.Last = time.Unix(0, int64(ns)).UTC()
	}
	return c
}

func appendCounters(b []byte, c Counters) []byte {
	return appendUints(b, uint64(c.Selections), uint64(c.Applied), uint64(c.Completions), uint64(c.Fallbacks), nanos(c.Last))
}

// tally is what the fold knows about a tool. The lowest bit is the latest call, 1 if it went well.
type tally struct{ calls, ok, ms, recent, bits uint64 }

// recentCalls is how many calls a tally remembers one by one.
const recentCalls = 64

func (v *view) tally(key string) tally {
	b, _ := v.get(keyTool + key)
	f := fields(b)
	return tally{f.uint(), f.uint(), f.uint(), f.uint(), f.uint()}
}

func (v *view) toolStats(key string) ToolStats {
	t := v.tally(key)
	return ToolStats{Calls: int(t.calls), OK: int(t.ok), MS: int64(t.ms), Recent: int(t.recent), RecentOK: bits.OnesCount64(t.bits)}
}

// nanos is a time as Unix nanoseconds, 0 for the zero time.
func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano())
}

func appendUints(b []byte, ns ...uint64) []byte {
	for _, n := range ns {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (p place) append(b []byte) []byte {
	return appendUints(b, p.seg, uint64(p.off), uint64(p.len))
}

// fields is a value that is read from the front.
type fields []byte

func (f *fields) uint() uint64 {
	n, w := binary.Uvarint(*f)
	if w <= 0 {
		*f = nil
		return 0
	}
	*f = (*f)[w:]
	return n
}

func (f *fields) place() place {
	return place{seg: f.uint(), off: int64(f.uint()), len: int(f.uint())}
}
