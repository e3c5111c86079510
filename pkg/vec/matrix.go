package vec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/edsrzf/mmap-go"
)

// Matrix is an open matrix. Its rows are numbered from 0 on in the order in which they were added, deleted ones too.
type Matrix struct {
	model      string
	dim, width int
	blocks     []block
	rows, live int
	dead       []uint64 // bitmap of deleted rows; nil when there is none
	end        uint64   // of the last whole block
	mapped     mmap.MMap
	file       *os.File
}

// block is one block, used in place.
type block struct {
	base   int // number of its first row
	keys   []uint64
	dead   []uint64
	scales []float32
	sums   []uint32
	rough  []int8
	exact  []float32
}

// ModelError is reported when a matrix is of another model than wanted.
type ModelError struct{ Have, Want string }

// Error names both models.
func (e *ModelError) Error() string {
	return fmt.Sprintf("vectors are of the model %q, not of %q", e.Have, e.Want)
}

// VersionError is reported for a file of a newer format.
type VersionError struct{ File, Own int }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("vectors need a reader of format version %d, this one has %d", e.File, e.Own)
}

// Open maps the matrix in the file at path. It reports [ErrDamaged], a *[ModelError] when model is not empty
// and not that of the file, or a *[VersionError]. Opening reads keys and sums, not rows.
func Open(path, model string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < headerSize {
		err = fmt.Errorf("%w: %d bytes", ErrDamaged, info.Size())
	}
	var mapped mmap.MMap
	if err == nil {
		mapped, err = mmap.Map(f, mmap.RDONLY, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %q: %w", path, err), f.Close())
	}
	m, err := parse(mapped, model)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %q: %w", path, err), mapped.Unmap(), f.Close())
	}
	m.mapped, m.file = mapped, f
	return m, nil
}

// Close lets go of the file. The matrix must not be used after it.
func (m *Matrix) Close() error {
	if m.mapped == nil {
		return nil
	}
	return errors.Join(m.mapped.Unmap(), m.file.Close())
}

// parse reads a whole file.
func parse(data []byte, model string) (*Matrix, error) {
	if !littleEndian() {
		return nil, errors.New("vectors need a little-endian machine")
	}
	m, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	if model != "" && model != m.model {
		return nil, &ModelError{m.model, model}
	}
	m.end = headerSize
	for {
		b, size, err := m.parseBlock(data[m.end:])
		if err != nil {
			return nil, err
		}
		if size == 0 {
			break
		}
		m.end += size
		m.rows += len(b.keys)
		m.blocks = append(m.blocks, b)
	}
	m.bury()
	return m, nil
}

func parseHeader(data []byte) (*Matrix, error) {
	if len(data) < headerSize || string(data[:8]) != fileMagic {
		return nil, fmt.Errorf("%w: not a matrix file", ErrDamaged)
	}
	if lowest := binary.LittleEndian.Uint32(data[12:]); lowest > version {
		return nil, &VersionError{int(lowest), version}
	}
	h := append([]byte(nil), data[:headerSize]...)
	sum := binary.LittleEndian.Uint32(h[24:])
	binary.LittleEndian.PutUint32(h[24:], 0)
	dim, name := binary.LittleEndian.Uint32(h[16:]), binary.LittleEndian.Uint32(h[20:])
	if crc32.Checksum(h, castagnoli) != sum || dim < 1 || dim > MaxDim || name > MaxModel {
		return nil, fmt.Errorf("%w: header", ErrDamaged)
	}
	return &Matrix{model: string(h[64 : 64+name]), dim: int(dim), width: padded(int(dim))}, nil
}

// parseBlock reads the block at the beginning of data. A size of 0 says that no whole block begins there.
func (m *Matrix) parseBlock(data []byte) (b block, size uint64, err error) {
	if len(data) < blockHeader || string(data[:8]) != blockMagic ||
		crc32.Checksum(data[:28], castagnoli) != binary.LittleEndian.Uint32(data[28:]) {
		return b, 0, nil
	}
	size = binary.LittleEndian.Uint64(data[8:])
	n, d := uint64(binary.LittleEndian.Uint32(data[16:])), uint64(binary.LittleEndian.Uint32(data[20:]))
	s := sizesOf(n, d, uint64(m.width))
	if size > uint64(len(data)) {
		return b, 0, nil
	}
	if s.end != size || crc32.Checksum(data[blockHeader:s.rough], castagnoli) != binary.LittleEndian.Uint32(data[24:]) {
		return b, 0, fmt.Errorf("%w: block of %d rows", ErrDamaged, n)
	}
	return block{
		base:   m.rows,
		keys:   rawSlice[uint64](data, blockHeader, n),
		dead:   rawSlice[uint64](data, s.dead, d),
		scales: rawSlice[float32](data, s.scales, n),
		sums:   rawSlice[uint32](data, s.sums, n),
		rough:  rawSlice[int8](data, s.rough, n*uint64(m.width)),
		exact:  rawSlice[float32](data, s.exact, n*uint64(m.width)),
	}, size, nil
}

// bury marks the rows of deleted keys.
func (m *Matrix) bury() {
	m.live = m.rows
	last := map[uint64]int{} // deleted key → first row that is not covered
	for _, b := range m.blocks {
		for _, k := range b.dead {
			last[k] = b.base
		}
	}
	if len(last) == 0 {
		return
	}
	m.dead = make([]uint64, (m.rows+63)/64)
	for _, b := range m.blocks {
		for i, k := range b.keys {
			if b.base+i < last[k] {
				m.dead[(b.base+i)/64] |= 1 << ((b.base + i) % 64)
				m.live--
			}
		}
	}
}

// Model returns the name of the model that made the vectors.
func (m *Matrix) Model() string { return m.model }

// Dim returns the width of the vectors.
func (m *Matrix) Dim() int { return m.dim }

// Len returns the number of rows, deleted ones too.
func (m *Matrix) Len() int { return m.rows }

// Live returns the number of rows that are not deleted.
func (m *Matrix) Live() int { return m.live }

// Deleted reports whether row i is deleted.
func (m *Matrix) Deleted(i int) bool { return m.dead != nil && m.dead[i/64]>>(i%64)&1 == 1 }

// Find returns for each key the row that holds it, the last one if there are several, or −1.
func (m *Matrix) Find(keys []uint64) []int32 {
	t := newTable(m.live)
	for _, b := range m.blocks {
		for i, k := range b.keys {
			if !m.Deleted(b.base + i) {
				t.put(k, int32(b.base+i))
			}
		}
	}
	out := make([]int32, len(keys))
	for i, k := range keys {
		out[i] = t.get(k)
	}
	return out
}

// at returns the block of row i and its number there.
func (m *Matrix) at(i int) (*block, int) {
	b := len(m.blocks) - 1
	for m.blocks[b].base > i {
		b--
	}
	return &m.blocks[b], i - m.blocks[b].base
}

// Key returns the key of row i.
func (m *Matrix) Key(i int) uint64 {
	b, j := m.at(i)
	return b.keys[j]
}

// row returns the exact row i, checked against its sum.
func (m *Matrix) row(i int) ([]float32, error) {
	b, j := m.at(i)
	r := b.exact[j*m.width : (j+1)*m.width]
	if crc32.Checksum(rawBytes(r), castagnoli) != b.sums[j] {
		return nil, fmt.Errorf("%w: row %d", ErrDamaged, i)
	}
	return r, nil
}

// Row returns a copy of the vector in row i.
func (m *Matrix) Row(i int) (v []float32, err error) {
	defer guard(&err)()
	r, err := m.row(i)
	if err != nil {
		return nil, err
	}
	return append([]float32(nil), r[:m.dim]...), nil
}

// Wasteful reports whether so much is deleted, or so many blocks have come together, that a [Matrix.Compact] pays.
func (m *Matrix) Wasteful() bool { return len(m.blocks) > 64 || 4*m.live < 3*m.rows }

// Compact writes a new matrix of the live rows, in their order, to w.
func (m *Matrix) Compact(w io.Writer) (err error) {
	defer guard(&err)()
	b := NewBatch(m.dim)
	for i := range m.rows {
		if m.Deleted(i) {
			continue
		}
		r, err := m.row(i)
		if err != nil {
			return err
		}
		old, j := m.at(i)
		b.keys, b.scales, b.sums = append(b.keys, old.keys[j]), append(b.scales, old.scales[j]), append(b.sums, old.sums[j])
		b.exact = append(b.exact, r...)
		b.rough = append(b.rough, old.rough[j*m.width:(j+1)*m.width]...)
	}
	return Write(w, m.model, b)
}

// table finds rows by key: open addressing, at most half full. A map would take three times as long to fill.
type table struct {
	keys []uint64
	rows []int32 // + 1; 0 for a free slot
	mask uint64
}

func newTable(n int) table {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return table{make([]uint64, size), make([]int32, size), uint64(size - 1)}
}

func (t *table) slot(k uint64) uint64 {
	at := (k * 0x9E3779B97F4A7C15) >> 20 & t.mask
	for t.rows[at] != 0 && t.keys[at] != k {
		at = (at + 1) & t.mask
	}
	return at
}

func (t *table) put(k uint64, row int32) {
	at := t.slot(k)
	t.keys[at], t.rows[at] = k, row+1
}

func (t *table) get(k uint64) int32 { return t.rows[t.slot(k)] - 1 }
