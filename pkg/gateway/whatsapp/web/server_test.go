package web_test

import (
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
)

// servers play WhatsApp's servers on loopback, down to the encryption between them and us.
type servers struct {
	t      *testing.T
	http   *httptest.Server
	static *keys.KeyPair
	cert   []byte

	// login says what a device that is linked gets for a greeting, and link what one gets that is not.
	login, link func(*peer)

	refuse string // the error that messages of ours are answered with

	mu   sync.Mutex
	seen []*waBinary.Node // what came, but for questions
}

// newServers starts servers whose certificate the library believes.
func newServers(t *testing.T) *servers {
	root, middle := keys.NewKeyPair(), keys.NewKeyPair()
	old := whatsmeow.WACertPubKey
	whatsmeow.WACertPubKey = *root.Pub
	s := &servers{t: t, static: keys.NewKeyPair(), refuse: "0"}
	from, to := proto.Uint64(uint64(time.Now().Add(-time.Hour).Unix())), proto.Uint64(uint64(time.Now().Add(24*time.Hour).Unix()))
	sign := func(by *keys.KeyPair, d *waCert.CertChain_NoiseCertificate_Details) *waCert.CertChain_NoiseCertificate {
		details, _ := proto.Marshal(d)
		signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*by.Priv), details)
		return &waCert.CertChain_NoiseCertificate{Details: details, Signature: signature[:]}
	}
	s.cert, _ = proto.Marshal(&waCert.CertChain{
		Intermediate: sign(root, &waCert.CertChain_NoiseCertificate_Details{Serial: proto.Uint32(1), IssuerSerial: proto.Uint32(whatsmeow.WACertIssuerSerial), Key: middle.Pub[:], NotBefore: from, NotAfter: to}),
		Leaf:         sign(middle, &waCert.CertChain_NoiseCertificate_Details{Serial: proto.Uint32(2), IssuerSerial: proto.Uint32(1), Key: s.static.Pub[:], NotBefore: from, NotAfter: to}),
	})
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
		whatsmeow.WACertPubKey = old
	})
	return s
}

// clientFor returns a client all of whose connections go to one address, without TLS.
func clientFor(address string, patience time.Duration) *http.Client {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: patience}).DialContext(ctx, network, address)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial, ResponseHeaderTimeout: patience}}
}

// phone returns a phone that takes these for the servers.
func (s *servers) phone(dir string) *web.Phone {
	p := web.New(dir)
	p.SetClient(clientFor(s.http.Listener.Addr().String(), time.Minute))
	return p
}

// came returns the first thing with a tag that came, or nil.
func (s *servers) came(tag string, match func(*waBinary.Node) bool) *waBinary.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.seen {
		if n.Tag == tag && (match == nil || match(n)) {
			return n
		}
	}
	return nil
}

// peer is one connection.
type peer struct {
	s           *servers
	conn        *websocket.Conn
	ctx         context.Context
	read, write cipher.AEAD
	in, out     uint32
	rest        []byte
}

func (s *servers) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 24)
	p := &peer{s: s, conn: conn, ctx: r.Context()}
	payload, err := p.handshake()
	if err != nil {
		s.t.Logf("handshake: %v", err)
		return
	}
	greet := s.link
	if payload.Username != nil {
		greet = s.login
	}
	greet(p)
	for {
		n, err := p.next()
		if err != nil {
			return
		}
		p.handle(n)
	}
}

// frame reads one frame.
func (p *peer) frame() ([]byte, error) {
	for len(p.rest) < 3 || len(p.rest) < 3+int(p.rest[0])<<16+int(p.rest[1])<<8+int(p.rest[2]) {
		_, data, err := p.conn.Read(p.ctx)
		if err != nil {
			return nil, err
		}
		p.rest = append(p.rest, data...)
	}
	end := 3 + int(p.rest[0])<<16 + int(p.rest[1])<<8 + int(p.rest[2])
	frame := p.rest[3:end]
	p.rest = p.rest[end:]
	return frame, nil
}

func (p *peer) sendFrame(data []byte) {
	head := []byte{byte(len(data) >> 16), byte(len(data) >> 8), byte(len(data))}
	p.conn.Write(p.ctx, websocket.MessageBinary, append(head, data...))
}

// handshake is the servers' side of the key exchange.
func (p *peer) handshake() (*waWa6.ClientPayload, error) {
	_, first, err := p.conn.Read(p.ctx)
	if err != nil || len(first) < len(socket.WAConnHeader) {
		return nil, errors.Join(errors.New("no head"), err)
	}
	p.rest = first[len(socket.WAConnHeader):]
	var hello, finish waWa6.HandshakeMessage
	frame, err := p.frame()
	if err = errors.Join(err, proto.Unmarshal(frame, &hello)); err != nil {
		return nil, err
	}
	nh, own, theirs := socket.NewNoiseHandshake(), keys.NewKeyPair(), [32]byte(hello.GetClientHello().GetEphemeral())
	nh.Start(socket.NoiseStartPattern, socket.WAConnHeader)
	nh.Authenticate(theirs[:])
	nh.Authenticate(own.Pub[:])
	err = nh.MixSharedSecretIntoKey(*own.Priv, theirs)
	static := nh.Encrypt(p.s.static.Pub[:])
	err = errors.Join(err, nh.MixSharedSecretIntoKey(*p.s.static.Priv, theirs))
	answer, _ := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{Ephemeral: own.Pub[:], Static: static, Payload: nh.Encrypt(p.s.cert)}})
	p.sendFrame(answer)
	if frame, err2 := p.frame(); errors.Join(err, err2) != nil || proto.Unmarshal(frame, &finish) != nil {
		return nil, errors.Join(errors.New("no finish"), err, err2)
	}
	identity, err := nh.Decrypt(finish.GetClientFinish().GetStatic())
	if err != nil {
		return nil, err
	}
	err = nh.MixSharedSecretIntoKey(*own.Priv, [32]byte(identity))
	plain, err2 := nh.Decrypt(finish.GetClientFinish().GetPayload())
	var payload waWa6.ClientPayload
	err = errors.Join(err, err2, proto.Unmarshal(plain, &payload))
	both, err2 := hkdf.Key(sha256.New, nil, reflect.ValueOf(nh).Elem().FieldByName("salt").Bytes(), "", 64)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	p.read, _ = gcmutil.Prepare(both[:32])
	p.write, _ = gcmutil.Prepare(both[32:])
	return &payload, nil
}

func nonce(n *uint32) []byte {
	iv := make([]byte, 12)
	binary.BigEndian.PutUint32(iv[8:], *n)
	*n++
	return iv
}

// send sends a node.
func (p *peer) send(n waBinary.Node) {
	data, err := waBinary.Marshal(n)
	if err != nil {
		p.s.t.Errorf("send %s: %v", n.Tag, err)
	}
	p.sendFrame(p.write.Seal(nil, nonce(&p.out), data, nil))
}

func (p *peer) next() (*waBinary.Node, error) {
	frame, err := p.frame()
	if err != nil {
		return nil, err
	}
	plain, err := p.read.Open(nil, nonce(&p.in), frame, nil)
	if err != nil {
		return nil, err
	}
	if plain, err = waBinary.Unpack(plain); err != nil {
		return nil, err
	}
	return waBinary.Unmarshal(plain)
}

// handle answers questions, and keeps all else.
func (p *peer) handle(n *waBinary.Node) {
	kind, _ := n.Attrs["type"].(string)
	if n.Tag != "iq" || kind != "get" && kind != "set" {
		p.s.mu.Lock()
		p.s.seen = append(p.s.seen, n)
		p.s.mu.Unlock()
		if n.Tag == "message" {
			p.s.mu.Lock()
			refuse := p.s.refuse
			p.s.mu.Unlock()
			p.send(waBinary.Node{Tag: "ack", Attrs: waBinary.Attrs{"class": "message", "id": n.Attrs["id"], "t": time.Now().Unix(), "error": refuse}})
		}
		return
	}
	result := waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"id": n.Attrs["id"], "type": "result", "from": types.ServerJID}}
	if _, ok := n.GetOptionalChildByTag("count"); ok {
		result.Content = []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": "500"}}}
	}
	if _, ok := n.GetOptionalChildByTag("link_code_companion_reg"); ok {
		result.Content = []waBinary.Node{{Tag: "link_code_companion_reg", Content: []waBinary.Node{{Tag: "link_code_pairing_ref", Content: []byte("ref")}}}}
	}
	if list, ok := n.GetOptionalChildByTag("usync", "list"); ok {
		result.Content = []waBinary.Node{{Tag: "usync", Content: []waBinary.Node{{Tag: "list", Content: devices(list)}}}}
	}
	p.send(result)
}

// devices says that everybody has one phone, and we are our only device.
func devices(list waBinary.Node) (users []waBinary.Node) {
	for _, u := range list.GetChildren() {
		id := "0"
		if u.Attrs["jid"].(types.JID).User == "77001" {
			id = "7"
		}
		users = append(users, waBinary.Node{Tag: "user", Attrs: u.Attrs, Content: []waBinary.Node{{Tag: "devices", Content: []waBinary.Node{{Tag: "device-list", Content: []waBinary.Node{{Tag: "device", Attrs: waBinary.Attrs{"id": id}}}}}}}})
	}
	return users
}

// Greetings.
func success(p *peer) {
	p.send(waBinary.Node{Tag: "success", Attrs: waBinary.Attrs{"t": time.Now().Unix(), "lid": types.JID{User: "77001", Device: 7, Server: types.HiddenUserServer}}})
}

// failure leaves the connection open: the library does not always read why when it is closed at once.
func failure(attrs waBinary.Attrs) func(*peer) {
	return func(p *peer) {
		p.send(waBinary.Node{Tag: "failure", Attrs: attrs})
	}
}
