package web

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// What the phone lists the device as. The servers know browsers only when a code is typed.
const (
	deviceName = "OpenSpace"
	typedName  = "Chrome (Linux)"
)

// finishTime is how long the phone may take to hand the device its first keys after it was linked.
const finishTime = time.Minute

// codeTime is how long a code that is typed is good for, as far as is known.
const codeTime = 160 * time.Second

// Pair links a phone.
func (p *Phone) Pair(ctx context.Context, number string, show func(linked.Code)) (linked.Self, error) {
	log := slog.New(slog.DiscardHandler)
	keys, err := openKeys(ctx, p.dir, logger{log})
	if err != nil {
		return linked.Self{}, err
	}
	defer keys.close()
	if d, err := keys.device(ctx); err != nil {
		return linked.Self{}, err
	} else if d != nil {
		return linked.Self{}, errors.Join(keepAccount(p.dir, selfOf(d)), wire.Errorf(wire.Exists, "the phone %s is linked already", selfOf(d).Number()).WithHint("%s --unlink", linked.HowToLink))
	}
	store.DeviceProps.Os = &[]string{deviceName}[0]
	t := &pairing{client: p.newLine(ctx, keys.container.NewDevice(), log), number: number, show: show, events: make(chan any, kept)}
	defer t.client.hangUp()
	if err := t.run(ctx); err != nil {
		return linked.Self{}, err
	}
	self := selfOf(t.client.Store)
	return self, keepAccount(p.dir, self)
}

// pairing is one try. The library has a channel of codes of its own, which may be written to when it is closed already.
type pairing struct {
	client *line
	number string
	show   func(linked.Code)
	events chan any
	codes  []string // to come
	lost   bool     // the connection is; why may follow
}

// Times of linking a phone.
const (
	firstCode = time.Minute      // how long the first of many codes is good for
	laterCode = 20 * time.Second // and each other one
	codesTime = time.Minute      // in which the servers have to give codes
	whyTime   = time.Second      // in which they say why a connection was closed
)

// kept is how many events may wait; the library emits few before a phone is linked.
const kept = 64

func (t *pairing) run(ctx context.Context) error {
	t.client.AddEventHandlerWithSuccessStatus(t.handle)
	if err := t.client.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return wire.Errorf(wire.Network, "connect to WhatsApp: %s", plain(err)).WithHint("proxies are those of HTTPS_PROXY")
	}
	for timer := time.NewTimer(codesTime); ; {
		wait, done, err := time.Duration(0), false, error(nil)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event := <-t.events:
			wait, done, err = t.event(ctx, event)
		case <-timer.C:
			wait, err = t.next()
		}
		if ctx.Err() != nil && !done {
			return ctx.Err()
		}
		if done || err != nil {
			return err
		}
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// handle leaves messages to the gateway.
func (t *pairing) handle(event any) bool {
	if _, ok := event.(*events.Message); ok {
		return false
	}
	select {
	case t.events <- event:
	default:
	}
	return true
}

// event deals with one event. done: the phone is linked; wait: until something is to be done.
func (t *pairing) event(ctx context.Context, event any) (wait time.Duration, done bool, err error) {
	switch e := event.(type) {
	case *events.QR:
		t.codes = e.Codes
		if t.number != "" {
			if err := t.typed(ctx); err != nil {
				return 0, false, err
			}
		}
		wait, err = t.next()
		return wait, false, err
	case *events.PairSuccess:
		t.finish(ctx)
		return 0, true, nil
	case *events.Disconnected:
		t.codes, t.lost = nil, true
		return whyTime, false, nil
	case *events.PairError:
		return 0, false, wire.Errorf(wire.Internal, "link a phone: %w", e.Error)
	case *events.QRScannedWithoutMultidevice:
		return 0, false, wire.Errorf(wire.Auth, "link a phone: its WhatsApp is too old to have linked devices").WithHint("update WhatsApp on the phone")
	case *events.PairPasskeyRequest, *events.PairPasskeyConfirmation, *events.PairPasskeyError:
		return 0, false, wire.Errorf(wire.Auth, "link a phone: the account wants a passkey, which cannot be given here").WithHint("on the phone: Settings, Account, Passkeys; or link with --phone")
	}
	if err := verdict(event); err != nil {
		return 0, false, refused(err)
	}
	return 0, false, nil
}

// next shows the next code, and says when to show the one after it.
func (t *pairing) next() (time.Duration, error) {
	switch {
	case t.lost:
		return 0, wire.Errorf(wire.Network, "link a phone: the connection is lost").WithHint(linked.HowToLink)
	case len(t.codes) == 0:
		return 0, wire.Errorf(wire.Network, "link a phone: nobody did it in time").WithHint(linked.HowToLink)
	}
	code, valid := t.codes[0], laterCode
	if len(t.codes) > 5 {
		valid = firstCode
	}
	t.codes = t.codes[1:]
	if t.number == "" {
		t.show(linked.Code{Scan: code, Valid: valid})
	}
	return valid, nil
}

// refused is what the servers say, as an error of this command.
func refused(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok { // of gateway.Fatal: the last one is what happened
		err = many.Unwrap()[1]
	}
	return wire.Errorf(wire.Auth, "link a phone: %w", err)
}

// typed asks for a code to type. It outlives those that are scanned.
func (t *pairing) typed(ctx context.Context) error {
	code, err := t.client.PairPhone(ctx, t.number, true, whatsmeow.PairClientChrome, typedName)
	switch {
	case errors.Is(err, whatsmeow.ErrPhoneNumberTooShort), errors.Is(err, whatsmeow.ErrPhoneNumberIsNotInternational):
		return wire.Errorf(wire.Usage, "link a phone: %w", err).WithHint("write the number with its country, such as +49 170 1234567")
	case errors.Is(err, whatsmeow.ErrIQRateOverLimit):
		return wire.Errorf(wire.RateLimited, "link a phone: too many codes for this number: try again in some hours")
	case errors.Is(err, whatsmeow.ErrIQBadRequest), errors.Is(err, whatsmeow.ErrIQNotFound):
		return wire.Errorf(wire.Invalid, "link a phone: the servers do not take the number").WithHint("write the number with its country, such as +49 170 1234567")
	case err != nil:
		return wire.Errorf(wire.Network, "link a phone: %w", err)
	}
	t.show(linked.Code{Type: code, Valid: codeTime})
	return nil
}

// finish waits until the linked device is connected. The phone shows that it links until then; it may go on later.
func (t *pairing) finish(ctx context.Context) {
	late := time.After(finishTime)
	for {
		select {
		case event := <-t.events:
			if _, up := event.(*events.Connected); up {
				return
			}
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// unlinkTime is how long the servers have to take notice.
const unlinkTime = 45 * time.Second

// Unlink forgets the phone, whether or not the servers can be told.
func (p *Phone) Unlink(ctx context.Context) (told bool, err error) {
	log := slog.New(slog.DiscardHandler)
	keys, err := openKeys(ctx, p.dir, logger{log})
	if err != nil {
		return false, err
	}
	defer keys.close()
	d, err := keys.device(ctx)
	if err != nil {
		return false, err
	}
	if d == nil {
		return false, errors.Join(forgetAccount(p.dir), wire.Errorf(wire.NotFound, "no phone is linked"))
	}
	told = logOut(ctx, p.newLine(ctx, d, log))
	if ctx.Err() != nil {
		return told, ctx.Err()
	}
	return told, keys.forget(ctx)
}

// logOut tells the servers.
func logOut(ctx context.Context, c *line) bool {
	ctx, cancel := context.WithTimeout(ctx, unlinkTime)
	defer cancel()
	over := make(chan bool, 1)
	tell := func(is bool) {
		select {
		case over <- is:
		default:
		}
	}
	c.EnableAutoReconnect = false
	c.AddEventHandlerWithSuccessStatus(func(event any) bool {
		switch event.(type) {
		case *events.Message:
			return false
		case *events.Connected:
			tell(true)
		case *events.LoggedOut, *events.Disconnected:
			tell(false)
		default:
			if verdict(event) != nil {
				tell(false)
			}
		}
		return true
	})
	defer c.hangUp()
	if c.connect(ctx) != nil {
		return false
	}
	select {
	case up := <-over:
		return up && c.Logout(ctx) == nil
	case <-ctx.Done():
		return false
	}
}
