package transfer

import (
	"context"
	"sync"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// group gathers what is asked of it while it works and answers it together: the more is going on, the fewer
// waits for the disk.
type group[Q, A any] struct {
	work func([]Q) []A // answers in the order of the questions

	mu      sync.Mutex
	waiting []question[Q, A]
	busy    bool
}

type question[Q, A any] struct {
	q      Q
	answer chan A
}

// ask waits for its answer.
func (g *group[Q, A]) ask(q Q) A {
	mine := question[Q, A]{q, make(chan A, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, mine)
	if !g.busy {
		g.busy = true
		go g.run()
	}
	g.mu.Unlock()
	return <-mine.answer
}

// run answers until nobody waits.
func (g *group[Q, A]) run() {
	for {
		g.mu.Lock()
		batch := g.waiting
		g.waiting = nil
		g.busy = len(batch) > 0
		g.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		qs := make([]Q, len(batch))
		for i, b := range batch {
			qs[i] = b.q
		}
		for i, a := range g.work(qs) {
			batch[i].answer <- a
		}
	}
}

// slots bound how much is done at once.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, max(1, n)) }

// take waits for a place and returns what gives it back.
func (s slots) take(ctx context.Context) (release func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
}

// keyed keeps two from working on one thing at once. The zero value is ready.
type keyed struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // closed when its holder is done
}

// alone waits until nobody works on key.
func (k *keyed) alone(ctx context.Context, key string) (release func(), err error) {
	mine := make(chan struct{})
	for {
		other := k.enter(key, mine)
		if other == nil {
			return func() { k.leave(key, mine) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, canceled(ctx)
		}
	}
}

// enter makes mine the holder of key, or returns the channel of who is.
func (k *keyed) enter(key string, mine chan struct{}) chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, busy := k.busy[key]; busy {
		return other
	}
	if k.busy == nil {
		k.busy = map[string]chan struct{}{}
	}
	k.busy[key] = mine
	return nil
}

func (k *keyed) leave(key string, mine chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.busy, key)
	close(mine)
}

func canceled(ctx context.Context) error { return wire.Errorf(wire.Canceled, "%w", context.Cause(ctx)) }
