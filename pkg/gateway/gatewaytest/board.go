package gatewaytest

import (
	"net/http"
	"slices"
	"sync"
)

// Board is what every fake platform has: what is shown, and failures that are to come.
type Board struct {
	mu    sync.Mutex
	shown []Shown
	fail  int
	how   Failure
	void  bool // the key
}

// Shown lists what was sent.
func (b *Board) Shown() []Shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.shown)
}

// Show adds a message.
func (b *Board) Show(s Shown) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = append(b.shown, s)
}

// Replace changes the text of a message; false: there is none with this id.
func (b *Board) Replace(id, text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.shown {
		if b.shown[i].ID == id {
			b.shown[i].Text = text
			return true
		}
	}
	return false
}

// Fail makes the next n tries to send fail.
func (b *Board) Fail(n int, how Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if how == KeyRefused {
		b.void = n > 0
		return
	}
	b.fail, b.how = n, how
}

// KeyRefused reports whether the platform refuses our key at this moment, whatever is asked.
func (b *Board) KeyRefused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.void
}

// Failing does what Fail asked for, by the platform's own answers to what is limited and refused. done: the request is
// dealt with; lost: it is to be done, but its answer must be lost by Lose.
func (b *Board) Failing(w http.ResponseWriter, r *http.Request, limited, refused func()) (lost, done bool) {
	b.mu.Lock()
	how, n := b.how, b.fail
	b.fail = max(n-1, 0)
	b.mu.Unlock()
	if n == 0 {
		return false, false
	}
	switch how {
	case Limited:
		limited()
	case Refused:
		refused()
	case Broken:
		http.Error(w, "fault", http.StatusInternalServerError)
	case Stuck:
		<-r.Context().Done()
	case Lost:
		return true, false
	}
	return false, true
}

// Lose closes the connection in the place of an answer.
func Lose(w http.ResponseWriter) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		c.Close()
	}
}
