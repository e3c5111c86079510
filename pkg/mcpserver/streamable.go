package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// sessionHeader names the session of a request.
const sessionHeader = "Mcp-Session-Id"

// streamable is the endpoint of streamable HTTP.
func (h *HTTP) streamable(w http.ResponseWriter, r *http.Request) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case version != "" && !mcp.IsValidProtocolVersion(version):
		refuse(w, http.StatusBadRequest, mcp.INVALID_REQUEST, "protocol version "+version+" is not spoken here")
	case r.Method == http.MethodPost:
		h.post(w, r)
	case mcp.IsModernProtocol(version):
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, mcp.INVALID_REQUEST, "this version of the protocol has no sessions")
	case r.Method == http.MethodGet:
		h.get(w, r)
	case r.Method == http.MethodDelete:
		if ses := h.sessionOf(w, r); ses != nil {
			h.end(ses)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		refuse(w, http.StatusMethodNotAllowed, mcp.INVALID_REQUEST, "want POST, GET or DELETE")
	}
}

// sessionOf returns the session that a request names; nil: there is none, and that has been said.
func (h *HTTP) sessionOf(w http.ResponseWriter, r *http.Request) *httpSession {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, mcp.INVALID_REQUEST, "the header "+sessionHeader+" is missing: call initialize first")
		return nil
	}
	ses := h.find(id)
	if ses == nil || ses.out != nil {
		refuse(w, http.StatusNotFound, mcp.INVALID_REQUEST, "there is no such session: call initialize again")
		return nil
	}
	return ses
}

// post takes a message.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, mcp.INVALID_REQUEST, "the client must accept application/json and text/event-stream")
		return
	}
	data := h.body(w, r)
	if data == nil {
		return
	}
	in := receive(data)
	only := in.parts[0]
	switch {
	case !in.batch && only.fault != nil && only.wantsAnswer():
		writeJSON(w, http.StatusBadRequest, only.fault.reply())
	case mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) || in.some(func(p part) bool { return p.modern() }):
		h.modern(w, r, in)
	case in.batch && in.some(part.initializes):
		refuse(w, http.StatusBadRequest, mcp.INVALID_REQUEST, "initialize cannot stand in a batch")
	case only.initializes() && only.wantsAnswer():
		ses := h.open(nil)
		if ses == nil {
			w.Header().Set("Retry-After", "60")
			refuse(w, http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, "there are too many sessions")
			return
		}
		w.Header().Set(sessionHeader, ses.id)
		h.respond(w, r, ses, in)
	default:
		if ses := h.sessionOf(w, r); ses != nil {
			h.respond(w, r, ses, in)
		}
	}
}

// modern takes a message of the version of the protocol that has no sessions: what a session would know
// stands in each message, and again in the headers, where both must be the same.
func (h *HTTP) modern(w http.ResponseWriter, r *http.Request, in incoming) {
	m := in.parts[0].message
	bad := func(text string) {
		writeJSON(w, http.StatusBadRequest, (&fault{m.id, mcp.HEADER_MISMATCH, text}).reply())
	}
	header := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case in.batch:
		refuse(w, http.StatusBadRequest, mcp.INVALID_REQUEST, "this version of the protocol has no batches")
		return
	case m.kind != request:
		w.WriteHeader(http.StatusAccepted)
		return
	case string(m.meta(mcp.MetaKeyProtocolVersion)) != `"`+header+`"`:
		bad("the header " + mcp.HeaderProtocolVersion + " and " + mcp.MetaKeyProtocolVersion + " in _meta must be the same")
		return
	}
	if err := mcp.ValidateStandardHeaders(r.Header.Get, header, mcp.MCPMethod(m.method), encode(m.params)); err != nil {
		bad(err.Error())
		return
	}
	ses := &httpSession{session: newSession("")}
	ses.ctx, ses.cancel = context.WithCancel(h.ctx)
	defer ses.cancel()
	h.respond(w, r, ses, in)
}

// respond does what a message asks for and answers: by one document, or by a stream once there is something
// to say before the answer, or when it takes long. When the client goes away, or the session ends, what is
// under way ends.
func (h *HTTP) respond(w http.ResponseWriter, r *http.Request, ses *httpSession, in incoming) {
	if !in.some(part.wantsAnswer) {
		h.s.serve(ses.ctx, ses.session, in, func([]byte) {})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(ses.ctx, cancel)()
	out := newStream(w)
	emit := func(line []byte) {
		if out.event("message", line) != nil {
			cancel()
		}
	}
	stop := keepOpen(out, cancel)
	line := h.s.serve(ctx, ses.session, in, emit)
	stop()
	switch {
	case r.Context().Err() != nil:
	case line == nil: // it was taken back, and there must be no answer
		out.begin()
	case out.isOpen():
		out.event("message", line)
	case ses.id == "":
		writeJSON(w, modernStatus(line), line)
	default:
		writeJSON(w, http.StatusOK, line)
	}
}

// modernStatus is the HTTP status that goes with an answer in the version of the protocol without sessions.
func modernStatus(line []byte) int {
	var answer struct{ Error *rpcError }
	if json.Unmarshal(line, &answer) != nil || answer.Error == nil {
		return http.StatusOK
	}
	switch answer.Error.Code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION, mcp.INVALID_REQUEST,
		mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// keepOpen makes a stream of an answer that takes long, and shows now and then that it lives, until stop is
// called.
func keepOpen(out *stream, broken context.CancelFunc) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				if out.alive() != nil {
					broken()
					return
				}
				timer.Reset(keepAlive)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// get is the stream for messages that belong to no request. This server has none to send; hosts open it
// nevertheless.
func (h *HTTP) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, mcp.INVALID_REQUEST, "the client must accept text/event-stream")
		return
	}
	ses := h.sessionOf(w, r)
	if ses == nil {
		return
	}
	if !ses.listen(true) {
		refuse(w, http.StatusConflict, mcp.INVALID_REQUEST, "the session has a stream already")
		return
	}
	defer ses.listen(false)
	out := newStream(w)
	out.begin()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if out.alive() != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-ses.ctx.Done():
			return
		case <-h.drain:
			return
		}
	}
}
