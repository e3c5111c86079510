package whatsapp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
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
	if r.ContentLength > maxBody {
		return http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case err != nil:
		return http.StatusRequestTimeout
	}
	if !hmac.Equal([]byte(r.Header.Get("X-Hub-Signature-256")), []byte(Sign(c.config.AppSecret, body))) {
		return http.StatusUnauthorized
	}
	var in notice
	if json.Unmarshal(body, &in) != nil {
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

type message struct {
	ID    string `json:"id"`
	From  string `json:"from"`
	Group string `json:"group_id"`
	Time  string `json:"timestamp"`
	Type  string `json:"type"`
	Text  struct {
		Body string `json:"body"`
	} `json:"text"`
	Button struct {
		Text string `json:"text"`
	} `json:"button"`
	Context struct {
		ID string `json:"id"`
	} `json:"context"`
	Image    media `json:"image"`
	Audio    media `json:"audio"`
	Video    media `json:"video"`
	Document media `json:"document"`
}

type media struct {
	ID       string `json:"id"`
	MIME     string `json:"mime_type"`
	Caption  string `json:"caption"`
	FileName string `json:"filename"`
}

// messages are those to one of our numbers that people wrote. Reactions and the like are none. What was
// written in a group is left out too: it would be taken for a direct message, past the rules for groups, and its
// answer would go to one person.
func (n notice) messages(number string) (out []gateway.Message) {
	for _, e := range n.Entry {
		for _, change := range e.Changes {
			v := change.Value
			if v.Metadata.ID != number {
				continue
			}
			names := map[string]string{}
			for _, c := range v.Contacts {
				names[c.ID] = c.Profile.Name
			}
			for _, m := range v.Messages {
				if msg := m.convert(names[m.From]); msg.ID != "" && m.From != "" && m.Group == "" && m.Type != "reaction" {
					out = append(out, msg)
				}
			}
		}
	}
	return out
}

func (m message) convert(name string) gateway.Message {
	out := gateway.Message{
		ID: m.ID, Chat: gateway.Chat{ID: m.From, Type: gateway.Direct, Name: name}, Text: cmp.Or(m.Text.Body, m.Button.Text), ReplyTo: m.Context.ID,
		From: gateway.Person{ID: m.From, Aliases: []string{"+" + m.From}, Name: name},
	}
	if n, err := strconv.ParseInt(m.Time, 10, 64); err == nil && n > 0 {
		out.Time = time.Unix(n, 0)
	}
	for _, f := range []struct {
		media
		kind, name string
	}{{m.Image, "image", "image.jpg"}, {m.Audio, "audio", "audio.ogg"}, {m.Video, "video", "video.mp4"}, {m.Document, "file", "file"}} {
		if f.ID != "" {
			out.Text = cmp.Or(out.Text, f.Caption)
			out.Attachments = append(out.Attachments, gateway.Attachment{Kind: f.kind, Key: f.ID, Name: cmp.Or(f.FileName, f.name), MIME: f.MIME})
		}
	}
	return out
}
