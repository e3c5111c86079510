package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

const journalLock = "journal.lock"

// writing runs fn under the journal lock with a view of everything before.
// s.mu is held too, so that goroutines of one process do not wait in the
// kernel. Locks of skill folders are always taken before this one.
func (s *Store) writing(ctx context.Context, fn func(v *view) error) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	err := s.locked(ctx, fn)
	if err == nil {
		s.refreshCatalogue()
	}
	return err
}

func (s *Store) locked(ctx context.Context, fn func(v *view) error) (err error) {
	l, err := s.lock(ctx, journalLock)
	if err != nil {
		return err
	}
	s.fault("journal:locked")
	defer func() { err = errors.Join(err, l.Unlock()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readLocked(func(*view) error { return nil }); err != nil {
		return err
	}
	if err := s.seal(); err != nil {
		return err
	}
	return fn(s.v)
}

// seal ends a last line that a dead writer left without its LF, so that the
// next one starts on a line of its own.
func (s *Store) seal() error {
	p := s.v.mark.pos
	if p.seg == 0 {
		segs, err := s.j.segments()
		if err != nil || len(segs) == 0 {
			return err
		}
		p.seg = segs[len(segs)-1]
	}
	size, err := s.j.size(p.seg)
	if err != nil || size == p.off {
		return err
	}
	if err := s.extend(p.seg, []byte{'\n'}, false); err != nil {
		return err
	}
	s.fault("journal:sealed")
	return s.refresh()
}

// append writes events to the journal, in one write, and folds them. It is
// called inside writing.
func (s *Store) append(sync bool, events ...*event) error {
	var buf []byte
	seq := s.v.mark.seq
	for i, e := range events {
		e.V, e.T, e.Seq, e.PID = eventVersion, s.opts.Now().UTC(), seq+1+uint64(i), os.Getpid()
		line, err := e.encode()
		if err != nil {
			return err
		}
		buf = append(buf, line...)
	}
	seg, err := s.segmentFor(int64(len(buf)))
	if err != nil {
		return err
	}
	if err := s.extend(seg, buf, sync); err != nil {
		return err
	}
	return s.refresh()
}

// segmentFor returns the segment to append n bytes to, a new one when the last
// is full.
func (s *Store) segmentFor(n int64) (uint64, error) {
	p := s.v.mark.pos
	if p.seg != 0 && (p.off == 0 || p.off+n <= segmentSize) {
		return p.seg, nil
	}
	f, err := os.OpenFile(s.j.path(p.seg+1), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("start journal segment: %w", err)
	}
	if err := f.Close(); err != nil {
		return 0, fmt.Errorf("start journal segment: %w", err)
	}
	s.fault("segment:created")
	if err := atomicfile.SyncDir(s.j.dir); err != nil {
		return 0, fmt.Errorf("start journal segment: %w", err)
	}
	s.fault("segment:synced")
	return p.seg + 1, nil
}

// extend appends to a segment. When that fails, a full disk being the usual
// reason, the segment gets its old length back.
func (s *Store) extend(seg uint64, data []byte, sync bool) (err error) {
	f, err := os.OpenFile(s.j.path(seg), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	_, err = f.Write(data)
	s.fault("journal:written")
	if err == nil && sync {
		err = f.Sync()
		s.fault("journal:synced")
	}
	if err != nil {
		return fmt.Errorf("append to journal: %w", errors.Join(err, f.Truncate(old)))
	}
	return nil
}

// record appends one event that expects nothing.
func (s *Store) record(ctx context.Context, e *event) error {
	return s.writing(ctx, func(*view) error { return s.append(!s.opts.Fast, e) })
}
