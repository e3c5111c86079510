package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/util/optional"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const patience = 60 * time.Second

// eventually waits for something.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// host collects what a running phone tells.
type host struct {
	mu     sync.Mutex
	taken  []linked.Message
	refuse int
	states []string
}

func (h *host) handler(log *slog.Logger) linked.Handler {
	return linked.Handler{Log: log, State: func(up bool, note string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.states = append(h.states, map[bool]string{true: "up: ", false: "down: "}[up]+note)
	}, Take: func(_ context.Context, m linked.Message) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.refuse > 0 {
			h.refuse--
			return errors.New("the disk is full")
		}
		h.taken = append(h.taken, m)
		return nil
	}}
}

func (h *host) said(part string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(strings.Join(h.states, "\n"), part)
}

// A server that cannot be reached, that lies or that hangs ends the run with an error, after which it is tried again.
func TestNoServer(t *testing.T) {
	dir, _ := device(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	serve := func(do func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go do(c)
			}
		}()
		return l.Addr().String()
	}
	for name, address := range map[string]string{
		"refuses":  closed.Addr().String(),
		"hangs up": serve(func(c net.Conn) { c.Close() }),
		"has an error": serve(func(c net.Conn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}),
		"is no server of this kind": serve(func(c net.Conn) { io.WriteString(c, "220 hello\r\n") }),
		"says nothing":              serve(func(c net.Conn) { time.Sleep(patience); c.Close() }),
	} {
		t.Run(name, func(t *testing.T) {
			p := web.New(dir)
			p.SetClient(clientFor(address, 200*time.Millisecond))
			var h host
			err := p.Run(t.Context(), h.handler(slog.New(slog.DiscardHandler)))
			if wire.CodeOf(err) != wire.Network || errors.Is(err, gateway.ErrFatal) {
				t.Errorf("got %v, want the code %s", err, wire.Network)
			}
			if _, err := p.Pair(t.Context(), "", nil); wire.CodeOf(err) != wire.Exists {
				t.Errorf("got %v of linking, want the code %s: the keys are there still", err, wire.Exists)
			}
			other := web.New(t.TempDir())
			other.SetClient(clientFor(address, 200*time.Millisecond))
			if _, err := other.Pair(t.Context(), "", func(linked.Code) { t.Error("a code is shown") }); wire.CodeOf(err) != wire.Network {
				t.Errorf("got %v of linking, want the code %s", err, wire.Network)
			}
		})
	}
}

// run runs a phone until the test ends or it does.
func run(t *testing.T, p *web.Phone, h *host, log *slog.Logger) (ended <-chan error, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	out, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		out <- p.Run(ctx, h.handler(log))
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return out, stop
}

// What the servers say when they refuse a device is said plainly, and ends the run when trying again is no use.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		greet func(*peer)
		fatal bool
		text  string
	}{
		{"unlinked", failure(waBinary.Attrs{"reason": "401"}), true, "link it again by \"openspace-gateway pair whatsapp\""},
		{"outdated", failure(waBinary.Attrs{"reason": "405"}), true, "update openspace-gateway"},
		{"replaced", func(p *peer) {
			success(p)
			p.send(waBinary.Node{Tag: "stream:error", Content: []waBinary.Node{{Tag: "conflict", Attrs: waBinary.Attrs{"type": "replaced"}}}})
		}, true, "another program uses the keys"},
		{"unknown", failure(waBinary.Attrs{"reason": "409"}), false, "409"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := device(t)
			s := newServers(t)
			s.login = tt.greet
			var h host
			ended, _ := run(t, s.phone(dir), &h, slog.New(slog.DiscardHandler))
			select {
			case err := <-ended:
				if err == nil || errors.Is(err, gateway.ErrFatal) != tt.fatal || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %v, want fatal %v and %q", err, tt.fatal, tt.text)
				}
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
			_, ok, err := s.phone(dir).Self()
			k := openKeys(t, dir)
			defer k.Close()
			if d, _ := k.Device(t.Context()); (d == nil) != (tt.name == "unlinked") || ok != (d != nil) || err != nil {
				t.Errorf("linked: got %v, %v, %v", d != nil, ok, err)
			}
		})
	}
}

// A ban is waited for, and told.
func TestBanned(t *testing.T) {
	dir, _ := device(t)
	s := newServers(t)
	s.login = failure(waBinary.Attrs{"reason": "402", "code": "101", "expire": "3600"})
	var h host
	ended, stop := run(t, s.phone(dir), &h, slog.New(slog.DiscardHandler))
	eventually(t, "the ban is told", func() bool { return h.said("banned the account for 1h0m0s") })
	stop()
	if err := <-ended; err != nil {
		t.Errorf("got %v when it was to end", err)
	}
}

// writer encrypts as somebody's phone does.
type writer struct {
	t    *testing.T
	from types.JID
	c    *session.Cipher
}

// newWriter makes somebody who has the public keys of our device.
func newWriter(t *testing.T, to *store.Device, name string) *writer {
	k := openKeys(t, t.TempDir())
	t.Cleanup(func() { k.Close() })
	d := keep(t, k)
	signed := to.SignedPreKey
	bundle := prekey.NewBundle(to.RegistrationID, uint32(to.ID.Device), optional.NewEmptyUint32(), signed.KeyID, nil, ecc.NewDjbECPublicKey(*signed.Pub), *signed.Signature, identity.NewKey(ecc.NewDjbECPublicKey(*to.IdentityKey.Pub)))
	b := session.NewBuilderFromSignal(d, to.ID.SignalAddress(), store.SignalProtobufSerializer)
	if err := b.ProcessBundle(t.Context(), bundle); err != nil {
		t.Fatal(err)
	}
	return &writer{t, types.NewJID(name, types.DefaultUserServer), session.NewCipher(b, to.ID.SignalAddress())}
}

// message is what the servers deliver for a message.
func (w *writer) message(id, text string) waBinary.Node {
	plain, _ := proto.Marshal(&waE2E.Message{Conversation: &text})
	sealed, err := w.c.Encrypt(w.t.Context(), append(plain, 1))
	if err != nil {
		w.t.Fatal(err)
	}
	return waBinary.Node{
		Tag: "message", Attrs: waBinary.Attrs{"from": w.from, "sender_lid": types.NewJID("88"+w.from.User, types.HiddenUserServer), "id": id, "t": time.Now().Unix(), "type": "text", "notify": "Ann"},
		Content: []waBinary.Node{{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "pkmsg"}, Content: sealed.Serialize()}},
	}
}

// CG-08, and what is promised of messages: one is acknowledged after it was taken over, and comes again when it was not,
// although it can be decrypted only once; those after it wait. What was delivered before is not taken again.
func TestAcknowledgedAfterTaken(t *testing.T) {
	dir, d := device(t)
	s := newServers(t)
	ann := newWriter(t, d, "491")
	offline := []waBinary.Node{ann.message("AC1", "Xylophon one"), ann.message("AC2", "Xylophon two")}
	receipt := func(id string) bool {
		return s.came("receipt", func(n *waBinary.Node) bool { return n.Attrs["id"] == id }) != nil
	}
	s.login = func(p *peer) {
		success(p)
		for i, m := range offline {
			if !receipt([]string{"AC1", "AC2"}[i]) {
				p.send(m)
			}
		}
	}
	h := host{refuse: 1}
	var log bytes.Buffer
	_, stop := run(t, s.phone(dir), &h, slog.New(slog.NewTextHandler(&log, nil)))
	eventually(t, "both are acknowledged", func() bool { return receipt("AC1") && receipt("AC2") })
	stop()
	if len(h.taken) != 2 || h.taken[0].Text != "Xylophon one" || h.taken[1].Text != "Xylophon two" {
		t.Errorf("got %+v, want both in their order", h.taken)
	}
	if m := h.taken[0]; m.From != (linked.Party{ID: "491@s.whatsapp.net", Alt: "88491@lid", Name: "Ann"}) || m.ID != "AC1" {
		t.Errorf("got %+v", m)
	}
	if s := log.String(); s != "" {
		t.Errorf("got %q in the log at the level info", s)
	}
	for _, name := range []string{"device.db", "device.db-wal"} { // closing it empties the latter
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Contains(data, []byte("Xylophon")) {
			t.Errorf("%s has what was said", name)
		}
	}
	// the servers missed the receipts and deliver both again, after a restart
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	var again host
	run(t, s.phone(dir), &again, slog.New(slog.DiscardHandler))
	eventually(t, "both are acknowledged again", func() bool { return receipt("AC1") && receipt("AC2") })
	if len(again.taken) > 0 {
		t.Errorf("got %+v, want nothing twice", again.taken)
	}
}

// A connection that is lost is told, and made again.
func TestReconnects(t *testing.T) {
	dir, d := device(t)
	s := newServers(t)
	ann := newWriter(t, d, "491")
	message := ann.message("AC1", "after")
	var mu sync.Mutex
	logins := 0
	var h host
	s.login = func(p *peer) {
		mu.Lock()
		defer mu.Unlock()
		logins++
		success(p)
		if logins == 1 {
			go func() {
				eventually(t, "it is up", func() bool { return h.said("up: connected") })
				p.conn.Close(websocket.StatusGoingAway, "")
			}()
			return
		}
		p.send(message)
	}
	run(t, s.phone(dir), &h, slog.New(slog.DiscardHandler))
	eventually(t, "a message comes after it", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.taken) == 1 })
	eventually(t, "it is up again", func() bool { return h.said("up: connected") })
	if !h.said("down: the connection is lost") {
		t.Errorf("got states %q", h.states)
	}
}

// read decrypts what we sent.
func (w *writer) read(n *waBinary.Node) *waE2E.Message {
	var enc *waBinary.Node
	var find func(n waBinary.Node)
	find = func(n waBinary.Node) {
		if n.Tag == "enc" {
			enc = &n
		}
		for _, child := range n.GetChildren() {
			find(child)
		}
	}
	find(*n)
	if enc == nil {
		w.t.Fatalf("nothing is encrypted in %s", n)
	}
	sealed, err := protocol.NewSignalMessageFromBytes(enc.Content.([]byte), store.SignalProtobufSerializer.SignalMessage)
	if err != nil {
		w.t.Fatal(err)
	}
	plain, err := w.c.Decrypt(w.t.Context(), sealed)
	if err != nil {
		w.t.Fatal(err)
	}
	var m waE2E.Message
	if err := proto.Unmarshal(plain[:len(plain)-int(plain[len(plain)-1])], &m); err != nil {
		w.t.Fatal(err)
	}
	return &m
}

// An answer reaches who asked, with the id that we chose, quotes the question and disappears as it does.
func TestSend(t *testing.T) {
	dir, d := device(t)
	s := newServers(t)
	ann := newWriter(t, d, "491")
	question := ann.message("AC1", "a question")
	s.login = func(p *peer) { success(p); p.send(question) }
	var h host
	p := s.phone(dir)
	run(t, p, &h, slog.New(slog.DiscardHandler))
	eventually(t, "the question comes", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.taken) == 1 })
	out := linked.Outgoing{ID: "3EB0AA", Chat: "491@s.whatsapp.net", Text: "an answer", Expires: 60, Answers: &linked.Quote{ID: "AC1", From: "491@s.whatsapp.net", Text: "a question"}}
	if err := p.Send(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	sent := s.came("message", nil)
	if sent == nil || sent.Attrs["id"] != "3EB0AA" || sent.Attrs["to"] != types.NewJID("88491", types.HiddenUserServer) {
		t.Fatalf("got %v", sent)
	}
	m := ann.read(sent).GetExtendedTextMessage()
	if c := m.GetContextInfo(); m.GetText() != "an answer" || c.GetStanzaID() != "AC1" || c.GetParticipant() != "491@s.whatsapp.net" || c.GetQuotedMessage().GetConversation() != "a question" || c.GetExpiration() != 60 {
		t.Errorf("got %v", m)
	}
	if err := p.Typing(t.Context(), out.Chat, true); err != nil {
		t.Errorf("typing: %v", err)
	}
	eventually(t, "we type", func() bool { return s.came("chatstate", nil) != nil })
	s.mu.Lock()
	s.refuse = "403"
	s.mu.Unlock()
	if err := p.Send(t.Context(), linked.Outgoing{ID: "3EB0AB", Chat: out.Chat, Text: "x"}); !errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v of what the servers refuse, want ErrPermanent", err)
	}
}
