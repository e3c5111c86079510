package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/journal"
	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// maxBatch bounds how many states share one write.
const maxBatch = 64

// errClosed reports a write after Close.
var errClosed = errors.New("registry storage is closed")

// put is a state on its way to the journal.
type put struct {
	doc  Doc
	prev uint64
	done chan putResult
}

type putResult struct {
	seq uint64
	err error
}

// Put stores a new state of a document.
func (s *Files) Put(ctx context.Context, d Doc, prev uint64) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p := &put{doc: d, prev: prev, done: make(chan putResult, 1)}
	select {
	case s.puts <- p:
	case <-s.stop:
		return 0, errClosed
	}
	// From here on the state may be written: the caller hears how it went, whatever became of its context.
	select {
	case r := <-p.done:
		return r.seq, r.err
	case <-s.stopped:
		select {
		case r := <-p.done:
			return r.seq, r.err
		default:
			return 0, errClosed
		}
	}
}

// commit writes what Put hands over, many states at a time. As long as there is more to write the lock of all writers is kept, but not for long: others
// want to write too.
func (s *Files) commit() {
	defer close(s.stopped)
	for {
		select {
		case p := <-s.puts:
			s.writeBatches(s.gather(p))
		case <-s.stop:
			return
		}
	}
}

const holdMost = 100 * time.Millisecond

func (s *Files) writeBatches(batch []*put) {
	start := time.Now()
	err := s.locked(context.Background(), func() error {
		for {
			if err := s.append(batch); err != nil {
				return err
			}
			if time.Since(start) > holdMost {
				return nil
			}
			s.mu.Unlock() // whoever reads may go on between two writes
			batch = s.gather(nil)
			s.mu.Lock()
			if len(batch) == 0 {
				return nil
			}
		}
	})
	if err == nil {
		return
	}
	for _, p := range batch {
		select {
		case p.done <- putResult{err: err}:
		default: // it has its answer
		}
	}
}

// gather adds what is waiting to the first state of a batch, if there is one.
func (s *Files) gather(first *put) (batch []*put) {
	if first != nil {
		batch = append(batch, first)
	}
	for len(batch) < maxBatch {
		select {
		case p := <-s.puts:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// locked runs f under the lock of all writers, with everything read that stands in the journal. s.mu is held.
func (s *Files) locked(ctx context.Context, f func() error) (err error) {
	if err := s.prepare(); err != nil {
		return err
	}
	l, err := atomicfile.LockWait(ctx, filepath.Join(s.dir, "locks", "journal.lock"), lockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.again(s.j.CatchUp(&s.pos, s.fold)); err != nil {
		return err
	}
	return f()
}

// append writes the states of a batch that may be written and answers all of it.
func (s *Files) append(batch []*put) error {
	var written []*put
	var lines [][]byte
	next := map[string]uint64{} // numbers given out in this batch
	seq := s.seq
	for _, p := range batch {
		key := docKey(p.doc.Kind, p.doc.ID)
		text, err := s.accept(p, key, next, seq+1)
		if err != nil {
			p.done <- putResult{err: err}
			continue
		}
		seq++
		next[key] = seq
		lines, written = append(lines, text), append(written, p)
	}
	if len(lines) == 0 {
		return nil
	}
	places, err := s.j.Append(&s.pos, lines)
	if err != nil {
		return err
	}
	for i, p := range written {
		number := s.seq + 1
		s.note(docKey(p.doc.Kind, p.doc.ID), number, places[i])
		p.done <- putResult{seq: number}
	}
	return nil
}

// accept checks a state and returns its line.
func (s *Files) accept(p *put, key string, next map[string]uint64, seq uint64) ([]byte, error) {
	current, ok := next[key]
	if !ok {
		current = s.docs[key].seq
	}
	if current != p.prev {
		return nil, fmt.Errorf("%s %q: %w", p.doc.Kind, p.doc.ID, ErrConflict)
	}
	for _, hash := range p.doc.Blobs {
		if !s.hasBlob(hash) {
			return nil, fmt.Errorf("blob %s: %w", hash, ErrNotFound)
		}
	}
	text, err := jsonl.Marshal(line{lineVersion, time.Now().UTC(), seq, p.doc.Kind, p.doc.ID, p.doc.Blobs, p.doc.Data})
	switch {
	case err != nil:
		return nil, fmt.Errorf("encode %s %q: %w", p.doc.Kind, p.doc.ID, err)
	case len(text) > journal.MaxLine-64:
		return nil, fmt.Errorf("%s %q: a state of %d bytes is too long", p.doc.Kind, p.doc.ID, len(text))
	}
	return text, nil
}
