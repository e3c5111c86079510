package mcpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// sse is the stream of the older HTTP transport. The session lives as long as it.
func (h *HTTP) sse(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		refuse(w, http.StatusMethodNotAllowed, mcp.INVALID_REQUEST, "want GET")
		return
	}
	ses := h.open(make(chan []byte, 64))
	if ses == nil {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, "there are too many sessions")
		return
	}
	defer h.end(ses)
	out := newStream(w)
	if out.event("endpoint", []byte("/messages/?session_id="+ses.id)) != nil {
		return
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	drain := h.drain
	for {
		var err error
		select {
		case line := <-ses.out:
			err = out.event("message", line)
		case <-tick.C:
			err = out.alive()
		case <-drain:
			if drain = nil; ses.busy() == 0 {
				return
			}
			tick.Reset(100 * time.Millisecond)
		case <-r.Context().Done():
			return
		case <-ses.ctx.Done():
			return
		}
		if err != nil || drain == nil && ses.busy() == 0 && len(ses.out) == 0 {
			return
		}
	}
}

// messages takes what a host sends in the older HTTP transport. Answers go to its stream.
func (h *HTTP) messages(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, mcp.INVALID_REQUEST, "want POST")
		return
	}
	id := r.URL.Query().Get("session_id")
	if len(id) != 32 {
		http.Error(w, "session_id is missing, or is none", http.StatusBadRequest)
		return
	}
	ses := h.find(id)
	if ses == nil || ses.out == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	data := h.body(w, r)
	if data == nil {
		return
	}
	in := receive(data)
	if only := in.parts[0]; !in.batch && only.fault != nil && only.wantsAnswer() {
		writeJSON(w, http.StatusBadRequest, only.fault.reply())
		return
	}
	if ses.busy() >= maxPending {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests are under way", http.StatusTooManyRequests)
		return
	}
	ses.start(h.s, in)
	w.WriteHeader(http.StatusAccepted)
	w.Write([]byte("Accepted"))
}

// start does what a message asks for. Quick answers come in the order of their questions.
func (ses *httpSession) start(s *Server, in incoming) {
	do := func() {
		if line := s.serve(ses.ctx, ses.session, in, func(l []byte) { ses.push(ses.ctx, l) }); line != nil {
			ses.push(ses.ctx, line)
		}
	}
	if in.some(part.slow) {
		go do()
		return
	}
	do()
}

// push hands a message to the stream.
func (ses *httpSession) push(ctx context.Context, line []byte) {
	select {
	case ses.out <- line:
	case <-ctx.Done():
	}
}
