package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/edsrzf/mmap-go"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

const (
	catalogueLock = "catalogue.lock"
	// A catalogue is made anew when more journal than this is behind it, plus a
	// part of its own size, so that big ones are not rewritten all the time.
	tailLimit = 64 << 10
	tailShare = 512
)

func (s *Store) cataloguePath() string {
	return filepath.Join(s.home, "index", "store", "catalogue")
}

// mapping is a catalogue file in memory. A nil mapping is closed.
type mapping struct {
	mem  mmap.MMap
	upTo position // of the journal
}

func (m *mapping) close() error {
	if m == nil {
		return nil
	}
	return m.mem.Unmap()
}

// openCatalogue maps a catalogue and checks that it is one of this journal.
func openCatalogue(path string, j journal) (*mapping, *table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < footerSize {
		return nil, nil, errors.Join(errDamaged, err)
	}
	mem, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("map catalogue: %w", err)
	}
	m := &mapping{mem: mem}
	t, err := openTable(mem)
	if err == nil {
		m.upTo = t.mark.pos
		err = t.fits(j)
	}
	if err != nil {
		return nil, nil, errors.Join(err, m.close())
	}
	return m, t, nil
}

// fits checks that the journal up to the watermark is the one that was folded.
func (t *table) fits(j journal) error {
	sum, err := j.tailSum(t.mark.pos)
	if err != nil {
		return err
	}
	if sum != t.mark.tail {
		return fmt.Errorf("%w: made from another journal", errDamaged)
	}
	return nil
}

// tail is how many bytes of journal are behind the catalogue.
func (s *Store) tail() (int64, error) {
	var from position
	if s.cat != nil {
		from = s.cat.upTo
	}
	segs, err := s.j.segments()
	var n int64
	for _, seg := range segs {
		if err == nil && seg >= from.seg {
			var size int64
			size, err = s.j.size(seg)
			n += size
		}
	}
	return n - from.off, err
}

func (s *Store) tailIsLong() bool {
	limit := int64(tailLimit)
	if s.cat != nil {
		limit += int64(len(s.cat.mem)) / tailShare
	}
	n, err := s.tail()
	return err == nil && n > limit
}

// refreshCatalogue makes a new catalogue when the tail is long. Somebody else
// doing so already, or a disk without room for it, is no error: the journal is
// the truth.
func (s *Store) refreshCatalogue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.v != nil && s.tailIsLong() {
		_ = s.writeCatalogue()
	}
}

// Rebuild reads the whole journal and makes the catalogue anew, waiting for
// whoever is doing so.
func (s *Store) Rebuild(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	l, err := s.lock(ctx, catalogueLock)
	if err != nil {
		return err
	}
	defer l.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.forget()
	s.noCat = true
	if err == nil {
		err = s.refresh()
	}
	if err == nil {
		err = s.saveCatalogue()
	}
	return err
}

func (s *Store) writeCatalogue() error {
	l, err := atomicfile.TryLock(s.path("locks", catalogueLock))
	if err != nil {
		return err
	}
	s.fault("catalogue:locked")
	// Another process may have made one since this one was opened.
	err = s.forget()
	if err == nil {
		err = s.refresh()
	}
	if err == nil && s.tailIsLong() {
		err = s.saveCatalogue()
	}
	return errors.Join(err, l.Unlock())
}

// saveCatalogue writes the view as the catalogue and goes on from that file.
func (s *Store) saveCatalogue() error {
	path := s.cataloguePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	s.fault("catalogue:folder")
	err := atomicfile.WriteWith(path, 0o600, func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 256<<10)
		tw, err := newTableWriter(buf)
		if err != nil {
			return err
		}
		return errors.Join(s.v.writeTo(tw), buf.Flush())
	}, atomicfile.NoSync(), s.hook("catalogue"))
	if err != nil {
		return err
	}
	s.noCat = false
	return s.forget()
}
