package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// Joined is a channel and who may write to it.
type Joined struct {
	Channel Channel
	Access  Access
}

// Options are what a gateway needs.
type Options struct {
	Config   Config
	Channels []Joined
	Runner   Runner
	Log      *slog.Logger
	Secrets  []string // are kept out of chats, tasks and files, whoever writes them
	LockDir  string   // one for all gateways of a user: no account is served twice
	Version  string

	Drain time.Duration    // how long running tasks may go on when it is to stop; 0: 20 s
	Pause time.Duration    // before the first repetition of what failed, then twice as long each time; 0: 1 s
	Now   func() time.Time // nil: time.Now
}

// Gateway serves chats.
type Gateway struct {
	config  Config
	runner  Runner
	log     *slog.Logger
	mask    func(string) string
	options Options
	now     func() time.Time
	started time.Time
	token   string // opens the details of health

	joined map[string]*joined // by account
	ledger *ledger
	slots  chan struct{} // tasks that run at once
	asks   chan struct{} // lists of skills that are made at once

	ctx      context.Context // ends what runs
	draining chan struct{}   // nothing new is begun
	workers  sync.WaitGroup

	mu      sync.Mutex
	chats   map[string]*chat       // by session: those with something to do
	sending map[string][]*outgoing // by session: answers on their way
	notices map[string]time.Time   // until when a chat is not told the same again
	state   string
}

// joined is a channel at work.
type joined struct {
	Joined
	account Account

	mu       sync.Mutex
	up       bool
	note     string
	since    time.Time
	received int
	ignored  int
	sent     int
	failed   int
	paired   []string
	pairedAt time.Time
}

func (a Account) String() string { return a.Platform + "/" + a.ID }

// New returns a gateway that does nothing yet.
func New(o Options) (*Gateway, error) {
	g := &Gateway{
		config: o.Config, runner: o.Runner, log: o.Log, options: o, now: o.Now, mask: Masker(o.Secrets), joined: map[string]*joined{}, chats: map[string]*chat{}, sending: map[string][]*outgoing{},
		notices: map[string]time.Time{},
		slots:   make(chan struct{}, o.Config.Sessions.MaxParallelSessions), asks: make(chan struct{}, maxAsks), draining: make(chan struct{}), state: "starting",
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.options.Drain == 0 {
		g.options.Drain = 20 * time.Second
	}
	if g.options.Pause == 0 {
		g.options.Pause = time.Second
	}
	paths := map[string]bool{o.Config.Server.HealthPath: true}
	for _, c := range o.Channels {
		a := c.Channel.Account()
		if hook, ok := c.Channel.(Webhook); ok && hook.Path() != "" {
			if paths[hook.Path()] {
				return nil, wire.Errorf(wire.Usage, "%s: the path %q has another use already", a, hook.Path())
			}
			paths[hook.Path()] = true
		}
		if _, ok := g.joined[a.String()]; ok {
			return nil, wire.Errorf(wire.Usage, "two channels for %s", a)
		}
		g.joined[a.String()] = &joined{Joined: c, account: a, note: "not connected yet", since: g.now()}
	}
	if len(g.joined) == 0 {
		return nil, wire.Errorf(wire.Usage, "no channel is enabled").WithHint("docs/gateway.md tells how to set one up")
	}
	return g, nil
}

// Run serves until ctx ends, and then lets what runs come to its end for a while. What is not answered then
// is, after the next start.
func (g *Gateway) Run(ctx context.Context, ready func(addr string)) (err error) {
	held, err := g.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.unlock()) }()
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	g.ctx, g.started = hard, g.now()
	var open []*item
	if g.ledger, open, err = openLedger(filepath.Join(g.config.DataDir, "journal"), g.now); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.ledger.close()) }()
	if n := g.ledger.damaged; n > 0 {
		g.log.Warn("lines of the ledger are torn or damaged: messages that stood in them are not known any more", "lines", n)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(g.config.Server.Host, fmt.Sprint(g.config.Server.Port)))
	if err != nil {
		return wire.Errorf(wire.Network, "listen: %w", err).WithHint("set server.host and server.port; another program may use the port")
	}
	forget, err := g.announce(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer forget()
	stopServer := g.serve(listener)
	g.resume(open)
	g.setState("running")
	if ready != nil {
		ready(listener.Addr().String())
	}
	err = g.supervise(ctx)
	close(g.draining)
	g.setState("stopping")
	g.drain(cancel)
	return errors.Join(err, stopServer())
}

// drain waits for what runs, and ends it when that takes too long.
func (g *Gateway) drain(cancel func()) {
	ended := make(chan struct{})
	go func() { g.workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(g.options.Drain):
		g.log.Info("ending what runs")
		cancel()
		<-ended
	}
}

// supervise runs all channels until ctx ends. One that fails is started again, unless that is no use; when
// that is so for all, it returns an error.
func (g *Gateway) supervise(ctx context.Context) error {
	var wait sync.WaitGroup
	errs := make(chan error, len(g.joined))
	for _, j := range g.joined {
		wait.Go(func() { errs <- g.keep(ctx, j) })
	}
	wait.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	if ctx.Err() != nil {
		return nil
	}
	return wire.Errorf(wire.Internal, "no channel can work: %w", all)
}

// longestPause bounds the time between two tries.
const longestPause = time.Minute

// keep runs one channel.
func (g *Gateway) keep(ctx context.Context, j *joined) error {
	log := g.log.With("channel", j.account.String())
	host := Host{
		Take: func(ctx context.Context, m Message) error { return g.take(ctx, j, m) },
		State: func(up bool, note string) {
			j.set(g.now(), up, g.mask(note))
			log.Info("state", "up", up, "note", g.mask(note))
		},
		Log: log,
	}
	for try := 0; ; try++ {
		begin := g.now()
		err := g.guarded(ctx, j, host)
		if ctx.Err() != nil {
			j.set(g.now(), false, "stopped")
			return nil
		}
		if err == nil {
			err = errors.New("it ended by itself")
		}
		note := g.mask(err.Error())
		j.set(g.now(), false, note)
		log.Error("channel failed", "error", note)
		if errors.Is(err, ErrFatal) {
			return fmt.Errorf("%s: %s", j.account, note)
		}
		if g.now().Sub(begin) > longestPause {
			try = 0
		}
		if !g.pause(ctx, try) {
			return nil
		}
	}
}

// guarded turns a panic of a channel into an error: the others go on.
func (g *Gateway) guarded(ctx context.Context, j *joined, h Host) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal fault: %v", v)
		}
	}()
	return j.Channel.Run(ctx, h)
}

func (j *joined) set(now time.Time, up bool, note string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.up != up || j.note != note {
		j.up, j.note, j.since = up, note, now
	}
}

func (j *joined) count(n *int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	*n++
}

// pause waits before another try, longer each time. It is false when ctx ends.
func (g *Gateway) pause(ctx context.Context, try int) bool {
	return sleep(ctx, g.pauseAfter(nil, try))
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *Gateway) setState(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
}
