package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// handle gets every event of the library. What it answers with false is not acknowledged.
func (r *running) handle(event any) bool {
	switch e := event.(type) {
	case *events.Message:
		if m, ok := r.translator.message(r.ctx, e); ok {
			return r.take(m)
		}
	case *events.UndecryptableMessage:
		if m, ok := r.translator.unseen(r.ctx, e); ok {
			return r.take(m)
		}
	case *events.Connected:
		r.state(true, "connected")
		go r.client.SendPresence(r.ctx, types.PresenceUnavailable) // tells our name, and leaves the phone its notifications
	case *events.KeepAliveRestored:
		r.state(true, "connected")
	case *events.Disconnected:
		r.state(false, "the connection is lost: connecting again")
	case *events.KeepAliveTimeout:
		r.state(false, "the servers have not answered since "+e.LastSuccess.UTC().Format(time.RFC3339))
	default:
		if err := verdict(event); err != nil {
			r.stop(err)
		}
	}
	return true
}

// take hands a message over. When that fails nothing is taken any more until the servers deliver it again, so that
// the order within a chat stays.
func (r *running) take(m linked.Message) bool {
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	holding := r.holding
	r.mu.Unlock()
	if r.closed || holding {
		return false
	}
	err := r.host.Take(r.ctx, m)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.refused = 0
		return true
	}
	r.holding = true
	r.refused++
	go r.again(min(time.Second<<min(r.refused-1, 6), time.Minute))
	return false
}

// again connects anew after a pause: then what was not acknowledged is delivered again.
func (r *running) again(after time.Duration) {
	select {
	case <-time.After(after):
	case <-r.ctx.Done():
		return
	}
	r.client.ResetConnection()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = false
}

// banError is a ban that ends.
type banError struct {
	text string
	wait time.Duration
}

func (e *banError) Error() string { return e.text }

// unknownBan is how long to wait when nobody says how long a ban lasts.
const unknownBan = time.Hour

// errUnlinked is matched by what says that the keys are worth nothing any more.
var errUnlinked = errors.New("the phone is not linked any more")

// verdict is what an event means after which the library does not connect again by itself; nil: it is none of these.
func verdict(event any) error {
	switch e := event.(type) {
	case *events.LoggedOut:
		return gateway.Fatal("%w (%s): link it again by %q, then start again", errUnlinked, e.Reason, linked.HowToLink)
	case *events.ClientOutdated:
		return gateway.Fatal("this version of the WhatsApp library is too old for the servers: update openspace-gateway")
	case *events.StreamReplaced:
		return gateway.Fatal("another program uses the keys of this device: end it, then start again")
	case *events.TemporaryBan:
		if e.Expire <= 0 {
			return &banError{fmt.Sprintf("WhatsApp has banned the account for a while (%s)", e.Code), unknownBan}
		}
		return &banError{fmt.Sprintf("WhatsApp has banned the account for %v (%s)", e.Expire, e.Code), e.Expire}
	case *events.ConnectFailure:
		return fmt.Errorf("WhatsApp refuses the connection: %s %s", e.Reason, e.Message)
	}
	return nil
}

// plain says what kept a connection from being made, without the address of it.
func plain(err error) string {
	var u *url.Error
	var status socket.ErrWithStatusCode
	var op *net.OpError
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("the answer has the status %d", status.StatusCode)
	case errors.As(err, &op):
		return op.Error()
	case errors.As(err, &u):
		return u.Err.Error()
	}
	return err.Error()
}
