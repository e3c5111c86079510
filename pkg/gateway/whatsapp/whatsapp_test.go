package whatsapp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/whatsapptest"
)

func channel(t testing.TB, url, token string) *whatsapp.Channel {
	t.Helper()
	c := whatsapp.DefaultConfig()
	c.PhoneNumberID, c.AccessToken, c.AppSecret, c.VerifyToken, c.APIBase = whatsapptest.Number, token, whatsapptest.AppSecret, whatsapptest.VerifyToken, url
	ch, err := whatsapp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func fixture(t testing.TB) (*whatsapp.Channel, *whatsapptest.Server) {
	s := whatsapptest.New()
	t.Cleanup(s.Close)
	ch := channel(t, s.URL, whatsapptest.AccessToken)
	hook := httptest.NewServer(ch)
	t.Cleanup(hook.Close)
	s.Hook = hook.URL + ch.Path()
	return ch, s
}

func TestConforms(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
		ch, s := fixture(t)
		return gatewaytest.Fixture{Channel: ch, Platform: s, Redelivers: true, NoGroups: true, Kinds: []gatewaytest.Kind{gatewaytest.Place, gatewaytest.Contact, gatewaytest.Sticker, gatewaytest.Odd, gatewaytest.Service}}
	})
}

// run runs a channel until the test ends, and counts what it hands on.
func run(t testing.TB, ch *whatsapp.Channel) *atomic.Int64 {
	var taken atomic.Int64
	runWith(t, ch, func(gateway.Message) { taken.Add(1) })
	return &taken
}

// runWith runs a channel until the test ends.
func runWith(t testing.TB, ch *whatsapp.Channel, take func(gateway.Message)) {
	ctx, cancel := context.WithCancel(context.Background())
	up, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- ch.Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) { up <- struct{}{} }, Take: func(_ context.Context, m gateway.Message) error {
			take(m)
			return nil
		}})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	<-up
}

func TestWebhook(t *testing.T) {
	ch, s := fixture(t)
	taken := run(t, ch)
	good := whatsapptest.Body(map[string]any{"id": "wamid.1", "from": "491", "type": "text", "text": map[string]string{"body": "x"}})
	for _, tt := range []struct {
		name, method, query, body, sign string
		status                          int
		answer                          string
	}{
		{"proof", "GET", "?hub.mode=subscribe&hub.verify_token=" + whatsapptest.VerifyToken + "&hub.challenge=1158", "", "", 200, "1158"},
		{"wrong proof", "GET", "?hub.mode=subscribe&hub.verify_token=x&hub.challenge=1158", "", "", 403, "wrong token\n"},
		{"unsigned", "POST", "", string(good), "", 401, ""},
		{"signed with another secret", "POST", "", string(good), whatsapp.Sign("another", good), 401, ""},
		{"changed", "POST", "", string(good) + " ", whatsapp.Sign(whatsapptest.AppSecret, good), 401, ""},
		{"no json", "POST", "", "[", whatsapp.Sign(whatsapptest.AppSecret, []byte("[")), 400, ""},
		{"too large", "POST", "", strings.Repeat("x", 3<<20+1), "sha256=00", 413, ""},
		{"other method", "DELETE", "", "", "", 405, ""},
	} {
		req, _ := http.NewRequest(tt.method, s.Hook+tt.query, strings.NewReader(tt.body))
		req.Header.Set("X-Hub-Signature-256", tt.sign)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status || tt.answer != "" && string(body) != tt.answer {
			t.Errorf("%s: got %d %q, want %d %q", tt.name, resp.StatusCode, body, tt.status, tt.answer)
		}
	}
	if taken.Load() != 0 {
		t.Errorf("%d forged messages came through", taken.Load())
	}
	other := strings.Replace(string(good), whatsapptest.Number, "2077", 1)
	if s.Post([]byte(other)) != 200 || s.Post(good) != 200 || taken.Load() != 1 {
		t.Errorf("got %d messages, want the one to our number", taken.Load())
	}
}

// What is not as expected in a request keeps no message from being heard: the platform would send it for days.
func TestOddPart(t *testing.T) {
	ch, s := fixture(t)
	taken := run(t, ch)
	odd := whatsapptest.Body(map[string]any{"id": "wamid.1", "from": "491", "type": "text", "location": "here", "text": map[string]string{"body": "x"}})
	if got := s.Post(odd); got != http.StatusOK || taken.Load() != 1 {
		t.Errorf("got status %d and %d messages, want 200 and 1", got, taken.Load())
	}
}

// What was written in a group is no direct message.
func TestGroupIsLeftOut(t *testing.T) {
	ch, s := fixture(t)
	taken := run(t, ch)
	body := whatsapptest.Body(map[string]any{"id": "wamid.1", "from": "491", "group_id": "g1", "type": "text", "text": map[string]string{"body": "x"}})
	if status := s.Post(body); status != 200 || taken.Load() != 0 {
		t.Errorf("got status %d and %d messages, want 200 and none", status, taken.Load())
	}
}

// CG-04: a long answer is sent as a file in Markdown, of which the platform knows only plain text.
func TestTextFiles(t *testing.T) {
	ch, s := fixture(t)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("# text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mime := range map[string]string{"answer.md": "text/markdown; charset=utf-8", "a.MD": "", "t.csv": "text/csv", "d.json": "application/json", "x.go": "application/octet-stream"} {
		_, err := ch.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "491"}, File: &gateway.File{Name: name, MIME: mime, Path: path, Size: 6}})
		shown := s.Shown()
		if err != nil || len(shown) == 0 || shown[len(shown)-1].Name != name {
			t.Errorf("%s as %q: got %v, %+v", name, mime, err, shown)
		}
	}
	if _, e := ch.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "491"}, File: &gateway.File{Name: "a.zip", MIME: "application/zip", Path: path, Size: 6}}); !errors.Is(e, gateway.ErrPermanent) {
		t.Errorf("got %v for a type that the platform refuses, want ErrPermanent", e)
	}
}

func TestWrongToken(t *testing.T) {
	s := whatsapptest.New()
	defer s.Close()
	ch := channel(t, s.URL, "wrong-token")
	if err := ch.Run(t.Context(), gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}}); !errors.Is(err, gateway.ErrFatal) || strings.Contains(err.Error(), "wrong-token") {
		t.Errorf("got %v, want ErrFatal without the token", err)
	}
	_, err := ch.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "1"}, Text: "x"})
	var later *gateway.LaterError
	if !errors.As(err, &later) || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v of a send, want one for which another token may come", err)
	}
}

// An answer is not given up because somebody else answers in the place of the platform, such as a proxy.
func TestStrangers(t *testing.T) {
	for status, permanent := range map[int]bool{
		http.StatusOK: false, http.StatusFound: false, http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusNotFound: false,
		http.StatusProxyAuthRequired: false, http.StatusBadGateway: false, http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, "<html>Please log in</html>")
		}))
		ch := channel(t, server.URL, whatsapptest.AccessToken)
		_, err := ch.Send(context.Background(), gateway.Out{Chat: gateway.Chat{ID: "491"}, Text: "x", Key: "k"})
		server.Close()
		if err == nil || errors.Is(err, gateway.ErrPermanent) != permanent {
			t.Errorf("status %d: got %v, want an error that is permanent: %v", status, err, permanent)
		}
	}
}

func TestMarks(t *testing.T) {
	for in, want := range map[string]string{
		"**b** __b__ *i* ~~s~~ `**c**`": "*b* *b* _i_ ~s~ `**c**`",
		"# Title #":                     "*Title*",
		"* one\n  + two\n1. three":      "- one\n  - two\n1. three",
		"[t](https://x/?a=1) [n](tg:x)": "t (https://x/?a=1) [n](tg:x)",
		"```go\na **b**\n```\n**c**":    "```\na **b**\n```\n*c*",
		"2*3*4 and **open":              "2*3*4 and **open",
	} {
		if got := whatsapp.Marks(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// What is chosen of what was offered is a text.
func TestChoices(t *testing.T) {
	ch, s := fixture(t)
	var got []string
	runWith(t, ch, func(m gateway.Message) { got = append(got, m.Text) })
	for i, part := range []map[string]any{
		{"type": "button", "button": map[string]string{"text": "Yes", "payload": "p"}},
		{"type": "interactive", "interactive": map[string]any{"type": "button_reply", "button_reply": map[string]string{"id": "b1", "title": "No"}}},
		{"type": "interactive", "interactive": map[string]any{"type": "list_reply", "list_reply": map[string]string{"id": "l1", "title": "Two", "description": "d"}}},
		{"type": "interactive", "interactive": map[string]any{"type": "nfm_reply", "nfm_reply": map[string]string{"name": "flow", "response_json": `{"a":1}`}}},
	} {
		part["id"], part["from"] = fmt.Sprint("wamid.", i), "491"
		if status := s.Post(whatsapptest.Body(part)); status != 200 {
			t.Errorf("got status %d", status)
		}
	}
	if want := []string{"Yes", "No", "Two", `{"a":1}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckID(t *testing.T) {
	ch := channel(t, "https://x", "x")
	for id, good := range map[string]bool{"491701234567": true, "+491701234567": true, "0170123456": false, "ann": false, "49 170": false, "+": false, "": false} {
		if err := ch.CheckID(id); (err == nil) != good {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

// Whatever a request has: what comes through was signed, and each message of it has an id, a chat and an author.
func FuzzWebhook(f *testing.F) {
	ch, _ := fixture(f)
	var taken []gateway.Message
	runWith(f, ch, func(m gateway.Message) { taken = append(taken, m) })
	for _, m := range []map[string]any{
		{"id": "wamid.1", "from": "491", "type": "image", "image": map[string]string{"id": "m"}}, {"id": "wamid.1", "from": "491", "type": "contacts", "contacts": []any{map[string]any{}}},
		{"id": "", "from": "491"}, {"id": "wamid.1", "from": ""}, {"id": "wamid.1", "from": "491", "group_id": "g"}, {"id": "wamid.1", "from": "491", "location": map[string]any{"latitude": 1e300}},
	} {
		f.Add(string(whatsapptest.Body(m)), true)
		f.Add(string(whatsapptest.Body(m)), false)
	}
	f.Add("{", true)
	f.Add("{}", false)
	f.Fuzz(func(t *testing.T, body string, signed bool) {
		req := httptest.NewRequest("POST", "/", strings.NewReader(body))
		if signed {
			req.Header.Set("X-Hub-Signature-256", whatsapp.Sign(whatsapptest.AppSecret, []byte(body)))
		}
		taken = nil
		w := httptest.NewRecorder()
		ch.ServeHTTP(w, req)
		if !signed && (w.Code == 200 || len(taken) > 0) {
			t.Errorf("got %d and %d messages without a signature", w.Code, len(taken))
		}
		for _, m := range taken {
			if err := gatewaytest.Sound(m); err != nil {
				t.Errorf("got %+v: %v", m, err)
			}
		}
	})
}
