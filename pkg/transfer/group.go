package transfer

import "sync"

// group gathers what is asked of it while it works and answers it together: the more is going on, the fewer waits for the disk.
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
