package task

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Commands say how the other commands of the suite are run.
type Commands struct {
	Find    func(name string) (path string, err error)
	Dir     string   // working directory
	Environ []string // all of it

	Search func(dirs []string) []string // the arguments of openspace-search that looks into dirs, too
	Import []string                     // those of openspace-download-skill
	Stderr func(line string)            // gets what they say; may be called by several goroutines
}

// searcher is the command that finds skills.
const searcher = "openspace-search"

// Finder asks one openspace-search that stays and answers line by line. It is started at once, so that it is warm when the first task asks, and
// started again when it has died. It is safe for concurrent use.
type Finder struct {
	ctx  context.Context
	stop context.CancelFunc
	c    Commands
	args []string

	mu   sync.Mutex
	last int
	p    *searching // nil: none runs
	gone sync.WaitGroup
}

// NewFinder starts a search. Whether it could be started shows in the first Find.
func NewFinder(ctx context.Context, c Commands) *Finder { return newFinder(ctx, c, c.Search(nil)) }

func newFinder(ctx context.Context, c Commands, args []string) *Finder {
	f := &Finder{c: c, args: args}
	f.ctx, f.stop = context.WithCancel(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running()
	return f
}

// searching is one process.
type searching struct {
	child *pipe.Child
	done  chan struct{} // closed when it has ended
	err   error         // why; read after done

	sending sync.Mutex // the lines of two questions must not mix

	mu    sync.Mutex
	waits map[string]*waiting
}

// waiting is a question without an answer yet.
type waiting struct {
	hits []wire.Hit
	err  error
	done chan struct{}
}

// running returns a process that runs, and starts one when there is none. The lock is held.
func (f *Finder) running() (*searching, error) {
	if f.p != nil {
		select {
		case <-f.p.done:
		default:
			return f.p, nil
		}
	}
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	path, err := f.c.Find(searcher)
	if err != nil {
		return nil, err
	}
	child, err := pipe.Start(f.ctx, path, pipe.Options{Args: f.args, Dir: f.c.Dir, Environ: f.c.Environ, Stderr: f.c.Stderr})
	if err != nil {
		return nil, err
	}
	f.p = &searching{child: child, done: make(chan struct{}), waits: map[string]*waiting{}}
	f.gone.Go(f.p.read)
	return f.p, nil
}

// read hands out what the process answers until it ends.
func (p *searching) read() {
	for rec := range p.child.Records() {
		p.take(rec)
	}
	status, err := p.child.Wait()
	if err == nil {
		err = p.child.Trouble(status)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	close(p.done) // first: who waits for an answer then looks whether the process has ended
	for _, w := range p.waits {
		w.err = err
		close(w.done)
	}
	p.waits = nil
}

func (p *searching) take(rec pipe.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waits[rec.ID]
	if w == nil {
		return
	}
	switch rec.Type {
	case wire.TypeHit:
		var h wire.Hit
		if rec.Decode(&h) == nil {
			w.hits = append(w.hits, h)
		}
		return
	case wire.TypeError:
		var e wire.Error
		if rec.Decode(&e) != nil {
			e = *wire.Errorf(wire.Internal, "%s answered with an error that cannot be read", searcher)
		}
		w.err = &e
	case wire.TypeResult:
	default:
		return
	}
	close(w.done)
	delete(p.waits, rec.ID)
}

// Find returns the hits of a query, best first. A process that dies before it has answered is started again once.
func (f *Finder) Find(ctx context.Context, q wire.Query) (hits []wire.Hit, err error) {
	for range 2 {
		var died bool
		if hits, died, err = f.ask(ctx, q); !died {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", searcher, err)
	}
	return hits, nil
}

// ask puts a question to the process; died says that it ended without an answer.
func (f *Finder) ask(ctx context.Context, q wire.Query) (hits []wire.Hit, died bool, err error) {
	f.mu.Lock()
	p, err := f.running()
	f.last++
	q.ID, q.Done = strconv.Itoa(f.last), true
	f.mu.Unlock()
	if err != nil {
		return nil, false, err
	}
	w, err := p.wait(q.ID)
	if err != nil {
		return nil, true, err
	}
	if err := p.send(q); err != nil {
		<-p.done
		return nil, ctx.Err() == nil, errors.Join(p.err, ctx.Err())
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		p.forget(q.ID)
		return nil, false, context.Cause(ctx)
	}
	select {
	case <-p.done:
		died = w.err != nil && ctx.Err() == nil && f.ctx.Err() == nil
	default:
	}
	return w.hits, died, w.err
}

// wait announces a question.
func (p *searching) wait(id string) (*waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits == nil {
		return nil, p.err
	}
	w := &waiting{done: make(chan struct{})}
	p.waits[id] = w
	return w, nil
}

func (p *searching) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waits, id)
}

func (p *searching) send(q wire.Query) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.child.Send(q.Typed())
}

// With returns a finder that also looks into dirs, and what ends it. Without any it is f itself.
func (f *Finder) With(dirs []string) (*Finder, func()) {
	if len(dirs) == 0 {
		return f, func() {}
	}
	more := newFinder(f.ctx, f.c, f.c.Search(dirs))
	return more, more.Close
}

// Close ends the process and waits for it.
func (f *Finder) Close() {
	f.stop()
	f.gone.Wait()
}
