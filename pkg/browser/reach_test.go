package browser_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/browser"
)

// TestReach: whatever a page does, nothing reaches an address that the check does not allow.
func TestReach(t *testing.T) {
	private, asked := site(t, map[string]string{"/": "a secret"})
	at := netip.MustParseAddrPort(strings.TrimPrefix(private, "http://"))
	datagrams, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	port := fmt.Sprint(at.Port())
	address, _ := site(t, map[string]string{
		"/": `<img src="` + private + `/i"><link rel=stylesheet href="` + private + `/c"><link rel=preconnect href="` + private + `"><iframe src="` + private + `/f"></iframe>
<iframe src="/redirect"></iframe><iframe src="http://localhost:` + port + `/l"></iframe><iframe src="http://[::ffff:127.0.0.1]:` + port + `/6"></iframe><p id=out></p><script>
const say = s => document.getElementById("out").append(" " + s);
fetch("` + private + `/", {mode: "no-cors"}).then(r => say("fetched"), e => say("no-fetch"));
fetch("https://127.0.0.1:` + port + `/", {mode: "no-cors"}).then(r => say("tls"), e => say("no-tls"));
navigator.sendBeacon("` + private + `/b", "x");
const s = new WebSocket("ws://127.0.0.1:` + port + `/ws"); s.onopen = () => say("socket"); s.onerror = () => say("no-socket");
try { new EventSource("` + private + `/e").onerror = () => say("no-events"); } catch {}
try { const p = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:` + port + `"}, {urls: "turn:127.0.0.1:` + port + `?transport=tcp", username: "u", credential: "c"}]});
  p.createDataChannel("d"); p.createOffer().then(o => p.setLocalDescription(o)); } catch {}
try { const w = new WebTransport("https://127.0.0.1:` + port + `/w"); w.ready.then(() => say("transport"), () => say("no-transport")); } catch { say("no-transport"); }
setTimeout(() => say("waited"), 400);
</script>`,
		"/redirect": "to " + private + "/r",
		"/lead":     "to " + private + "/",
		"/file":     "to file:///etc/passwd",
	})
	b := start(t, func(address string) error {
		if address == at.String() {
			return errors.New("it is private")
		}
		return nil
	})
	if err := b.Open(within(t), address+"/"); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	text := ""
	for _, want := range []string{"no-tls", "no-socket", "no-events", "no-transport", "waited"} {
		for text = read(t, b).Text; !strings.Contains(text, want) && time.Now().Before(deadline); text = read(t, b).Text {
			time.Sleep(50 * time.Millisecond)
		}
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if denied := b.Denied(); len(denied) == 0 || denied[0].Host != at.String() || !strings.Contains(denied[0].Reason, "private") {
		t.Errorf("got refusals %v", denied)
	}
	for _, path := range []string{"/lead", "/file"} {
		b.Open(within(t), address+path)
		if p, err := b.Read(within(t)); err == nil && (strings.Contains(p.Text, "secret") || strings.Contains(p.Text, "root:")) {
			t.Errorf("%s leads to %q", path, p.Text)
		}
	}
	load := new(browser.LoadError)
	if err := b.Open(within(t), "http://nowhere.invalid/"); !errors.As(err, &load) || !strings.Contains(load.Reason, "no such host") && !strings.Contains(load.Reason, "looked up") {
		t.Errorf("a host that does not exist gives %v", err)
	}
	if err := b.Open(within(t), "http://127.0.0.1:9/"); !errors.As(err, &load) {
		t.Errorf("a port where nobody listens gives %v", err)
	}
	b.Open(within(t), "file:///etc/passwd")
	if p, err := b.Read(within(t)); err == nil {
		t.Errorf("a file is shown: %+v", p)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the private server was asked %d times", n)
	}
	datagrams.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, from, err := datagrams.ReadFrom(make([]byte, 100)); err == nil {
		t.Errorf("the private server got %d bytes from %s", n, from)
	}
}

// TestQuietStart: the browser asks nobody by itself.
func TestQuietStart(t *testing.T) {
	called := make(chan string, 100)
	b := start(t, func(address string) error {
		called <- address
		return errors.New("nobody")
	})
	time.Sleep(time.Second)
	if d := b.Denied(); len(d) != 0 || len(called) != 0 {
		t.Errorf("before anything was opened the browser asked for %v", d)
	}
}
