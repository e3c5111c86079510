package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	maxDeaths  = 3                // in a row, before a server is left alone for a while
	pause      = time.Minute      // that while
	pingTime   = 3 * time.Second  // for a server that let a call run out of time to show that it is there
	relistTime = 30 * time.Second // for a list that has changed
	spared     = 10 * time.Minute // after a start that ran out of its time: who asks for tools waits only briefly
	brief      = 2 * time.Second  // that is
)

// lateError: a call took longer than its server may.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("no answer within %s", e.limit) }

// server is one server of a pool: what is known of it, and the connection, when there is one.
type server struct {
	pool *Pool
	conf Server
	hash string // of what is configured

	mu       sync.Mutex
	closed   bool
	live     *session
	waiting  int    // calls that are underway
	starting *start // nil: nobody is starting it
	deaths   int    // in a row, without a call that was answered
	until    time.Time
	why      error // of the last death
	tools    []definition
	notes    []string
	listed   bool // tools are what this process has heard
	busy     bool // the list is being asked for anew
	again    bool // and has changed once more
}

// start is one attempt to start a server, for which several may wait.
type start struct {
	done chan struct{}
	s    *session
	err  error
}

func newServer(p *Pool, conf Server) *server {
	s := &server{pool: p, conf: conf.filled(), hash: conf.hash()}
	if s.conf.Dir == "" {
		s.conf.Dir = p.o.Dir
	}
	return s
}

// offered returns the tools of the server that are to be used.
func (s *server) offered(ctx context.Context) ([]definition, []string, error) {
	s.mu.Lock()
	tools, notes, known := s.tools, s.notes, s.listed
	s.mu.Unlock()
	var l listing
	if !known {
		var ok bool
		if l, ok = load(s.pool.o.Cache, s.conf.Name, s.hash); !ok {
			l = listing{}
		}
		if fresh(l.Listed, s.pool.o.Age) {
			tools, notes, known = l.Tools, l.Notes, true
		}
	}
	if !known {
		if err := s.told(ctx, l.Failed); err != nil {
			return nil, nil, err
		}
		s.mu.Lock()
		tools, notes = s.tools, s.notes
		s.mu.Unlock()
	}
	var out []definition
	for _, d := range tools {
		if s.conf.offers(d.Name) {
			out = append(out, d)
		}
	}
	return out, notes, nil
}

// told waits until the server has told its tools. One that lately let its whole time pass, perhaps in another process, is waited
// for briefly, so that it does not hold up each task. It goes on starting meanwhile.
func (s *server) told(ctx context.Context, failed time.Time) error {
	if !fresh(failed, spared) {
		_, err := s.session(ctx)
		return err
	}
	short, stop := context.WithTimeout(ctx, brief)
	defer stop()
	_, err := s.session(short)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("it did not tell them within %s; more time it does not get for a while, as it hung when it was started before", brief)
	}
	return err
}

// hung remembers for other processes that the server let its time to start pass.
func (s *server) hung() {
	l, ok := load(s.pool.o.Cache, s.conf.Name, s.hash)
	if !ok {
		l = listing{Server: s.conf.Name, Hash: s.hash}
	}
	l.Failed = time.Now().UTC()
	_ = save(s.pool.o.Cache, l) // else the next task waits once more
}

// fresh tells whether a time is young enough; one in the future is not.
func fresh(t time.Time, age time.Duration) bool {
	since := time.Since(t)
	return since >= 0 && since < age
}

// session returns the connection, which is made when there is none. The caller may stop waiting; the start goes on for
// others.
func (s *server) session(ctx context.Context) (*session, error) {
	s.mu.Lock()
	if live := s.alive(); live != nil {
		s.mu.Unlock()
		return live, nil
	}
	if err := s.refusal(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if s.starting == nil {
		s.starting = &start{done: make(chan struct{})}
		go s.start(s.starting)
	}
	attempt := s.starting
	s.mu.Unlock()
	select {
	case <-attempt.done:
		return attempt.s, attempt.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// alive returns the connection if it is not over. The caller holds the lock.
func (s *server) alive() *session {
	if s.live == nil {
		return nil
	}
	select {
	case <-s.live.lost():
		s.died(s.live.cause())
		go s.live.close()
		s.live = nil
	default:
	}
	return s.live
}

// died counts the ends that nobody asked for. The caller holds the lock.
func (s *server) died(why error) {
	s.why = why
	if s.deaths++; s.deaths >= maxDeaths {
		s.until = time.Now().Add(pause)
	}
}

// refusal says why the server is not started now. The caller holds the lock.
func (s *server) refusal() error {
	switch {
	case s.closed:
		return errNotSent
	case s.deaths < maxDeaths:
		return nil
	case time.Now().After(s.until):
		s.deaths = maxDeaths - 1 // one more try
		return nil
	}
	return fmt.Errorf("it ended or did not start %d times in a row and is left alone for a while; the last time: %w", s.deaths, s.why)
}

// start starts the server and asks for its tools.
func (s *server) start(attempt *start) {
	ctx, stop := context.WithTimeout(s.pool.life, s.conf.StartTimeout)
	defer stop()
	live, tools, notes, err := s.connect(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it did not tell its tools within %s", s.conf.StartTimeout)
		s.hung()
	}
	s.mu.Lock()
	s.starting = nil
	switch {
	case err == nil && s.closed:
		err = errNotSent
	case err == nil:
		s.live, s.tools, s.notes, s.listed = live, tools, notes, true
	case !s.closed:
		s.died(err)
	}
	s.mu.Unlock()
	if err == nil {
		s.save(tools, notes)
	} else if live != nil {
		live.close()
		live = nil
	}
	attempt.s, attempt.err = live, err
	close(attempt.done)
}

// save keeps a list of tools for other processes.
func (s *server) save(tools []definition, notes []string) {
	_ = save(s.pool.o.Cache, listing{Server: s.conf.Name, Hash: s.hash, Listed: time.Now().UTC(), Tools: tools, Notes: notes}) // without a cache the next process asks anew
}

// connect opens a connection and does what comes first on it.
func (s *server) connect(ctx context.Context) (live *session, tools []definition, notes []string, err error) {
	conf := s.conf
	live, err = s.open(ctx, conf)
	if conf.Kind == HTTP && legacy(err) {
		conf.Kind = SSE
		live, err = s.open(ctx, conf)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	tools, notes, err = live.list(ctx)
	return live, tools, notes, err
}

// open makes a connection with its handshake.
func (s *server) open(ctx context.Context, conf Server) (*session, error) {
	var l link
	var err error
	if conf.Kind == Stdio {
		l, err = asLink(startChild(conf, s.pool.environ(conf), s.changed))
	} else {
		l, err = asLink(openRemote(s.pool.life, conf, until(ctx), s.changed))
	}
	if err != nil {
		return nil, err
	}
	live, err := shake(ctx, l, s.pool.o.Version)
	if err != nil {
		l.close()
		return nil, err
	}
	return live, nil
}

// asLink keeps a nil pointer from becoming a link.
func asLink[L link](l L, err error) (link, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// until is the time that a context leaves.
func until(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return startTime
	}
	return max(time.Until(end), time.Millisecond)
}

// changed asks for the tools anew, once at a time, for whoever asks for them next.
func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again = s.busy; s.busy || s.closed {
		return
	}
	s.busy = true
	go s.relist()
}

func (s *server) relist() {
	for {
		ctx, stop := context.WithTimeout(s.pool.life, relistTime)
		if live, err := s.session(ctx); err == nil {
			if tools, notes, err := live.list(ctx); err == nil {
				s.mu.Lock()
				s.tools, s.notes = tools, notes
				s.mu.Unlock()
				s.save(tools, notes)
			}
		}
		stop()
		s.mu.Lock()
		if s.busy = s.again && !s.closed; !s.busy {
			s.mu.Unlock()
			return
		}
		s.again = false
		s.mu.Unlock()
	}
}

// call calls a tool, and looks after a server that let it run out of time.
func (s *server) call(ctx context.Context, d definition, args json.RawMessage) (json.RawMessage, error) {
	limited, stop := context.WithTimeout(ctx, s.conf.Timeout)
	defer stop()
	s.wait(1)
	raw, live, err := s.ask(limited, d, args)
	s.wait(-1)
	var refused *RPCError
	switch {
	case err == nil || errors.As(err, &refused):
		s.answered()
	case live != nil && limited.Err() != nil && ctx.Err() == nil:
		go s.probe(live)
	}
	return raw, s.late(ctx, err)
}

// ask makes a call on the connection that it returns. When the connection ends meanwhile, the call is made once more on a new
// one if it was never sent, or if that does no harm.
func (s *server) ask(ctx context.Context, d definition, args json.RawMessage) (raw json.RawMessage, live *session, err error) {
	for again := false; ; again = true {
		if live, err = s.session(ctx); err != nil {
			return nil, nil, err
		}
		raw, err = live.call(ctx, callTool, map[string]any{"name": d.Name, "arguments": arguments(args)})
		var lost *LostError
		if again || !errors.Is(err, errNotSent) && !(errors.As(err, &lost) && d.repeatable()) {
			return raw, live, err
		}
	}
}

// wait counts a call in or out.
func (s *server) wait(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
}

// late makes of the end of our own limit an error that names it.
func (s *server) late(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &lateError{s.conf.Timeout}
	}
	return err
}

// answered: the server works.
func (s *server) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths = 0
}

// probe ends a server that let a call run out of time and does not answer at all, so that the next call begins anew. Other
// calls that are underway are not cut off: their answer, or their own end, tells more than a ping.
func (s *server) probe(live *session) {
	ctx, stop := context.WithTimeout(s.pool.life, pingTime)
	defer stop()
	_, err := live.call(ctx, ping, nil)
	var refused *RPCError
	if err == nil || errors.As(err, &refused) || s.pool.life.Err() != nil {
		return
	}
	s.mu.Lock()
	ended := s.live == live && s.waiting == 0
	if ended {
		s.live = nil
		s.died(errors.New("it did not answer any more"))
	}
	s.mu.Unlock()
	if ended {
		live.close()
	}
}

// close ends the server for good.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	live, starting := s.live, s.starting
	s.live = nil
	s.mu.Unlock()
	if live != nil {
		live.close()
	}
	if starting != nil {
		<-starting.done // the end of the pool ends it
	}
}
