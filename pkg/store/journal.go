package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	segmentSize = 16 << 20
	segmentExt  = ".jsonl"
)

// position is a place between two lines of the journal. The zero position is
// its start.
type position struct {
	seg uint64
	off int64
}

// place is where a line stands, without its LF.
type place struct {
	seg uint64
	off int64
	len int
}

// journal is a folder of segments.
type journal struct{ dir string }

func (j journal) path(seg uint64) string {
	return filepath.Join(j.dir, fmt.Sprintf("%06d%s", seg, segmentExt))
}

// segments lists the numbers of the segments, ascending.
func (j journal) segments() ([]uint64, error) {
	entries, err := os.ReadDir(j.dir)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}
	var out []uint64
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentExt)
		n, err := strconv.ParseUint(digits, 10, 32)
		if ok && err == nil && n > 0 && e.Name() == filepath.Base(j.path(n)) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// size is the length of a segment; 0 when it is missing.
func (j journal) size(seg uint64) (int64, error) {
	info, err := os.Stat(j.path(seg))
	if absent(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	return info.Size(), nil
}

// unchanged reports whether there is nothing to read after p, by two stats.
func (j journal) unchanged(p position) bool {
	if p.seg == 0 {
		return false
	}
	size, err := j.size(p.seg)
	if err != nil || size != p.off {
		return false
	}
	_, err = os.Stat(j.path(p.seg + 1))
	return absent(err)
}

// errShrunk says that a segment is shorter than what was read of it: whoever
// wrote the end cut it off again, and what was read must be forgotten.
var errShrunk = errors.New("journal is shorter than before")

// replay calls fn for every line after p, in order, and moves p along, before
// each call. A last line that has no LF yet is left alone. line is valid during
// the call only; it is nil when it was longer than maxLine.
func (j journal) replay(p *position, fn func(at place, line []byte)) error {
	// The list is made before any segment is read to its end: what is not the
	// last one in it does not grow any more.
	segs, err := j.segments()
	if err != nil {
		return err
	}
	if p.seg != 0 && !slices.Contains(segs, p.seg) {
		return errShrunk
	}
	for i, seg := range segs {
		if seg < p.seg {
			continue
		}
		if seg > p.seg {
			*p = position{seg: seg}
		}
		if err := j.replaySegment(p, i < len(segs)-1, fn); err != nil {
			return err
		}
	}
	return nil
}

func (j journal) replaySegment(p *position, final bool, fn func(at place, line []byte)) error {
	f, err := os.Open(j.path(p.seg))
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	rest := info.Size() - p.off
	if rest < 0 {
		return errShrunk
	}
	if rest == 0 {
		return nil
	}
	r := lineReader{r: bufio.NewReaderSize(io.NewSectionReader(f, p.off, rest), int(min(rest, 256<<10)))}
	for {
		line, n, whole, err := r.next()
		if err != nil {
			return fmt.Errorf("read journal %q: %w", f.Name(), err)
		}
		if n == 0 || !whole && !final {
			return nil
		}
		at := place{p.seg, p.off, len(line)}
		p.off += int64(n)
		if line == nil || len(bytes.TrimSpace(line)) > 0 {
			fn(at, line)
		}
	}
}

// lineReader reads lines and forgets the content of those that are too long.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

// next returns a line without its LF, how many bytes it takes with it, and
// whether it had one. A line longer than maxLine is nil. n is 0 at the end.
func (l *lineReader) next() (line []byte, n int, whole bool, err error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		n += len(part)
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return nil, n, false, err
		}
		switch {
		case !full && n == len(part):
			line = part // the common case: no copy
		case n <= maxLine:
			l.long = append(l.long, part...)
			line = l.long
		default:
			line = nil
		}
		if !full {
			whole = len(part) > 0 && part[len(part)-1] == '\n'
			return bytes.TrimSuffix(line, []byte{'\n'}), n, whole, nil
		}
	}
}

// tailSum is a checksum of the last bytes before p, 0 at the start of a
// segment. It fails with errShrunk when those bytes are gone.
func (j journal) tailSum(p position) (uint32, error) {
	if p.off == 0 {
		return 0, nil
	}
	f, err := os.Open(j.path(p.seg))
	if absent(err) {
		return 0, errShrunk
	}
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	buf := make([]byte, min(p.off, 32))
	_, err = f.ReadAt(buf, p.off-int64(len(buf)))
	if errors.Is(err, io.EOF) {
		return 0, errShrunk
	}
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	return crc32.Checksum(buf, castagnoli), nil
}

// readLine reads one line at a place that a checked line had.
func readLine(r io.ReaderAt, at place) ([]byte, error) {
	if at.len < 0 || at.len > maxLine {
		return nil, fmt.Errorf("%w: length %d", errBadLine, at.len)
	}
	buf := make([]byte, at.len)
	if _, err := r.ReadAt(buf, at.off); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return buf, nil
}
