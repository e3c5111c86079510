package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

const (
	segmentSize = 16 << 20
	segmentExt  = ".jsonl"
)

// Position is a place between two lines. The zero Position is the start.
type Position struct {
	Seg uint32
	Off int64
}

// Place is where a line stands, without its LF.
type Place struct {
	Off int64
	Seg uint32
	Len uint32
}

// ErrDamaged reports a line that is not what was written.
var ErrDamaged = errors.New("damaged line")

// Journal is a folder of segments.
type Journal struct {
	dir string

	mu     sync.Mutex
	files  map[uint32]*os.File // opened for reading
	broken error               // a sync failed: nothing is known of the disk
}

// New returns the journal in a folder, which may be missing as long as nothing is appended.
func New(dir string) *Journal { return &Journal{dir: dir, files: map[uint32]*os.File{}} }

// Close lets go of the files.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	for _, f := range j.files {
		err = errors.Join(err, f.Close())
	}
	clear(j.files)
	return err
}

// Path returns the file of a segment.
func (j *Journal) Path(seg uint32) string {
	return filepath.Join(j.dir, fmt.Sprintf("%06d%s", seg, segmentExt))
}

// Segments lists the numbers of the segments, ascending.
func (j *Journal) Segments() ([]uint32, error) {
	entries, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}
	var out []uint32
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentExt)
		n, err := strconv.ParseUint(digits, 10, 31)
		if ok && err == nil && n > 0 && e.Name() == filepath.Base(j.Path(uint32(n))) {
			out = append(out, uint32(n))
		}
	}
	slices.Sort(out)
	return out, nil
}

// Unchanged reports whether nothing stands after p, by two calls of stat.
func (j *Journal) Unchanged(p Position) bool {
	if p.Seg == 0 {
		_, err := os.Stat(j.Path(1))
		return errors.Is(err, fs.ErrNotExist)
	}
	info, err := os.Stat(j.Path(p.Seg))
	if err != nil || info.Size() != p.Off {
		return false
	}
	_, err = os.Stat(j.Path(p.Seg + 1))
	return errors.Is(err, fs.ErrNotExist)
}

// Read reads one line again. What is not a checked line is ErrDamaged.
func (j *Journal) Read(at Place) ([]byte, error) {
	if at.Len > MaxLine {
		return nil, fmt.Errorf("read journal: %w: length %d", ErrDamaged, at.Len)
	}
	f, err := j.file(at.Seg)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	line := make([]byte, at.Len)
	if _, err := f.ReadAt(line, at.Off); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if !Check(line) {
		return nil, fmt.Errorf("read journal segment %d at %d: %w", at.Seg, at.Off, ErrDamaged)
	}
	return line, nil
}

func (j *Journal) file(seg uint32) (*os.File, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.files[seg]; f != nil {
		return f, nil
	}
	f, err := os.Open(j.Path(seg))
	if err == nil {
		j.files[seg] = f
	}
	return f, err
}

// Append seals the objects, writes them as lines after p with one write, syncs, and moves p behind them. The caller holds the lock of all writers and p
// is the end: see CatchUp. The places are those of the lines, in order.
func (j *Journal) Append(p *Position, objects [][]byte) ([]Place, error) {
	if j.broken != nil {
		return nil, fmt.Errorf("append to journal: an earlier sync failed: %w", j.broken)
	}
	var buf []byte
	places := make([]Place, len(objects))
	for i, o := range objects {
		line := Seal(o)
		if len(line) >= MaxLine {
			return nil, fmt.Errorf("append to journal: a line of %d bytes, at most %d are allowed", len(line), MaxLine)
		}
		places[i] = Place{Off: int64(len(buf)), Len: uint32(len(line))}
		buf = append(append(buf, line...), '\n')
	}
	at, err := j.room(*p, int64(len(buf)))
	if err != nil {
		return nil, err
	}
	if err := j.extend(at, buf); err != nil {
		return nil, err
	}
	for i := range places {
		places[i].Seg, places[i].Off = at.Seg, places[i].Off+at.Off
	}
	*p = Position{at.Seg, at.Off + int64(len(buf))}
	return places, nil
}

// room returns where n bytes are appended: in a new segment when the last is full.
func (j *Journal) room(p Position, n int64) (Position, error) {
	if p.Seg != 0 && (p.Off == 0 || p.Off+n <= segmentSize) {
		return p, nil
	}
	next := Position{Seg: p.Seg + 1}
	f, err := os.OpenFile(j.Path(next.Seg), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = atomicfile.SyncDir(j.dir)
	}
	if err != nil {
		return p, fmt.Errorf("start journal segment: %w", err)
	}
	return next, nil
}

// extend appends to the end of a segment. When that fails, a full disk being the usual reason, the segment gets its old length back.
func (j *Journal) extend(at Position, data []byte) (err error) {
	f, err := os.OpenFile(j.Path(at.Seg), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size != at.Off {
		return fmt.Errorf("append to journal: the end is at %d, not at %d: %w", size, at.Off, errors.Join(err, ErrDamaged))
	}
	_, err = f.Write(data)
	if err == nil {
		if err = f.Sync(); err != nil {
			j.broken = err
		}
	}
	if err != nil {
		return fmt.Errorf("append to journal: %w", errors.Join(err, f.Truncate(at.Off)))
	}
	return nil
}
