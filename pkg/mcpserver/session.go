package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// session is one host: what it has said of itself, and the requests that are under way. It is what the
// library calls a session, too; notifications about a call do not go through it, so they cannot reach another
// call.
type session struct {
	id    string
	queue chan mcp.JSONRPCNotification

	mu    sync.Mutex
	level mcp.LoggingLevel
	calls map[string][]*pending // by the id's bytes
	n     int
}

// pending is a request that is under way.
type pending struct{ cancel context.CancelFunc }

func newSession(id string) *session {
	return &session{id: id, level: mcp.LoggingLevelWarning, queue: make(chan mcp.JSONRPCNotification, 16), calls: map[string][]*pending{}}
}

// What the library wants of a session. A host may set the log level, and call tools, without a handshake before.
func (s *session) Initialize()                                         {}
func (s *session) Initialized() bool                                   { return true }
func (s *session) SessionID() string                                   { return s.id }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.queue }

func (s *session) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

func (s *session) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

// forward hands on what the library has to say, until the function that it returns is called.
func (s *session) forward(emit func([]byte)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case n := <-s.queue:
				emit(encode(n))
			case <-done:
				for len(s.queue) > 0 {
					emit(encode(<-s.queue))
				}
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// begin notes a request, so that it can be canceled. The context ends when it is, or when done is called.
func (s *session) begin(ctx context.Context, id json.RawMessage) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	p := &pending{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[string(id)] = append(s.calls[string(id)], p)
	s.n++
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		left := slices.DeleteFunc(s.calls[string(id)], func(q *pending) bool { return q == p })
		if s.calls[string(id)] = left; len(left) == 0 {
			delete(s.calls, string(id))
		}
		s.n--
	}
}

// busy returns how many requests are under way.
func (s *session) busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// notified takes a notification of the host. Only one that cancels a request means something to us; a request
// that is not known, or has been answered, is none of our business.
func (s *session) notified(m message) {
	if m.method != string(mcp.MethodNotificationCancelled) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.calls[string(m.params["requestId"])] {
		p.cancel()
	}
}

// call is one request while it runs.
type call struct {
	session *session
	token   json.RawMessage // under which the host wants to hear of progress; nil: it does not

	mu    sync.Mutex
	emit  func([]byte) // nil once the call is answered
	steps int
}

// say sends a notification about the call, unless it has been answered: nothing follows an answer.
func (c *call) say(line func() []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.emit != nil {
		c.emit(line())
	}
}

// answered ends what is said about the call.
func (c *call) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emit = nil
}

type callKey struct{}

// callOf returns the call that a tool is run for.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return &call{session: newSession("")}
	}
	return c
}

// progress tells the host how far the call is, if it wants to know. The number rises by one each time: how
// much there is to do is not known before.
func (c *call) progress(message string) {
	if c.token == nil {
		return
	}
	c.say(func() []byte {
		c.steps++
		return notify("notifications/progress", struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress int             `json:"progress"`
			Message  string          `json:"message,omitempty"`
		}{c.token, c.steps, message})
	})
}

// severity orders the levels of log messages.
var severity = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning, mcp.LoggingLevelError,
	mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

// log tells the host what happens in a call, if it asked for messages of that level.
func (c *call) log(level mcp.LoggingLevel, logger, text string) {
	if slices.Index(severity, level) < slices.Index(severity, c.session.GetLogLevel()) {
		return
	}
	c.say(func() []byte {
		return notify("notifications/message", struct {
			Level  mcp.LoggingLevel `json:"level"`
			Logger string           `json:"logger"`
			Data   string           `json:"data"`
		}{level, logger, text})
	})
}

// beats tells the host every now and then that the call is still worked on, until the function that it
// returns is called.
func (c *call) beats(every time.Duration, message string) (stop func()) {
	if c.token == nil {
		return func() {}
	}
	done := make(chan struct{})
	c.progress(message)
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.progress(message)
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}
