package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a server over HTTP.
const (
	maxBody     = 4 << 20 // bytes of a message
	maxSessions = 1000
	bodyTime    = 30 * time.Second // until a message has come
	writeTime   = 30 * time.Second // until a host has taken a piece
	idleTime    = time.Hour        // until a session nobody uses ends
)

// HTTPOptions say who may talk to a server over HTTP.
type HTTPOptions struct {
	Token    string   // of everybody who may; empty: none is asked for
	Loopback bool     // only this machine can reach the server: names of other machines are then refused
	Hosts    []string // names that hosts may call the server by, beside addresses and localhost
	Origins  []string // web pages that may call it, such as https://app.example; those of this machine may
}

// HTTP is a server's end of HTTP: /mcp (streamable HTTP), /sse and /messages/ (the older HTTP with SSE) and
// /healthz.
type HTTP struct {
	s      *Server
	o      HTTPOptions
	mux    *http.ServeMux
	token  [sha256.Size]byte
	ctx    context.Context // of all sessions
	cancel context.CancelFunc

	drain chan struct{} // closed when the server is to stop

	mu       sync.Mutex
	draining bool
	sessions map[string]*httpSession
}

// httpSession is a session over HTTP.
type httpSession struct {
	*session
	ctx    context.Context // its life
	cancel context.CancelFunc
	out    chan []byte // what goes to an SSE stream; nil for streamable HTTP

	mu        sync.Mutex
	used      time.Time
	listening bool // somebody has the stream for messages that belong to no request
}

// HTTP returns a handler. Close ends its sessions.
func (s *Server) HTTP(o HTTPOptions) *HTTP {
	h := &HTTP{s: s, o: o, mux: http.NewServeMux(), token: sha256.Sum256([]byte(o.Token)), drain: make(chan struct{}), sessions: map[string]*httpSession{}}
	h.ctx, h.cancel = context.WithCancel(s.ctx)
	h.mux.HandleFunc("/mcp", h.streamable)
	h.mux.HandleFunc("/sse", h.sse)
	h.mux.HandleFunc("/messages", h.messages)
	h.mux.HandleFunc("/messages/", h.messages)
	go h.sweep()
	return h
}

// Server returns an http.Server for the handler, with time limits that slow clients cannot stretch.
func (h *HTTP) Server() *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(logger{h.s}, "", 0),
	}
}

// logger hands on what the HTTP library has to say.
type logger struct{ s *Server }

func (l logger) Write(line []byte) (int, error) {
	l.s.o.Log("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

// Close ends all sessions and with them their calls and streams.
func (h *HTTP) Close() { h.cancel() }

// ServeHTTP lets in who may come in, before anything of a request's body is read.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !h.knownHost(r.Host):
		http.Error(w, "this server is not known by that name", http.StatusForbidden)
	case !h.knownOrigin(r.Header["Origin"]):
		http.Error(w, "web pages from there may not call this server", http.StatusForbidden)
	case r.URL.Path == "/healthz":
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{\"status\":\"ok\"}\n"))
	case !h.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="openspace-mcp"`)
		http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
	case h.stopping():
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
	default:
		h.mux.ServeHTTP(w, r)
	}
}

func (h *HTTP) stopping() bool {
	select {
	case <-h.drain:
		return true
	default:
		return false
	}
}

// knownHost reports whether a request was meant for this server. A web page can make a browser call an
// address that its own name stands for; then that name is in the request. An address that is no name cannot
// be made to stand for another.
func (h *HTTP) knownHost(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback() || !h.o.Loopback
	}
	return name == "localhost" || slices.ContainsFunc(h.o.Hosts, func(s string) bool { return strings.EqualFold(s, name) })
}

// knownOrigin reports whether the page that a request comes from may send it. A request that comes from no
// page has no origin.
func (h *HTTP) knownOrigin(origins []string) bool {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return false
		}
		ip := net.ParseIP(u.Hostname())
		local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		if !local && !slices.ContainsFunc(h.o.Origins, func(s string) bool { return strings.EqualFold(strings.TrimSuffix(s, "/"), origin) }) {
			return false
		}
	}
	return true
}

// authorized compares the token in a time that does not tell how much of it is right.
func (h *HTTP) authorized(r *http.Request) bool {
	if h.o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(sum[:], h.token[:]) == 1
}

// open begins a session, with a queue for its stream if it has one; nil: there are too many.
func (h *HTTP) open(out chan []byte) *httpSession {
	var id [16]byte
	rand.Read(id[:])
	ses := &httpSession{session: newSession(hex.EncodeToString(id[:])), used: time.Now(), out: out}
	ses.ctx, ses.cancel = context.WithCancel(h.ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= maxSessions && !h.makeRoom() {
		ses.cancel()
		return nil
	}
	h.sessions[ses.id] = ses
	return ses
}

// makeRoom ends the session that has not been used for longest, of those that nobody uses now: many clients
// never end theirs.
func (h *HTTP) makeRoom() bool {
	var oldest *httpSession
	for _, ses := range h.sessions {
		if ses.idleSince(time.Now()) && (oldest == nil || ses.lastUse().Before(oldest.lastUse())) {
			oldest = ses
		}
	}
	if oldest == nil {
		return false
	}
	delete(h.sessions, oldest.id)
	oldest.cancel()
	return true
}

// idleSince reports whether nobody has used the session since a time, and nothing is under way in it.
func (ses *httpSession) idleSince(t time.Time) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.used.Before(t) && !ses.listening && ses.out == nil && ses.busy() == 0
}

func (ses *httpSession) lastUse() time.Time {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.used
}

// find returns a session that lives.
func (h *HTTP) find(id string) *httpSession {
	h.mu.Lock()
	ses := h.sessions[id]
	h.mu.Unlock()
	if ses != nil {
		ses.mu.Lock()
		ses.used = time.Now()
		ses.mu.Unlock()
	}
	return ses
}

// end ends a session with all that is under way in it.
func (h *HTTP) end(ses *httpSession) {
	h.mu.Lock()
	delete(h.sessions, ses.id)
	h.mu.Unlock()
	ses.cancel()
}

// sweep ends sessions that nobody has used for a while.
func (h *HTTP) sweep() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.endIdle(time.Now().Add(-idleTime))
		case <-h.ctx.Done():
			return
		}
	}
}

func (h *HTTP) endIdle(since time.Time) {
	h.mu.Lock()
	var idle []*httpSession
	for _, ses := range h.sessions {
		if ses.idleSince(since) {
			idle = append(idle, ses)
		}
	}
	h.mu.Unlock()
	for _, ses := range idle {
		h.end(ses)
	}
}

// listen takes the session's stream; false: somebody has it.
func (ses *httpSession) listen(on bool) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if on && ses.listening {
		return false
	}
	ses.listening = on
	return true
}

// Drain takes no new calls and ends the streams that hosts only listen to. Calls that are under way go on.
func (h *HTTP) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.draining {
		h.draining = true
		close(h.drain)
	}
}
