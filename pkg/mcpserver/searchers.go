package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// searchTime bounds one search with its imports. The command has limits of its own for each request.
const searchTime = 3 * time.Minute

// searchers keeps processes that search. They are started when they are first needed, stay, and answer one
// question at a time, so that a slow registry holds up nobody who asks for what is on this machine.
type searchers struct {
	runs  *runner
	pools map[string]*pool
}

func newSearchers(r *runner) *searchers {
	s := &searchers{runs: r, pools: map[string]*pool{}}
	for name, p := range map[string]struct {
		most int
		args []string
	}{
		"local":  {2, []string{"--source", "local", "--import", "0"}},
		"remote": {8, []string{"--source", "all", "--import", "0"}},
		"import": {4, []string{"--source", "all", "--import", "3"}},
	} {
		s.pools[name] = &pool{runs: r, args: p.args, slots: make(chan struct{}, p.most)}
	}
	return s
}

// found is the answer to a query.
type found struct {
	hits     []wire.Hit
	warnings []string
}

// ask answers a query. With imports the best hits of a registry are fetched.
func (s *searchers) ask(ctx context.Context, q wire.Query, imports bool) (found, error) {
	kind := "remote"
	switch {
	case q.Source == "local":
		kind = "local"
	case imports:
		kind = "import"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, errors.New("the search took longer than "+searchTime.String()))
	defer cancel()
	return s.pools[kind].ask(ctx, q)
}

// pool is a few processes of one kind.
type pool struct {
	runs  *runner
	args  []string
	slots chan struct{} // one for each process that is at work

	mu     sync.Mutex
	idle   []*searcher
	closed bool
}

// ask answers a query. A process that has ended while nobody looked is replaced once.
func (p *pool) ask(ctx context.Context, q wire.Query) (found, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return found{}, wire.Errorf(wire.Canceled, "search: %w", context.Cause(ctx))
	}
	for {
		s, used, err := p.take()
		if err != nil {
			return found{}, err
		}
		f, err := s.ask(ctx, q)
		if s.dead {
			if used && ctx.Err() == nil {
				continue
			}
			return f, err
		}
		p.put(s)
		return f, err
	}
}

// put makes a process idle. When the server stops meanwhile it is waited for.
func (p *pool) put(s *searcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.wait()
		return
	}
	p.idle = append(p.idle, s)
}

// close waits for the processes that are idle; they have been asked to end.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.idle {
		s.wait()
	}
	p.idle = nil
}

// take returns a process that is idle, else a new one.
func (p *pool) take() (_ *searcher, used bool, _ error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, true, nil
	}
	ctx, end := context.WithCancel(p.runs.s.ctx)
	c, done, err := p.runs.start(ctx, "openspace-search", append([]string{"--jsonl", "-"}, p.args...)...)
	if err != nil {
		end()
		return nil, false, err
	}
	return &searcher{child: c, end: end, done: done}, false, nil
}

// searcher is one process. Only one goroutine asks it at a time.
type searcher struct {
	child *pipe.Child
	end   context.CancelFunc
	done  func()
	n     int
	dead  bool
}

// ask puts one question. When ctx ends first the process is ended with it: what it imports is not wanted any
// more.
func (s *searcher) ask(ctx context.Context, q wire.Query) (f found, err error) {
	s.n++
	q.ID, q.Done = strconv.Itoa(s.n), true
	stop := context.AfterFunc(ctx, s.end)
	if err = s.child.Send(q.Typed()); err == nil {
		var whole bool
		if f, whole, err = s.read(q.ID); whole && stop() {
			return f, err
		}
	}
	status, waited := s.wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return f, wire.Errorf(wire.Network, "search: %w", context.Cause(ctx)).WithHint(`search with source "local", or with auto_import false`)
	case ctx.Err() != nil:
		return f, wire.Errorf(wire.Canceled, "search: %w", context.Cause(ctx))
	case waited != nil:
		return f, waited
	}
	return f, s.child.Trouble(status)
}

// wait waits for the end of the process.
func (s *searcher) wait() (status int, err error) {
	s.dead = true
	status, err = s.child.Wait()
	s.end()
	s.done()
	return status, err
}

// read reads the answer to a question; whole: to its end. Its error is about the question.
func (s *searcher) read(id string) (f found, whole bool, err error) {
	for rec := range s.child.Records() {
		if rec.ID != id {
			continue
		}
		switch rec.Type {
		case wire.TypeHit:
			var h wire.Hit
			if err := rec.Decode(&h); err != nil {
				return f, true, wire.Errorf(wire.Internal, "read a hit: %w", err)
			}
			f.hits = append(f.hits, h)
		case wire.TypeError:
			var e wire.Error
			if err := rec.Decode(&e); err != nil {
				return f, true, wire.Errorf(wire.Internal, "read an error: %w", err)
			}
			return f, true, &e
		case wire.TypeResult:
			var end wire.Result
			if err := rec.Decode(&end); err != nil {
				return f, true, wire.Errorf(wire.Internal, "read the end of an answer: %w", err)
			}
			f.warnings = end.Warnings
			return f, true, nil
		}
	}
	return f, false, nil
}
