package feishu_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

func config(url string) feishu.Config {
	c := feishu.DefaultConfig()
	c.AppID, c.AppSecret, c.Domain, c.VerificationToken = feishutest.AppID, feishutest.AppSecret, url, feishutest.Token
	return c
}

func channel(t *testing.T, c feishu.Config) *feishu.Channel {
	t.Helper()
	ch, err := feishu.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func server(t *testing.T) *feishutest.Server {
	s := feishutest.New()
	t.Cleanup(s.Close)
	return s
}

func TestWebhookConforms(t *testing.T) {
	for _, key := range []string{"", "ek-openspace"} {
		t.Run("key "+key, func(t *testing.T) {
			gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
				s := server(t)
				c := config(s.URL)
				c.EncryptKey, s.EncryptKey = key, key
				ch := channel(t, c)
				hook := httptest.NewServer(ch)
				t.Cleanup(hook.Close)
				s.Hook = hook.URL + ch.Path()
				return gatewaytest.Fixture{Channel: ch, Platform: s, Redelivers: true, Kinds: feishutest.Kinds()}
			})
		})
	}
}

func TestLongConnectionConforms(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
		s := server(t)
		c := config(s.URL)
		c.ConnectionMode, c.VerificationToken = "websocket", ""
		return gatewaytest.Fixture{Channel: channel(t, c), Platform: s, Redelivers: true, Kinds: feishutest.Kinds()}
	})
}

// host collects what a channel hands on.
type host struct {
	mu    sync.Mutex
	taken []gateway.Message
	notes []string
}

func (h *host) run(t *testing.T, ch *feishu.Channel) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	up := make(chan struct{}, 100)
	go func() {
		ended <- ch.Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), Take: func(_ context.Context, m gateway.Message) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.taken = append(h.taken, m)
			return nil
		}, State: func(isUp bool, note string) {
			h.mu.Lock()
			h.notes = append(h.notes, note)
			h.mu.Unlock()
			if isUp {
				up <- struct{}{}
			}
		}})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	<-up
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.taken)
}

// CG-06: a connection on which nothing comes any more is given up, and a note says so.
func TestSilentConnection(t *testing.T) {
	s := server(t)
	c := config(s.URL)
	c.ConnectionMode = "websocket"
	h := &host{}
	h.run(t, channel(t, c))
	s.Mute()
	for start := time.Now(); s.Connections() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > gatewaytest.Patience {
			t.Fatal("the dead connection was not noticed")
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !strings.Contains(strings.Join(h.notes, "\n"), "not even a pong") {
		t.Errorf("got notes %q", h.notes)
	}
}

func TestWrongSecretIsFatal(t *testing.T) {
	s := server(t)
	for _, mode := range []string{"webhook", "websocket"} {
		c := config(s.URL)
		c.AppSecret, c.ConnectionMode = "wrong", mode
		err := channel(t, c).Run(t.Context(), gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}})
		if !errors.Is(err, gateway.ErrFatal) || strings.Contains(err.Error(), "wrong\"") {
			t.Errorf("%s: got %v, want ErrFatal", mode, err)
		}
	}
}

// One token serves many calls, and a new one is fetched when it is refused.
func TestToken(t *testing.T) {
	s := server(t)
	ch := channel(t, config(s.URL))
	send := func() {
		if _, err := ch.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "oc_1"}, Text: "x", Key: strconv.Itoa(len(s.Shown()))}); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			ch.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "oc_1"}, Text: "x", Key: "same"})
		})
	}
	wait.Wait()
	if s.Tokens() != 1 || len(s.Shown()) != 1 {
		t.Errorf("got %d tokens and %d messages, want 1 and 1", s.Tokens(), len(s.Shown()))
	}
	s.Revoke()
	send()
	if s.Tokens() != 3 {
		t.Errorf("got %d tokens, want a new one after it was refused", s.Tokens())
	}
}

// An answer is not given up because somebody else answers in the place of the platform, such as a proxy.
func TestStrangers(t *testing.T) {
	for status, permanent := range map[int]bool{
		http.StatusOK: false, http.StatusFound: false, http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusNotFound: false,
		http.StatusProxyAuthRequired: false, http.StatusBadGateway: false, http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "tenant_access_token") {
				io.WriteString(w, `{"code":0,"tenant_access_token":"t","expire":7200}`)
				return
			}
			w.WriteHeader(status)
			io.WriteString(w, "<html>Please log in</html>")
		}))
		ch := channel(t, config(server.URL))
		_, err := ch.Send(context.Background(), gateway.Out{Chat: gateway.Chat{ID: "491"}, Text: "x", Key: "k"})
		server.Close()
		if err == nil || errors.Is(err, gateway.ErrPermanent) != permanent {
			t.Errorf("status %d: got %v, want an error that is permanent: %v", status, err, permanent)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*feishu.Config){
		"no app":            func(c *feishu.Config) { c.AppID = "" },
		"no secret":         func(c *feishu.Config) { c.AppSecret = "" },
		"no token":          func(c *feishu.Config) { c.VerificationToken = "" },
		"plain http":        func(c *feishu.Config) { c.Domain = "http://example.com" },
		"no address at all": func(c *feishu.Config) { c.Domain = "feishoo" },
	} {
		c := config("https://open.example.com")
		change(&c)
		if _, err := feishu.New(c); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// forgery is a request that is not from the platform.
type forgery struct {
	name, method, body string
	head               map[string]string
	want               int // without an encrypt key
}

func forgeries(good []byte) []forgery {
	sealed, _ := json.Marshal(map[string]string{"encrypt": feishutest.Encrypt("another key", good)})
	return []forgery{
		{"wrong token", "POST", strings.Replace(string(good), feishutest.Token, "tok", 1), nil, 401},
		{"token in another language", "POST", strings.Replace(string(good), feishutest.Token, "токен", 1), nil, 401},
		{"another app", "POST", strings.Replace(string(good), feishutest.AppID, "cli_x", 1), nil, 401},
		{"list", "POST", `[{"header":{}}]`, nil, 400},
		{"header is a list", "POST", `{"header":[1]}`, nil, 400},
		{"text", "POST", `hello`, nil, 400},
		{"empty", "POST", ``, nil, 400},
		{"half", "POST", string(good[:40]), nil, 400},
		{"too large", "POST", strings.Repeat("a", 1<<20+1), nil, 413},
		{"other method", "GET", ``, nil, 405},
		{"other key", "POST", string(sealed), nil, 401},
		{"signed by nobody", "POST", string(sealed), map[string]string{"X-Lark-Signature": "00", "X-Lark-Request-Timestamp": "1700000000"}, 401},
		{"not base64", "POST", `{"encrypt":"%%%"}`, nil, 401},
		{"forwarded for somebody", "POST", `{"header":{"token":"x"}}`, map[string]string{"X-Forwarded-For": "1.2.3.4"}, 401},
	}
}

// fixture is a webhook that runs, and a genuine event.
func fixture(t *testing.T, key string) (*feishu.Channel, *feishutest.Server, *host, []byte) {
	s := server(t)
	c := config(s.URL)
	c.EncryptKey, s.EncryptKey = key, key
	ch, h := channel(t, c), &host{}
	h.run(t, ch)
	hook := httptest.NewServer(ch)
	t.Cleanup(hook.Close)
	s.Hook = hook.URL
	return ch, s, h, s.Body(map[string]any{
		"sender":  map[string]any{"sender_id": map[string]any{"open_id": "ou_u"}, "sender_type": "user"},
		"message": map[string]any{"message_id": "om_1", "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text", "content": `{"text":"x"}`},
	})
}

// Nothing comes through that the platform has not sent.
func TestForged(t *testing.T) {
	for _, key := range []string{"", "ek-openspace"} {
		_, s, h, good := fixture(t, key)
		for _, tt := range forgeries(good) {
			req, _ := http.NewRequest(tt.method, s.Hook, strings.NewReader(tt.body))
			for k, v := range tt.head {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.want && !(key != "" && resp.StatusCode == 401) {
				t.Errorf("key %q, %s: got %d, want %d", key, tt.name, resp.StatusCode, tt.want)
			}
		}
		if n := h.count(); n != 0 {
			t.Errorf("key %q: %d forged messages came through", key, n)
		}
		if got := s.Post(good); got != 200 || h.count() != 1 {
			t.Errorf("key %q: got %d and %d messages of a genuine one", key, got, h.count())
		}
	}
}

// With an encrypt key, plain, late and unsigned requests are refused though their token is right.
func TestEncryptKeyIsDemanded(t *testing.T) {
	const key = "ek-openspace"
	ch, _, h, good := fixture(t, key)
	sealed, _ := json.Marshal(map[string]string{"encrypt": feishutest.Encrypt(key, good)})
	post := func(body []byte, stamp string) int {
		req := httptest.NewRequest("POST", "/", strings.NewReader(string(body)))
		if stamp != "" {
			req.Header.Set("X-Lark-Request-Timestamp", stamp)
			req.Header.Set("X-Lark-Signature", feishu.Sign(stamp, "", key, body))
		}
		w := httptest.NewRecorder()
		ch.ServeHTTP(w, req)
		return w.Code
	}
	for range 1000 { // one of 256 texts seems to be whole with a key that is not theirs
		other, _ := json.Marshal(map[string]string{"encrypt": feishutest.Encrypt("another key", good)})
		if got := post(other, ""); got != 401 {
			t.Fatalf("got %d of a body with another key, want 401", got)
		}
	}
	at := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	plain, late, early, unsigned := post(good, at(0)), post(sealed, at(-9*time.Hour)), post(sealed, at(time.Hour)), post(sealed, "")
	if plain != 401 || late != 401 || early != 401 || unsigned != 401 || h.count() != 0 {
		t.Errorf("got %d, %d, %d and %d of a plain, a late, an early and an unsigned body, want 401", plain, late, early, unsigned)
	}
	if got := post(sealed, at(-time.Hour)); got != 200 || h.count() != 1 {
		t.Errorf("got %d of one that is delivered again after an hour, want 200", got)
	}
}

// The vectors of the platform's documentation, through the whole handler.
func TestVectors(t *testing.T) {
	c := config("https://open.example.com")
	c.BotOpenID, c.EncryptKey, c.VerificationToken = "ou_bot", "ek-openspace", "vt"
	ch := channel(t, c)
	(&host{}).run(t, ch)
	const sealed = `{"encrypt":"MDEyMzQ1Njc4OWFiY2RlZurYjE7YtCXGurRFkjr04Q+MhUzcmzBLlcg7dTiGcLRbIQJYBbR/lUc4TLa05qUub42foLf5IOVb/nqjS+NYIEI="}`
	if got, want := feishu.Sign("1700000000", "nonce1", "ek-openspace", []byte(sealed)), "330dd5f2cc0512d21c0ec1bfaae88db88387df7c8121b655efa52fb80966adf4"; got != want {
		t.Errorf("got signature %s, want %s", got, want)
	}
	w := httptest.NewRecorder()
	ch.ServeHTTP(w, httptest.NewRequest("POST", "/feishu/webhook", strings.NewReader(sealed)))
	if w.Code != 200 || w.Body.String() != `{"challenge":"abc"}` {
		t.Errorf("got %d %s, want the challenge", w.Code, w.Body)
	}
}

func FuzzWebhook(f *testing.F) {
	plain, err := feishu.New(func() feishu.Config { c := config("https://open.example.com"); c.BotOpenID = "ou_bot"; return c }())
	if err != nil {
		f.Fatal(err)
	}
	var taken atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	f.Cleanup(cancel)
	up := make(chan struct{}, 1)
	take := func(_ context.Context, m gateway.Message) error {
		if err := gatewaytest.Sound(m); err != nil || m.From.ID == "ou_bot" {
			panic(fmt.Sprintf("got %+v: %v", m, err)) // of ServeHTTP, which the fuzz test calls itself
		}
		if taken.Add(1); strings.Contains(m.ID, "full") {
			return errors.New("full")
		}
		return nil
	}
	go plain.Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), Take: take, State: func(bool, string) { up <- struct{}{} }})
	<-up
	for _, seed := range []string{``, `{}`, `[]`, `{"header":{"token":"x"}}`, `{"encrypt":"AAAA"}`, `{"type":"url_verification","token":"token-of-the-test","challenge":"c"}`,
		`{"header":{"token":"token-of-the-test","event_type":"im.message.receive_v1"},"event":{"sender":{"sender_type":"user","sender_id":{"open_id":"u"}},"message":{"message_id":"m","chat_id":"c","message_type":"post","content":"{\"content\":[[{\"tag\":\"at\",\"user_id\":\"@_user_1\"}]]}"}}}`,
		`{"token":"token-of-the-test","header":{"event_type":"im.message.receive_v1"},"event":{"sender":{"sender_type":"user","sender_id":{"open_id":"ou_bot"}},"message":{"message_id":"m","chat_id":"c","message_type":"text","content":"{}"}}}`,
		`{"token":"token-of-the-test","header":{"event_type":"im.message.receive_v1"},"event":{"sender":{"sender_type":"user","sender_id":{"union_id":"on_1","user_id":"u1"}},"message":{"message_id":"full","chat_id":"c","chat_type":"p2p","message_type":"file","content":"{\"file_key\":\"k\"}"}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		before := taken.Load()
		w := httptest.NewRecorder()
		plain.ServeHTTP(w, httptest.NewRequest("POST", "/", io.NopCloser(strings.NewReader(body))))
		if w.Code == 200 && !strings.Contains(body, "token-of") && !strings.Contains(body, `\u`) {
			t.Errorf("got %d without the token", w.Code)
		}
		full := strings.Contains(body, "full")
		if taken.Load() > before && w.Code != 200 && !full {
			t.Errorf("a message was taken and the answer is %d", w.Code)
		}
		if taken.Load() > before+1 {
			t.Errorf("one request has %d messages", taken.Load()-before)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add((&feishu.Frame{SeqID: 1, LogID: 2, Service: 7, Method: 1, Headers: []feishu.Header{{Key: "type", Value: "event"}}, Payload: []byte("x")}).Bytes())
	f.Add([]byte{0x08, 0x01, 0x10, 0x02, 0x18, 0x07, 0x20, 0x00, 0x2a, 0x0c, 0x0a, 0x04, 't', 'y', 'p', 'e', 0x12, 0x04, 'p', 'i', 'n', 'g'})
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := feishu.ParseFrame(data)
		if err != nil {
			return
		}
		again, err := feishu.ParseFrame(frame.Bytes())
		if err != nil || string(again.Bytes()) != string(frame.Bytes()) {
			t.Errorf("got %+v, %v, want %+v", again, err, frame)
		}
	})
}

// The bytes of a ping as the platform's own programs write it.
func TestFrameBytes(t *testing.T) {
	got := (&feishu.Frame{Service: 7, Headers: []feishu.Header{{Key: "type", Value: "ping"}}}).Bytes()
	want := "\x08\x00\x10\x00\x18\x07\x20\x00\x2a\x0c\x0a\x04type\x12\x04ping"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
