package web

import (
	"context"
	"database/sql"
	"net/http"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// SetClient makes the phone reach the servers by another client.
func (p *Phone) SetClient(c *http.Client) { p.http = c }

// Fake is a translator for whom everybody has the hidden id of their number with 77 before it.
var Fake = translator{
	name: func(_ context.Context, id types.JID) string { return map[string]string{"77491": "Robin"}[id.User] },
	other: func(_ context.Context, id types.JID) types.JID {
		if number, ok := strings.CutPrefix(id.User, "77"); ok && id.Server == types.HiddenUserServer {
			return types.NewJID(number, types.DefaultUserServer)
		}
		return types.NewJID("77"+id.User, types.HiddenUserServer)
	},
	plain: func(context.Context, *events.Message) (*waE2E.Message, bool) {
		text := "decrypted"
		return &waE2E.Message{Conversation: &text}, true
	},
}

// Message translates.
func Message(ctx context.Context, e *events.Message) (linked.Message, bool) {
	return Fake.message(ctx, e)
}

// Unseen translates.
func Unseen(ctx context.Context, e *events.UndecryptableMessage) (linked.Message, bool) {
	return Fake.unseen(ctx, e)
}

// Keys are open keys.
type Keys struct{ *keys }

// OpenKeys opens the keys of a folder.
func OpenKeys(ctx context.Context, dir string) (Keys, error) {
	k, err := openKeys(ctx, dir, waLog.Noop)
	return Keys{k}, err
}

// Close closes them.
func (k Keys) Close() error { return k.close() }

// DB is the database.
func (k Keys) DB() *sql.DB { return k.db }

// Device returns the device.
func (k Keys) Device(ctx context.Context) (*store.Device, error) { return k.device(ctx) }

// New returns a device that is not kept yet.
func (k Keys) New() *store.Device { return k.container.NewDevice() }

// Forget forgets.
func (k Keys) Forget(ctx context.Context) error { return k.forget(ctx) }

// Judge judges.
var Judge = judge

// ReadKey reports whether the key of a file is whole.
func ReadKey(s string) bool { _, ok := openKey(s); return ok }

// ShowAll shows one code after the other, as the time for each goes by.
func ShowAll(codes []string) (shown []linked.Code, err error) {
	t := pairing{codes: codes, show: func(c linked.Code) { shown = append(shown, c) }}
	for err == nil {
		_, err = t.next()
	}
	return shown, err
}
