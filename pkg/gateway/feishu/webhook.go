package feishu

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	maxBody = 1 << 20
	// The platform delivers again for about seven hours, and nobody says whether such a request is signed
	// anew. Within that time a replay is known by its message id.
	maxSignatureAge = 8 * time.Hour
	maxClockAhead   = 5 * time.Minute
	takeTime        = 2500 * time.Millisecond // the platform waits three seconds
)

// refusal is a request that is answered by a status.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// ServeHTTP is the webhook.
func (c *Channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, leave := c.gate.Enter(w)
	if h == nil {
		http.Error(w, "not running", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	reply, err := c.request(r, w, h.Take)
	var no *refusal
	switch {
	case errors.As(err, &no):
		h.Log.Debug("request refused", "status", no.status, "why", no.text)
		http.Error(w, no.text, no.status)
	case err != nil:
		http.Error(w, "not taken", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(reply)
	}
}

// request checks a request and hands on what is in it.
func (c *Channel) request(r *http.Request, w http.ResponseWriter, take takeFunc) ([]byte, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &refusal{http.StatusMethodNotAllowed, "want POST"}
	}
	body, done, status := c.gate.Body(w, r, maxBody)
	defer done()
	if status != http.StatusOK {
		return nil, &refusal{status, http.StatusText(status)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), takeTime)
	defer cancel()
	return c.accept(ctx, r.Header, body, take)
}

// envelope is the outer shape of what the platform sends.
type envelope struct {
	Encrypt   string `json:"encrypt"`
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	Token     string `json:"token"`
	Header    struct {
		EventType string `json:"event_type"`
		Token     string `json:"token"`
		AppID     string `json:"app_id"`
	} `json:"header"`
	Event json.RawMessage `json:"event"`
}

// accept proves that a body comes from the platform, hands on its message, and returns what is answered.
func (c *Channel) accept(ctx context.Context, h http.Header, body []byte, take takeFunc) ([]byte, error) {
	e, err := decode(body)
	if err != nil {
		return nil, err
	}
	if c.config.EncryptKey != "" {
		if e, err = c.open(h, body, e.Encrypt); err != nil {
			return nil, err
		}
	}
	token := e.Header.Token
	if token == "" {
		token = e.Token
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(c.config.VerificationToken)) != 1 || token == "" {
		return nil, &refusal{http.StatusUnauthorized, "wrong token"}
	}
	if e.Type == "url_verification" {
		return json.Marshal(map[string]string{"challenge": e.Challenge})
	}
	if e.Header.AppID != "" && e.Header.AppID != c.config.AppID {
		return nil, &refusal{http.StatusUnauthorized, "another app"}
	}
	if err := c.handle(ctx, e, take); err != nil {
		return nil, err
	}
	return []byte(`{"code":0,"msg":"ok"}`), nil
}

func decode(body []byte) (e envelope, err error) {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &e) != nil {
		return e, &refusal{http.StatusBadRequest, "invalid json"}
	}
	return e, nil
}

// open decrypts a body and checks its signature, which only the challenge does not have.
func (c *Channel) open(h http.Header, body []byte, text string) (envelope, error) {
	signed := c.signed(h, body)
	if !signed && h.Get("X-Lark-Signature") != "" {
		return envelope{}, &refusal{http.StatusUnauthorized, "wrong signature"}
	}
	plain, err := decrypt(c.config.EncryptKey, text)
	if err != nil {
		return envelope{}, &refusal{http.StatusUnauthorized, "not encrypted as it should be"}
	}
	e, err := decode(plain)
	if !signed && (err != nil || e.Type != "url_verification") { // with another key one of 256 texts seems to be whole: no other answer for it
		err = &refusal{http.StatusUnauthorized, "not encrypted as it should be, or not signed"}
	}
	return e, err
}

func (c *Channel) signed(h http.Header, body []byte) bool {
	stamp, got := h.Get("X-Lark-Request-Timestamp"), h.Get("X-Lark-Signature")
	n, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || got == "" {
		return false
	}
	age := c.now().Sub(time.Unix(n, 0))
	want := Sign(stamp, h.Get("X-Lark-Request-Nonce"), c.config.EncryptKey, body)
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 && age < maxSignatureAge && age > -maxClockAhead
}
