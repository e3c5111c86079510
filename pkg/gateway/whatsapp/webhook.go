package whatsapp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

const (
	maxBody  = 3 << 20 // what the platform says that it sends at most
	takeTime = 5 * time.Second
)

// ServeHTTP is the webhook: GET proves to the platform that it is ours, POST has what happened.
func (c *Channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, leave := c.gate.Enter(w)
	if h == nil {
		http.Error(w, "not running", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	switch r.Method {
	case http.MethodGet:
		c.prove(w, r)
	case http.MethodPost:
		if status := c.receive(w, r, h); status != http.StatusOK {
			h.Log.Debug("request refused", "status", status)
			http.Error(w, http.StatusText(status), status)
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "want GET or POST", http.StatusMethodNotAllowed)
	}
}

func (c *Channel) prove(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("hub.mode") != "subscribe" || subtle.ConstantTimeCompare([]byte(q.Get("hub.verify_token")), []byte(c.config.VerifyToken)) != 1 {
		http.Error(w, "wrong token", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	io.WriteString(w, q.Get("hub.challenge"))
}

// receive takes over what is in a request, and returns the status of the answer.
func (c *Channel) receive(w http.ResponseWriter, r *http.Request, h *gateway.Host) int {
	body, done, status := c.gate.Body(w, r, maxBody)
	defer done()
	if status != http.StatusOK {
		return status
	}
	if !hmac.Equal([]byte(r.Header.Get("X-Hub-Signature-256")), []byte(Sign(c.config.AppSecret, body))) {
		return http.StatusUnauthorized
	}
	var in notice
	var odd *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &in); {
	case errors.As(err, &odd): // the rest is read, and the platform would send the same for days
		h.Log.Warn("something in a request is not as expected", "error", odd)
	case err != nil:
		return http.StatusBadRequest
	}
	ctx, cancel := context.WithTimeout(r.Context(), takeTime)
	defer cancel()
	for _, m := range in.messages(c.config.PhoneNumberID) {
		if err := h.Take(ctx, m); err != nil {
			return http.StatusServiceUnavailable
		}
	}
	return http.StatusOK
}

// Sign is the signature of a body.
func Sign(secret string, body []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

// notice is what a request has.
type notice struct {
	Entry []struct {
		Changes []struct {
			Value struct {
				Metadata struct {
					ID string `json:"phone_number_id"`
				} `json:"metadata"`
				Contacts []struct {
					ID      string `json:"wa_id"`
					Profile struct {
						Name string `json:"name"`
					} `json:"profile"`
				} `json:"contacts"`
				Messages []message `json:"messages"`
			} `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}
