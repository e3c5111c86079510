package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ErrShrunk says that the journal is shorter than what was read of it: forget everything and read again from the start.
var ErrShrunk = errors.New("journal is shorter than before")

// Visit gets one line without its LF, valid during the call only. Lines that carry no valid checksum are not good; of one that is
// longer than MaxLine nothing is given. An error ends the replay.
type Visit func(at Place, line []byte, good bool) error

// Replay visits the lines after p in order and moves p along, past each line before its visit. It stops before a last line that has no LF yet.
func (j *Journal) Replay(p *Position, visit Visit) error {
	// The list is made before any segment is read to its end: what is not the last one in it does not grow any more.
	segs, err := j.Segments()
	if err != nil {
		return err
	}
	if p.Seg != 0 && !slices.Contains(segs, p.Seg) {
		return ErrShrunk
	}
	for i, seg := range segs {
		if seg < p.Seg {
			continue
		}
		if seg > p.Seg {
			*p = Position{Seg: seg}
		}
		if err := j.replaySegment(p, i < len(segs)-1, visit); err != nil {
			return err
		}
	}
	return nil
}

// CatchUp is Replay for a writer that holds the lock: a last line that a dead writer left without its LF gets one and is visited too.
func (j *Journal) CatchUp(p *Position, visit Visit) error {
	if err := j.Replay(p, visit); err != nil || p.Seg == 0 {
		return err
	}
	info, err := os.Stat(j.Path(p.Seg))
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	if info.Size() == p.Off {
		return nil
	}
	if err := j.extend(Position{p.Seg, info.Size()}, []byte{'\n'}); err != nil {
		return err
	}
	return j.Replay(p, visit)
}

func (j *Journal) replaySegment(p *Position, final bool, visit Visit) error {
	f, err := os.Open(j.Path(p.Seg))
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	rest := info.Size() - p.Off
	if rest < 0 {
		return ErrShrunk
	}
	if rest == 0 {
		return nil
	}
	r := lineReader{r: bufio.NewReaderSize(io.NewSectionReader(f, p.Off, rest), int(min(rest, 256<<10)))}
	for {
		line, n, whole, err := r.next()
		if err != nil {
			return fmt.Errorf("read journal %q: %w", f.Name(), err)
		}
		if n == 0 || !whole && !final {
			return nil
		}
		at := Place{Seg: p.Seg, Off: p.Off, Len: uint32(len(line))}
		p.Off += int64(n)
		if line != nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := visit(at, line, Check(line)); err != nil {
			return err
		}
	}
}

// lineReader reads lines and forgets the content of those that are too long.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

// next returns a line without its LF, how many bytes it takes with it, and whether it had one. A line longer than MaxLine is
// nil. n is 0 at the end.
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
		case n <= MaxLine:
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
