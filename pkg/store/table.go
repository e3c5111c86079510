package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The catalogue's format; the table in docs/format-store.md has the offsets.
//
//	version 1: first
//	version 2: tools with their recent calls, fallbacks that really happened
const (
	tableMagic   = "OSCATLG1"
	tableVersion = 2
	tableReader  = 2 // the lowest version that can read what this build writes
	rowSize      = 16
	footerSize   = 72
)

var errDamaged = errors.New("damaged catalogue")

// watermark says of which part of the journal a table is the fold.
type watermark struct {
	pos       position
	seq       uint64
	bad       uint64 // lines that were skipped
	conflicts uint64 // commits that were left out
	tail      uint32 // checksum of the last bytes before pos: ties a table to its journal
}

// table is a sorted list of keys and values in one piece of memory, usually a
// mapped file. Nothing of it is believed without its checksum.
type table struct {
	data []byte
	rows []byte
	n    int
	mark watermark
}

// openTable checks the frame of a table; entries are checked when touched.
func openTable(data []byte) (*table, error) {
	if len(data) < len(tableMagic)+footerSize || string(data[:len(tableMagic)]) != tableMagic {
		return nil, fmt.Errorf("%w: no magic", errDamaged)
	}
	end := len(data) - footerSize
	f := data[end:]
	le := binary.LittleEndian
	if crc32.Checksum(f[:68], castagnoli) != le.Uint32(f[68:]) {
		return nil, fmt.Errorf("%w: footer checksum", errDamaged)
	}
	if reader := le.Uint16(f[62:]); reader > tableVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads up to %d", errDamaged, reader, tableVersion)
	}
	rows, n := le.Uint64(f), le.Uint64(f[8:])
	if rows < uint64(len(tableMagic)) || rows > uint64(end) || n != (uint64(end)-rows)/rowSize || n*rowSize != uint64(end)-rows {
		return nil, fmt.Errorf("%w: %d rows at %d in %d bytes", errDamaged, n, rows, len(data))
	}
	return &table{data: data, rows: data[rows:end], n: int(n), mark: watermark{
		pos: position{seg: le.Uint64(f[16:]), off: int64(le.Uint64(f[24:]))},
		seq: le.Uint64(f[32:]), bad: le.Uint64(f[40:]), conflicts: le.Uint64(f[48:]), tail: le.Uint32(f[56:]),
	}}, nil
}

// entry returns the i-th key and value, which point into the table.
func (t *table) entry(i int) (key, value []byte, err error) {
	le := binary.LittleEndian
	row := t.rows[i*rowSize:]
	off, size, sum := le.Uint64(row), uint64(le.Uint32(row[8:])), le.Uint32(row[12:])
	if off > uint64(len(t.data)) || size > uint64(len(t.data))-off {
		return nil, nil, fmt.Errorf("%w: row %d", errDamaged, i)
	}
	e := t.data[off : off+size : off+size]
	if crc32.Checksum(e, castagnoli) != sum {
		return nil, nil, fmt.Errorf("%w: checksum of row %d", errDamaged, i)
	}
	klen, w := binary.Uvarint(e)
	if w <= 0 || klen > uint64(len(e)-w) {
		return nil, nil, fmt.Errorf("%w: key of row %d", errDamaged, i)
	}
	return e[w : w+int(klen)], e[w+int(klen):], nil
}

// search returns the first row whose key is not below key.
func (t *table) search(key []byte) (int, error) {
	lo, hi := 0, t.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		k, _, err := t.entry(mid)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(k, key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// get returns the value of a key.
func (t *table) get(key []byte) ([]byte, bool, error) {
	i, err := t.search(key)
	if err != nil || i == t.n {
		return nil, false, err
	}
	k, v, err := t.entry(i)
	if err != nil || !bytes.Equal(k, key) {
		return nil, false, err
	}
	return v, true, nil
}

// scan calls fn for the entries that start with prefix, ascending, until it
// fails. A nil table has none.
func (t *table) scan(prefix []byte, fn func(key, value []byte) error) error {
	if t == nil {
		return nil
	}
	i, err := t.search(prefix)
	for ; err == nil && i < t.n; i++ {
		var key, value []byte
		if key, value, err = t.entry(i); err != nil || !bytes.HasPrefix(key, prefix) {
			return err
		}
		err = fn(key, value)
	}
	return err
}

// tableWriter writes a table; keys must come in ascending order.
type tableWriter struct {
	w    io.Writer
	off  uint64
	rows []byte
	buf  []byte
}

func newTableWriter(w io.Writer) (*tableWriter, error) {
	n, err := io.WriteString(w, tableMagic)
	return &tableWriter{w: w, off: uint64(n)}, err
}

func (t *tableWriter) add(key string, value []byte) error {
	t.buf = binary.AppendUvarint(t.buf[:0], uint64(len(key)))
	t.buf = append(append(t.buf, key...), value...)
	t.rows = binary.LittleEndian.AppendUint64(t.rows, t.off)
	t.rows = binary.LittleEndian.AppendUint32(t.rows, uint32(len(t.buf)))
	t.rows = binary.LittleEndian.AppendUint32(t.rows, crc32.Checksum(t.buf, castagnoli))
	t.off += uint64(len(t.buf))
	_, err := t.w.Write(t.buf)
	return err
}

// finish writes the rows and the footer.
func (t *tableWriter) finish(m watermark) error {
	if _, err := t.w.Write(t.rows); err != nil {
		return err
	}
	le := binary.LittleEndian
	f := make([]byte, 0, footerSize)
	for _, n := range []uint64{t.off, uint64(len(t.rows) / rowSize), m.pos.seg, uint64(m.pos.off), m.seq, m.bad, m.conflicts} {
		f = le.AppendUint64(f, n)
	}
	f = le.AppendUint32(f, m.tail)
	f = le.AppendUint16(f, tableVersion)
	f = le.AppendUint16(f, tableReader)
	f = le.AppendUint32(f, 0)
	f = le.AppendUint32(f, crc32.Checksum(f, castagnoli))
	_, err := t.w.Write(f)
	return err
}
