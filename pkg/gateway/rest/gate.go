package rest

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// Gate lets requests in while a channel runs. Its zero value is shut.
type Gate struct {
	mu   sync.Mutex
	host *gateway.Host
	busy sync.WaitGroup
	open map[http.ResponseWriter]bool // requests that are being answered

	held atomic.Int64 // bytes of their bodies, beyond the first
}

// Open lets requests in.
func (g *Gate) Open(h gateway.Host) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.host = &h
}

// shutTime is how long a request may still be read when the gate is shut.
const shutTime = time.Second

// Shut lets no more in, and waits for those that are. Who has not sent all of a request by now has a second.
func (g *Gate) Shut() {
	g.mu.Lock()
	g.host = nil
	for w := range g.open {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(shutTime))
	}
	g.mu.Unlock()
	g.busy.Wait()
}

// Enter returns the host for one request, which calls leave at its end; nil: the gate is shut.
func (g *Gate) Enter(w http.ResponseWriter) (h *gateway.Host, leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.host == nil {
		return nil, func() {}
	}
	if g.open == nil {
		g.open = map[http.ResponseWriter]bool{}
	}
	g.open[w] = true
	g.busy.Add(1)
	return g.host, func() {
		g.mu.Lock()
		delete(g.open, w)
		g.mu.Unlock()
		g.busy.Done()
	}
}
