package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/edsrzf/mmap-go"
)

// Versions of the files; docs/format-index.md keeps the list of what changed.
const (
	formatVersion   = 1 // what this build writes
	minReader       = 1 // the oldest reader that understands it
	AnalyzerVersion = 1 // how text becomes terms and impacts; another one means rebuild
)

const (
	magic       = "OSINDEX\n"
	headerSize  = 40
	sectionSize = 24
	checkWhole  = 64 << 10 // smaller files are checked whole when opened
)

// ErrDamaged reports an index file that is torn, altered or of no use to this build. The cure is always to
// build the index again.
var ErrDamaged = errors.New("damaged index")

// ErrLocked reports that another process has held the index for longer than the wait allows, and that there
// is no older state to search.
var ErrLocked = errors.New("index locked")

// ErrVersion reports an index file that only a newer program can read.
var ErrVersion = errors.New("index format too new")

// VersionError is an [ErrVersion] with the numbers.
type VersionError struct {
	Needs, Have uint32
}

// Is makes a VersionError an [ErrVersion].
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

func (e *VersionError) Error() string {
	return fmt.Sprintf("index format needs a reader of version %d, this program is version %d", e.Needs, e.Have)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(parts ...[]byte) uint32 {
	c := uint32(0)
	for _, p := range parts {
		c = crc32.Update(c, castagnoli, p)
	}
	return c
}

type section struct {
	id   uint32
	data []byte
}

// encodeContainer lays sections out as one file.
func encodeContainer(sections []section) []byte {
	size := align8(headerSize + sectionSize*len(sections))
	for _, s := range sections {
		size = align8(size + len(s.data))
	}
	out := make([]byte, headerSize, size)
	le := binary.LittleEndian
	copy(out, magic)
	le.PutUint32(out[8:], formatVersion)
	le.PutUint32(out[12:], minReader)
	le.PutUint32(out[16:], AnalyzerVersion)
	le.PutUint32(out[20:], uint32(len(sections)))
	le.PutUint64(out[24:], uint64(size))
	offset := align8(headerSize + sectionSize*len(sections))
	for _, s := range sections {
		out = le.AppendUint32(out, s.id)
		out = le.AppendUint32(out, checksum(s.data))
		out = le.AppendUint64(out, uint64(offset))
		out = le.AppendUint64(out, uint64(len(s.data)))
		offset = align8(offset + len(s.data))
	}
	le.PutUint32(out[32:], checksum(out[:32], out[headerSize:]))
	for _, s := range sections {
		out = append(pad8(out), s.data...)
	}
	return pad8(out)
}

func align8(n int) int { return (n + 7) &^ 7 }

func pad8(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// container is an opened file. Its sections alias the mapped memory and are gone after close.
type container struct {
	data     []byte
	mapped   mmap.MMap // nil when data is ordinary memory
	sections map[uint32][]byte
	sums     map[uint32]uint32
}

// openContainer maps the file at path.
func openContainer(path string) (*container, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return nil, err
	} else if fi.Size() < headerSize {
		return nil, fmt.Errorf("open index file %q: %w: %d bytes", path, ErrDamaged, fi.Size())
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("map index file %q: %w", path, err)
	}
	c, err := decodeContainer(m)
	if err != nil {
		m.Unmap()
		return nil, fmt.Errorf("open index file %q: %w", path, err)
	}
	c.mapped = m
	return c, nil
}

// decodeContainer checks the header and the section table of data, and all of a small file.
func decodeContainer(data []byte) (*container, error) {
	le := binary.LittleEndian
	if len(data) < headerSize || string(data[:8]) != magic {
		return nil, fmt.Errorf("%w: not an index file", ErrDamaged)
	}
	n := int(le.Uint32(data[20:]))
	if le.Uint64(data[24:]) != uint64(len(data)) || n > (len(data)-headerSize)/sectionSize {
		return nil, fmt.Errorf("%w: wrong size", ErrDamaged)
	}
	table := data[headerSize : headerSize+sectionSize*n]
	if checksum(data[:32], table) != le.Uint32(data[32:]) {
		return nil, fmt.Errorf("%w: header checksum", ErrDamaged)
	}
	if needs := le.Uint32(data[12:]); needs > formatVersion {
		return nil, &VersionError{needs, formatVersion}
	}
	if v := le.Uint32(data[16:]); v != AnalyzerVersion {
		return nil, fmt.Errorf("%w: made by analyzer version %d, this is %d", ErrDamaged, v, AnalyzerVersion)
	}
	c := &container{data: data, sections: make(map[uint32][]byte, n), sums: make(map[uint32]uint32, n)}
	for ; len(table) > 0; table = table[sectionSize:] {
		id, off, size := le.Uint32(table), le.Uint64(table[8:]), le.Uint64(table[16:])
		if off > uint64(len(data)) || size > uint64(len(data))-off {
			return nil, fmt.Errorf("%w: section %d outside the file", ErrDamaged, id)
		}
		c.sections[id], c.sums[id] = data[off:off+size], le.Uint32(table[4:])
	}
	if len(data) < checkWhole {
		return c, c.verify()
	}
	return c, nil
}

// verify checks every section against its checksum.
func (c *container) verify() error {
	for id, s := range c.sections {
		if checksum(s) != c.sums[id] {
			return fmt.Errorf("%w: checksum of section %d", ErrDamaged, id)
		}
	}
	return nil
}

func (c *container) close() error {
	if c.mapped == nil {
		return nil
	}
	m := c.mapped
	c.mapped, c.data, c.sections = nil, nil, nil
	return m.Unmap()
}
