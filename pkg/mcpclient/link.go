package mcpclient

import (
	"context"
	"encoding/json"
	"sync"
)

// link is a connection to a server. All of it may be used by several goroutines at once.
type link interface {
	// call sends a request and waits for its answer, for the context or for the end of the connection.
	call(ctx context.Context, method string, params any) (json.RawMessage, error)
	// notify sends something that is not answered.
	notify(ctx context.Context, method string, params any) error
	// lost is closed when the connection is over; cause says why then.
	lost() <-chan struct{}
	cause() error
	// speak tells which version of the protocol was agreed on.
	speak(version string)
	// close ends the connection and what it started, and returns when that is done.
	close()
}

// ending is the end of a connection: the first reason counts.
type ending struct {
	once sync.Once
	over chan struct{}
	err  error
}

func newEnding() *ending { return &ending{over: make(chan struct{})} }

func (e *ending) end(err error) {
	e.once.Do(func() {
		e.err = err
		close(e.over)
	})
}

func (e *ending) lost() <-chan struct{} { return e.over }

// cause is called once over is closed.
func (e *ending) cause() error { return e.err }

// pending are the requests that wait for their answers.
type pending struct {
	mu   sync.Mutex
	last int64
	all  map[int64]chan message
}

func (p *pending) add() (int64, chan message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[int64]chan message{}
	}
	p.last++
	answer := make(chan message, 1)
	p.all[p.last] = answer
	return p.last, answer
}

func (p *pending) drop(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, id)
}

// answer hands a message to the one that waits for it. Answers may come in any order; one that nobody waits for, or a
// second one, is dropped.
func (p *pending) answer(m message) {
	id := m.number()
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting, ok := p.all[id]; ok {
		delete(p.all, id)
		waiting <- m
	}
}
