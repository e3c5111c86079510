package web_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// linking is the servers' part of linking a phone: codes, and what follows when one is scanned.
type linking struct {
	s       *servers
	account *keys.KeyPair // of the phone
	scanned chan string
}

func (l *linking) greet(p *peer) {
	var refs []waBinary.Node
	for _, ref := range []string{"ref1", "ref2", "ref3", "ref4", "ref5", "ref6"} {
		refs = append(refs, waBinary.Node{Tag: "ref", Content: []byte(ref)})
	}
	p.send(waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": "1", "xmlns": "md"}, Content: []waBinary.Node{{Tag: "pair-device", Content: refs}}})
	go func() {
		select {
		case code := <-l.scanned:
			p.send(l.success(code))
			eventually(l.s.t, "the device signs", func() bool {
				return l.s.came("iq", func(n *waBinary.Node) bool { _, ok := n.GetOptionalChildByTag("pair-device-sign"); return ok }) != nil
			})
			p.send(waBinary.Node{Tag: "stream:error", Attrs: waBinary.Attrs{"code": "515"}})
		case <-p.ctx.Done():
		}
	}()
}

// success is what the servers say when a phone has scanned a code.
func (l *linking) success(code string) waBinary.Node {
	_, parts, _ := strings.Cut(code, "#")
	all := strings.Split(parts, ",")
	ident, _ := base64.StdEncoding.DecodeString(all[2])
	secret, _ := base64.StdEncoding.DecodeString(all[3])
	details, _ := proto.Marshal(&waAdv.ADVDeviceIdentity{RawID: proto.Uint32(1), Timestamp: proto.Uint64(1), KeyIndex: proto.Uint32(1)})
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*l.account.Priv), append(append([]byte{6, 0}, details...), ident...))
	signed, _ := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{Details: details, AccountSignatureKey: l.account.Pub[:], AccountSignature: signature[:]})
	mac := hmac.New(sha256.New, secret)
	mac.Write(signed)
	device, _ := proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
	return waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": "2", "t": time.Now().Unix()}, Content: []waBinary.Node{{Tag: "pair-success", Content: []waBinary.Node{
		{Tag: "device-identity", Content: device},
		{Tag: "platform", Attrs: waBinary.Attrs{"name": "android"}},
		{Tag: "device", Attrs: waBinary.Attrs{"jid": types.JID{User: "4915550100", Device: 7, Server: types.DefaultUserServer}, "lid": types.JID{User: "77001", Device: 7, Server: types.HiddenUserServer}}},
	}}}}
}

// A phone is linked by a code that it scans, and unlinked again.
func TestPair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := newServers(t)
	l := &linking{s, keys.NewKeyPair(), make(chan string, 1)}
	s.link, s.login = l.greet, success
	self, err := s.phone(dir).Pair(t.Context(), "", func(c linked.Code) {
		if !strings.HasPrefix(c.Scan, "https://wa.me/settings/linked_devices#ref1,") || c.Valid != time.Minute || c.Type != "" {
			t.Errorf("got %+v", c)
		}
		l.scanned <- c.Scan
	})
	want := linked.Self{ID: "4915550100@s.whatsapp.net", LID: "77001@lid"}
	if err != nil || self != want {
		t.Fatalf("got %+v, %v, want %+v", self, err, want)
	}
	if got, ok, err := s.phone(dir).Self(); got != want || !ok || err != nil {
		t.Errorf("got %+v, %v, %v afterwards", got, ok, err)
	}
	if _, err := s.phone(dir).Pair(t.Context(), "", nil); wire.CodeOf(err) != wire.Exists || !strings.Contains(wire.AsError(err).Hint, "--unlink") {
		t.Errorf("got %v of linking again, want the code %s", err, wire.Exists)
	}
	if told, err := s.phone(dir).Unlink(t.Context()); !told || err != nil {
		t.Errorf("unlink: got %v, %v", told, err)
	}
	if _, ok, err := s.phone(dir).Self(); ok || err != nil {
		t.Errorf("got %v, %v after it was unlinked", ok, err)
	}
}

// Without a connection the keys are forgotten nevertheless, and that is told.
func TestUnlinkOffline(t *testing.T) {
	dir, _ := device(t)
	p := web.New(dir)
	p.SetClient(clientFor("127.0.0.1:9", time.Second))
	if told, err := p.Unlink(t.Context()); told || err != nil {
		t.Errorf("got %v, %v, want that nobody was told", told, err)
	}
	if _, err := p.Unlink(t.Context()); wire.CodeOf(err) != wire.NotFound {
		t.Errorf("got %v, want the code %s", err, wire.NotFound)
	}
}

func TestPairByNumber(t *testing.T) {
	s := newServers(t)
	s.link = (&linking{s, keys.NewKeyPair(), nil}).greet
	ctx, cancel := context.WithCancel(t.Context())
	var got linked.Code
	_, err := s.phone(t.TempDir()).Pair(ctx, "+49 155 50100", func(c linked.Code) { got = c; cancel() })
	if !errors.Is(err, context.Canceled) || len(got.Type) != 9 || got.Type[4] != '-' || got.Scan != "" {
		t.Errorf("got %+v, %v, want a code of eight letters", got, err)
	}
	for _, number := range []string{"123", "0155 501000"} {
		if _, err := s.phone(t.TempDir()).Pair(t.Context(), number, nil); wire.CodeOf(err) != wire.Usage {
			t.Errorf("%s: got %v, want the code %s", number, err, wire.Usage)
		}
	}
}

// What ends a try to link a phone.
func TestPairEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		link func(*peer)
		code wire.Code
		text string
	}{
		{"outdated", failure(waBinary.Attrs{"reason": "405"}), wire.Auth, "update openspace-gateway"},
		{"banned", failure(waBinary.Attrs{"reason": "402", "code": "101", "expire": "60"}), wire.Auth, "banned the account for 1m0s"},
		{"lost", func(p *peer) {
			p.send(waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": "1"}, Content: []waBinary.Node{{Tag: "pair-device", Content: []waBinary.Node{{Tag: "ref", Content: []byte("r")}}}}})
			go func() {
				eventually(t, "it answers", func() bool { return p.s.came("iq", nil) != nil })
				p.conn.Close(websocket.StatusGoingAway, "")
			}()
		}, wire.Network, "lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServers(t)
			s.link = tt.link
			if _, err := s.phone(t.TempDir()).Pair(t.Context(), "", func(linked.Code) {}); wire.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), gateway.ErrFatal.Error()) {
				t.Errorf("got %v, want the code %s and %q", err, tt.code, tt.text)
			}
		})
	}
}

// A code that was not scanned in its time is followed by the next, until there is none.
func TestCodesExpire(t *testing.T) {
	shown, err := web.ShowAll([]string{"1", "2", "3", "4", "5", "6"})
	if wire.CodeOf(err) != wire.Network || !strings.Contains(err.Error(), "in time") || len(shown) != 6 {
		t.Fatalf("got %+v, %v", shown, err)
	}
	for i, c := range shown {
		if want := map[bool]time.Duration{true: time.Minute, false: 20 * time.Second}[i == 0]; c.Scan != string(rune('1'+i)) || c.Valid != want {
			t.Errorf("got %+v, want it to be good for %v", c, want)
		}
	}
}
