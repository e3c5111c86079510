package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Phone is the phone whose keys are in a folder.
type Phone struct {
	dir  string
	http *http.Client

	mu     sync.Mutex
	client *whatsmeow.Client // while Run is running
}

var (
	_ linked.Phone  = (*Phone)(nil)
	_ linked.Pairer = (*Phone)(nil)
)

// headerTime is how long the servers may take to begin with an answer.
const headerTime = 30 * time.Second

// New returns the phone whose keys are in dir, or will be. Proxies are those of the environment.
func New(dir string) *Phone {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = headerTime
	return &Phone{dir: dir, http: &http.Client{Transport: t}}
}

// Self is whose phone is linked.
func (p *Phone) Self() (linked.Self, bool, error) { return account(p.dir) }

// line is a client and its connection.
type line struct {
	*whatsmeow.Client
	ctx    context.Context // of the connection; it outlives what it is made for, until it is hung up
	cancel context.CancelFunc
}

// newLine returns a line that is not connected.
func (p *Phone) newLine(ctx context.Context, d *store.Device, log *slog.Logger) *line {
	c := whatsmeow.NewClient(d, logger{log})
	c.SetWebsocketHTTPClient(p.http)
	c.SetPreLoginHTTPClient(p.http)
	c.SetMediaHTTPClient(p.http)
	l := &line{Client: c}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.BackgroundEventCtx = l.ctx
	c.SynchronousAck = true             // acknowledge when the handler is done
	c.EnableDecryptedEventBuffer = true // and read again what it did not take
	c.ManualHistorySyncDownload = true  // what was said before the device was linked is none of our business
	c.AutoReconnectHook = func(error) bool {
		c.AutoReconnectErrors = min(c.AutoReconnectErrors, longestPause)
		return true
	}
	return l
}

// connect connects, unless ctx ends before.
func (l *line) connect(ctx context.Context) error {
	defer context.AfterFunc(ctx, l.cancel)()
	return l.ConnectContext(l.ctx)
}

// hangUp ends the connection, and then what goes on with it. The library does not bear the end of both at once.
func (l *line) hangUp() {
	l.Disconnect()
	l.cancel()
}

// longestPause bounds the time between two tries to connect again: so many times two seconds.
const longestPause = 15

// Run receives until ctx ends.
func (p *Phone) Run(ctx context.Context, h linked.Handler) error {
	keys, err := openKeys(ctx, p.dir, logger{h.Log})
	if err != nil {
		return fatal(ctx, err)
	}
	defer keys.close()
	device, err := keys.device(ctx)
	switch {
	case err != nil:
		return fatal(ctx, err)
	case device == nil:
		return gateway.Fatal("no phone is linked: run %q, then start again", linked.HowToLink)
	}
	if err := keepAccount(p.dir, selfOf(device)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &running{phone: p, host: h, ctx: ctx, client: p.newLine(ctx, device, h.Log), ended: make(chan error, 1)}
	r.translator = r.lookups()
	hook := r.client.AutoReconnectHook
	r.client.AutoReconnectHook = func(err error) bool {
		r.state(false, "connecting again: "+plain(err))
		return hook(err)
	}
	r.client.AddEventHandlerWithSuccessStatus(r.handle)
	defer r.end()
	p.set(r.client.Client)
	defer p.set(nil)
	if err := r.client.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return wire.Errorf(wire.Network, "connect to WhatsApp: %s", plain(err))
	}
	if err = r.wait(keys); errors.Is(err, errUnlinked) {
		err = errors.Join(err, keys.forget(context.WithoutCancel(ctx)))
	}
	return err
}

// fatal is an error of the keys as one of Run. A lock will be free again.
func fatal(ctx context.Context, err error) error {
	switch code := wire.CodeOf(err); {
	case ctx.Err() != nil:
		return nil
	case code == wire.Corrupt, code == wire.Invalid:
		return gateway.Fatal("%w", err)
	}
	return err
}

func (p *Phone) set(c *whatsmeow.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = c
}

// connected returns the client, when there is one to send by.
func (p *Phone) connected() (*whatsmeow.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == nil || !p.client.IsLoggedIn() {
		return nil, wire.Errorf(wire.Network, "whatsapp: not connected")
	}
	return p.client, nil
}

// running is one Run.
type running struct {
	phone  *Phone
	host   linked.Handler
	ctx    context.Context
	client *line
	ended  chan error

	translator translator

	gate   sync.RWMutex // held while the host is called
	closed bool

	mu      sync.Mutex
	holding bool // a message was not taken: those after it wait for it
	refused int  // how often in a row
}

// lookups reads the keys of the device. They have names and numbers of those who wrote.
func (r *running) lookups() translator {
	s := r.client.Store
	return translator{
		name: func(ctx context.Context, id types.JID) string {
			c, err := s.Contacts.GetContact(ctx, id)
			if err != nil || !c.Found {
				return ""
			}
			for _, name := range []string{c.FullName, c.PushName, c.BusinessName} {
				if name != "" {
					return name
				}
			}
			return ""
		},
		other: func(ctx context.Context, id types.JID) types.JID {
			find := s.LIDs.GetLIDForPN
			if id.Server == types.HiddenUserServer {
				find = s.LIDs.GetPNForLID
			}
			other, err := find(ctx, id)
			if err != nil {
				return types.EmptyJID
			}
			return other
		},
		plain: func(ctx context.Context, e *events.Message) (*waE2E.Message, bool) {
			m, err := r.client.DecryptSecretEncryptedMessage(ctx, e)
			return m, err == nil
		},
	}
}

// Times of a connection.
const (
	lookEvery = 30 * time.Second
	downTime  = 5 * time.Minute // the library may have given up
)

// wait waits until the run ends, and ends it when the library does not connect any more.
func (r *running) wait(k *keys) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for up := time.Now(); ; {
		select {
		case <-r.ctx.Done():
			return nil
		case err := <-r.ended:
			return r.banned(err)
		case <-look.C:
			if err := k.settle(r.ctx); err != nil {
				r.host.Log.Debug("the log of the keys is not settled", "error", err)
			}
			switch {
			case r.client.IsLoggedIn() && r.client.IsConnected():
				up = time.Now()
			case time.Since(up) > downTime:
				return wire.Errorf(wire.Network, "no connection for %v", downTime)
			}
		}
	}
}

// banned waits for the end of a ban.
func (r *running) banned(err error) error {
	ban, ok := err.(*banError)
	if !ok {
		return err
	}
	r.state(false, ban.Error())
	select {
	case <-time.After(ban.wait):
		return err
	case <-r.ctx.Done():
		return nil
	}
}

// end closes the connection. Afterwards nothing is told to the host.
func (r *running) end() {
	r.gate.Lock()
	r.closed = true
	r.gate.Unlock()
	r.client.hangUp()
}

// stop ends Run with an error.
func (r *running) stop(err error) {
	select {
	case r.ended <- err:
	default:
	}
}

func (r *running) state(up bool, note string) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if !r.closed {
		r.host.State(up, note)
	}
}
