package journal

import (
	"fmt"
	"io"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// Compact writes a segment anew without the good lines that keep says no to, and returns how many bytes that saved; bad lines go too. It must not be the
// last segment, no Place in it may be used afterwards, and the caller holds the lock of all writers.
func (j *Journal) Compact(seg uint32, keep func(at Place, line []byte) bool) (saved int64, err error) {
	total, kept := int64(0), int64(0)
	err = atomicfile.WriteWith(j.Path(seg), 0o600, func(w io.Writer) error {
		p := Position{Seg: seg}
		return j.replaySegment(&p, true, func(at Place, line []byte, good bool) error {
			total += int64(len(line)) + 1
			if !good || !keep(at, line) {
				return nil
			}
			kept += int64(len(line)) + 1
			_, err := w.Write(append(line[:len(line):len(line)], '\n'))
			return err
		})
	}, atomicfile.Tidy())
	if err != nil {
		return 0, fmt.Errorf("compact journal segment %d: %w", seg, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.files[seg]; f != nil {
		delete(j.files, seg)
		err = f.Close()
	}
	return total - kept, err
}
