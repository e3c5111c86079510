package vec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

const (
	// MaxDim is the widest vector that a matrix takes.
	MaxDim = 16384
	// MaxModel is the longest name of a model, in bytes.
	MaxModel = 255

	fileMagic   = "OSVECTR\n"
	blockMagic  = "OSVBLOCK"
	version     = 1
	headerSize  = 320
	blockHeader = 64
	align       = 64
	lanes       = 32 // a row is padded to a multiple of this many numbers
)

var (
	// ErrWidth is reported for a vector of another width than its matrix.
	ErrWidth = errors.New("vector of another width")
	// ErrValue is reported for a vector that has no direction: zero, or with a NaN or an infinity.
	ErrValue = errors.New("vector without a direction")
	// ErrDamaged is reported for a file that is not, or no longer, a matrix.
	ErrDamaged = errors.New("matrix is damaged")

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Batch collects what one block adds: new rows and deleted keys.
type Batch struct {
	dim, width int
	keys, dead []uint64
	scales     []float32
	sums       []uint32
	rough      []int8
	exact      []float32
}

// NewBatch returns an empty batch for vectors of dim numbers.
func NewBatch(dim int) *Batch { return &Batch{dim: dim, width: padded(dim)} }

func padded(dim int) int { return (dim + lanes - 1) / lanes * lanes }

// Len returns the number of new rows.
func (b *Batch) Len() int { return len(b.keys) }

// Add puts v, at length 1, under key. It reports [ErrWidth] or [ErrValue] and then adds nothing.
func (b *Batch) Add(key uint64, v []float32) error {
	if len(v) != b.dim || len(v) == 0 || len(v) > MaxDim {
		return fmt.Errorf("%w: %d numbers, not %d", ErrWidth, len(v), b.dim)
	}
	row := make([]float32, b.width)
	if err := Unit(v, row); err != nil {
		return err
	}
	codes := make([]int8, b.width)
	b.scales = append(b.scales, quantize(row, codes))
	b.keys = append(b.keys, key)
	b.sums = append(b.sums, crc32.Checksum(rawBytes(row), castagnoli))
	b.exact = append(b.exact, row...)
	b.rough = append(b.rough, codes...)
	return nil
}

// Row returns the i-th new row as it will be read back.
func (b *Batch) Row(i int) []float32 { return b.exact[i*b.width : i*b.width+b.dim : i*b.width+b.dim] }

// Delete takes away the rows of key that are in the matrix before this batch.
func (b *Batch) Delete(key uint64) { b.dead = append(b.dead, key) }

// up returns n rounded up to the alignment of sections.
func up(n uint64) uint64 { return (n + align - 1) / align * align }

// sizes are the offsets in a block of n rows and d deleted keys.
type sizes struct{ dead, scales, sums, rough, exact, end uint64 }

func sizesOf(n, d, width uint64) sizes {
	var s sizes
	s.dead = blockHeader + 8*n
	s.scales = s.dead + 8*d
	s.sums = s.scales + 4*n
	s.rough = up(s.sums + 4*n)
	s.exact = up(s.rough + n*width)
	s.end = up(s.exact + 4*n*width)
	return s
}

// encode returns the block.
func (b *Batch) encode() []byte {
	s := sizesOf(uint64(len(b.keys)), uint64(len(b.dead)), uint64(b.width))
	out := make([]byte, s.end)
	at := out[blockHeader:]
	for _, k := range append(b.keys[:len(b.keys):len(b.keys)], b.dead...) {
		binary.LittleEndian.PutUint64(at, k)
		at = at[8:]
	}
	for _, x := range b.scales {
		binary.LittleEndian.PutUint32(at, math.Float32bits(x))
		at = at[4:]
	}
	for _, x := range b.sums {
		binary.LittleEndian.PutUint32(at, x)
		at = at[4:]
	}
	copy(out[s.rough:], rawBytes(b.rough))
	copy(out[s.exact:], rawBytes(b.exact))
	copy(out, blockMagic)
	binary.LittleEndian.PutUint64(out[8:], s.end)
	binary.LittleEndian.PutUint32(out[16:], uint32(len(b.keys)))
	binary.LittleEndian.PutUint32(out[20:], uint32(len(b.dead)))
	binary.LittleEndian.PutUint32(out[24:], crc32.Checksum(out[blockHeader:s.rough], castagnoli))
	binary.LittleEndian.PutUint32(out[28:], crc32.Checksum(out[:28], castagnoli))
	return out
}

// header returns the head of a file.
func header(model string, dim int) ([]byte, error) {
	if dim < 1 || dim > MaxDim {
		return nil, fmt.Errorf("%w: %d numbers, not 1 to %d", ErrWidth, dim, MaxDim)
	}
	if model == "" || len(model) > MaxModel {
		return nil, fmt.Errorf("the name of a model has 1 to %d bytes, not %d", MaxModel, len(model))
	}
	h := make([]byte, headerSize)
	copy(h, fileMagic)
	binary.LittleEndian.PutUint32(h[8:], version)
	binary.LittleEndian.PutUint32(h[12:], version)
	binary.LittleEndian.PutUint32(h[16:], uint32(dim))
	binary.LittleEndian.PutUint32(h[20:], uint32(len(model)))
	copy(h[64:], model)
	binary.LittleEndian.PutUint32(h[24:], crc32.Checksum(h, castagnoli))
	return h, nil
}

// Write writes a new matrix with the rows of b to w. Through atomicfile.WriteWith it makes a file.
func Write(w io.Writer, model string, b *Batch) error {
	h, err := header(model, b.dim)
	if err != nil {
		return err
	}
	if _, err := w.Write(h); err != nil {
		return err
	}
	_, err = w.Write(b.encode())
	return err
}

// Append adds b as a block to the matrix in the file at path, which must be of the same model and width; see
// [ModelError]. What a crash left behind the last whole block is cut off. When Append returns nil the block
// is on disk; when it was interrupted, the matrix is as it was before.
func Append(path, model string, b *Batch) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err := Open(path, model)
	if err != nil {
		return err
	}
	end := int64(m.end)
	same := m.dim == b.dim
	if err := m.Close(); err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("append to %q: %w", path, ErrWidth)
	}
	return appendBlock(f, end, b.encode())
}

// appendBlock writes block at end: the body, and when that is on disk, the header that makes it count.
func appendBlock(f *os.File, end int64, block []byte) error {
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(block[blockHeader:], end+blockHeader); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.WriteAt(block[:blockHeader], end); err != nil {
		return err
	}
	return f.Sync()
}

// New returns a matrix in memory, for when nothing can be written.
func New(model string, b *Batch) (*Matrix, error) {
	var buf bytes.Buffer
	if err := Write(&buf, model, b); err != nil {
		return nil, err
	}
	return parse(alignedCopy(buf.Bytes()), model)
}
