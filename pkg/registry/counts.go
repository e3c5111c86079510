package registry

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// downloaded counts a download.
func (s *Server) downloaded(label uint32) {
	s.view.mu.RLock()
	defer s.view.mu.RUnlock()
	atomic.AddInt64(&s.view.entries[label].more, 1)
}

// uncounted is a record with downloads that are not stored.
type uncounted struct {
	label uint32
	id    string
	more  int64
	total int64
	prev  uint64
}

// uncounted lists the records with downloads that are not stored.
func (v *view) uncounted() (out []uncounted) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i := range v.entries {
		e := &v.entries[i]
		if more := atomic.LoadInt64(&e.more); more > 0 {
			out = append(out, uncounted{uint32(i), e.id, more, more + atomic.LoadInt64(&e.base), v.counts[e.id]})
		}
	}
	return out
}

// storeCounts stores how often records were downloaded.
func (s *Server) storeCounts(ctx context.Context) error {
	work, problems := make(chan uncounted), make(chan error)
	const workers = 16 // that share the writes of the storage
	for range workers {
		go func() {
			var err error
			for u := range work {
				err = errors.Join(err, s.storeCount(ctx, u))
			}
			problems <- err
		}()
	}
	for _, u := range s.view.uncounted() {
		work <- u
	}
	close(work)
	var err error
	for range workers {
		err = errors.Join(err, <-problems)
	}
	return errors.Join(err, s.follow(ctx))
}

func (s *Server) storeCount(ctx context.Context, u uncounted) error {
	data, err := jsonl.Marshal(count{u.total})
	if err != nil {
		return err
	}
	_, err = s.storage.Put(ctx, Doc{Kind: KindCount, ID: u.id, Data: data}, u.prev)
	if errors.Is(err, ErrConflict) {
		return nil // another server counted too: the next time adds to its count
	}
	if err == nil {
		s.view.mu.RLock()
		atomic.AddInt64(&s.view.entries[u.label].more, -u.more)
		s.view.mu.RUnlock()
	}
	return err
}
