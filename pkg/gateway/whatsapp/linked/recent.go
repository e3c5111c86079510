package linked

import (
	"strings"
	"sync"
)

const (
	recentMessages = 512
	recentText     = 300 // bytes of a text that is quoted
)

// seen is what an answer has to know of the message that it answers.
type seen struct {
	Quote
	expires uint32
}

// recent knows the last messages that came.
type recent struct {
	mu    sync.Mutex
	by    map[string]seen
	order []string
}

func (r *recent) add(key string, s seen) {
	if len(s.Text) > recentText {
		s.Text = strings.ToValidUTF8(s.Text[:recentText], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]seen{}
	}
	if _, ok := r.by[key]; !ok {
		if len(r.order) == recentMessages {
			delete(r.by, r.order[0])
			r.order = append(r.order[:0], r.order[1:]...)
		}
		r.order = append(r.order, key)
	}
	r.by[key] = s
}

func (r *recent) get(key string) (seen, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.by[key]
	return s, ok
}
