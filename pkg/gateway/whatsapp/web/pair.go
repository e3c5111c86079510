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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	store.DeviceProps.Os = &[]string{deviceName}[0]
	t := &pairing{client: p.newClient(ctx, keys.container.NewDevice(), log), number: number, show: show, up: make(chan struct{}, 1), why: make(chan error, 1)}
	defer t.client.Disconnect()
	if err := t.run(ctx); err != nil {
		return linked.Self{}, err
	}
	self := selfOf(t.client.Store)
	return self, keepAccount(p.dir, self)
}

// pairing is one try.
type pairing struct {
	client *whatsmeow.Client
	number string
	show   func(linked.Code)
	up     chan struct{} // the linked device is connected
	why    chan error    // what the servers refused it for
}

func (t *pairing) run(ctx context.Context) error {
	t.client.AddEventHandlerWithSuccessStatus(t.handle)
	items, err := t.client.GetQRChannel(ctx)
	if err != nil {
		return wire.Errorf(wire.Internal, "link a phone: %w", err)
	}
	if err := t.client.ConnectContext(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return wire.Errorf(wire.Network, "connect to WhatsApp: %s", plain(err)).WithHint("proxies are those of HTTPS_PROXY")
	}
	for item := range items {
		done, err := t.item(ctx, item)
		switch {
		case done:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return wire.Errorf(wire.Network, "link a phone: the connection is lost")
}

// handle leaves messages to the gateway, and keeps why the servers refuse us.
func (t *pairing) handle(event any) bool {
	switch event.(type) {
	case *events.Message:
		return false
	case *events.Connected:
		select {
		case t.up <- struct{}{}:
		default:
		}
	}
	if err := verdict(event); err != nil {
		select {
		case t.why <- err:
		default:
		}
	}
	return true
}

// whyTime is how long to wait for the reason when a connection is lost.
const whyTime = time.Second

// item deals with one step; done: the phone is linked.
func (t *pairing) item(ctx context.Context, i whatsmeow.QRChannelItem) (done bool, err error) {
	switch i.Event {
	case whatsmeow.QRChannelEventCode:
		return false, t.code(ctx, i)
	case whatsmeow.QRChannelSuccess.Event:
		t.finish(ctx)
		return true, nil
	case whatsmeow.QRChannelTimeout.Event:
		select {
		case err := <-t.why: // the connection may end before it is read why
			return false, refused(err)
		case <-time.After(whyTime):
		}
		return false, wire.Errorf(wire.Network, "link a phone: nobody did it in time, or the connection was lost").WithHint(linked.HowToLink)
	case whatsmeow.QRChannelScannedWithoutMultidevice.Event:
		return false, wire.Errorf(wire.Auth, "link a phone: its WhatsApp is too old to have linked devices").WithHint("update WhatsApp on the phone")
	case whatsmeow.QRChannelEventPasskeyRequest, whatsmeow.QRChannelEventPasskeyResponse:
		return false, wire.Errorf(wire.Auth, "link a phone: the account wants a passkey, which cannot be given here").WithHint("on the phone: Settings, Account, Passkeys; or link with --phone")
	case whatsmeow.QRChannelClientOutdated.Event:
		return false, refused(verdict(&events.ClientOutdated{}))
	case whatsmeow.QRChannelEventError:
		return false, wire.Errorf(wire.Internal, "link a phone: %w", i.Error)
	}
	select {
	case err := <-t.why:
		return false, refused(err)
	default:
		return false, wire.Errorf(wire.Internal, "link a phone: the servers ended it (%s)", i.Event)
	}
}

// refused is what the servers say, as an error of this command.
func refused(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok { // of gateway.Fatal: the last one is what happened
		err = many.Unwrap()[1]
	}
	return wire.Errorf(wire.Auth, "link a phone: %w", err)
}

// code shows what is to be scanned. When a code is to be typed it is asked for once: it outlives what is scanned.
func (t *pairing) code(ctx context.Context, i whatsmeow.QRChannelItem) error {
	if t.number == "" {
		t.show(linked.Code{Scan: i.Code, Valid: i.Timeout})
		return nil
	}
	number := t.number
	if number == asked {
		return nil
	}
	t.number = asked
	typed, err := t.client.PairPhone(ctx, number, true, whatsmeow.PairClientChrome, typedName)
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
	t.show(linked.Code{Type: typed, Valid: codeTime})
	return nil
}

// asked stands for a number for which there is a code.
const asked = "-"

// finish waits until the linked device is connected. The phone shows that it links until then; it may go on later.
func (t *pairing) finish(ctx context.Context) {
	select {
	case <-t.up:
	case <-time.After(finishTime):
	case <-ctx.Done():
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
	told = p.logOut(ctx, p.newClient(ctx, d, log))
	if ctx.Err() != nil {
		return told, ctx.Err()
	}
	return told, keys.forget(ctx)
}

// logOut tells the servers.
func (p *Phone) logOut(ctx context.Context, c *whatsmeow.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, unlinkTime)
	defer cancel()
	over := make(chan bool, 1)
	tell := func(is bool) {
		select {
		case over <- is:
		default:
		}
	}
	c.BackgroundEventCtx, c.EnableAutoReconnect = ctx, false
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
	defer c.Disconnect()
	if c.ConnectContext(ctx) != nil {
		return false
	}
	select {
	case up := <-over:
		return up && c.Logout(ctx) == nil
	case <-ctx.Done():
		return false
	}
}
