// Package whatsapptest is a fake of WhatsApp's Business Cloud API on loopback.
package whatsapptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
)

// What the app is called and knows.
const (
	Number      = "1066"
	AccessToken = "access-token-of-the-test"
	AppSecret   = "app-secret-of-the-test"
	VerifyToken = "verify-token-of-the-test"
)

// Server is the platform.
type Server struct {
	gatewaytest.Board

	URL  string
	Hook string // where the webhook is

	http *httptest.Server

	mu    sync.Mutex
	n     int
	said  map[string]map[string]any
	acked map[string]bool
	gone  map[string]bool
	files map[string]gatewaytest.Upload
	signs int
}

// New starts a server, which Close ends.
func New() *Server {
	s := &Server{said: map[string]map[string]any{}, acked: map[string]bool{}, gone: map[string]bool{}, files: map[string]gatewaytest.Upload{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /"+Number+"/messages", s.send)
	mux.HandleFunc("POST /"+Number+"/media", s.upload)
	mux.HandleFunc("GET /content/{id}", s.content)
	mux.HandleFunc("GET /{id}", s.get)
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+AccessToken || s.KeyRefused() {
			fail(w, http.StatusUnauthorized, 190)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": "refused", "type": "OAuthException"}})
}

// get answers for the number and for files.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	_, ok := s.files[id]
	s.mu.Unlock()
	switch {
	case id == Number:
		answer(w, map[string]string{"id": Number})
	case ok:
		answer(w, map[string]string{"url": s.URL + "/content/" + id})
	default:
		fail(w, http.StatusNotFound, 131052)
	}
}

func (s *Server) content(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	up, ok := s.files[r.PathValue("id")]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Write(up.Data)
}

// types are some of those that the platform takes; it refuses all others.
var types = []string{"text/plain", "application/pdf", "image/jpeg", "image/png"}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	f, h, err := r.FormFile("file")
	if err != nil || r.FormValue("messaging_product") != "whatsapp" || !slices.Contains(types, r.FormValue("type")) || h.Header.Get("Content-Type") != r.FormValue("type") {
		fail(w, http.StatusBadRequest, 100)
		return
	}
	data, _ := io.ReadAll(f)
	s.mu.Lock()
	s.n++
	id := fmt.Sprintf("media_%d", s.n)
	s.files[id] = gatewaytest.Upload{Name: h.Filename, Data: data}
	s.mu.Unlock()
	answer(w, map[string]string{"id": id})
}

// maxText is how long a text may be, in characters.
const maxText = 4096

func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Status  string
		To      string
		Type    string
		Text    struct{ Body string }
		Context struct {
			ID string `json:"message_id"`
		}
		Document struct{ ID, Filename string }
		Image    struct{ ID string }
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &in) != nil {
		fail(w, http.StatusBadRequest, 100)
		return
	}
	if in.Status == "read" {
		s.mu.Lock()
		s.signs++
		s.mu.Unlock()
		answer(w, map[string]bool{"success": true})
		return
	}
	lost, done := s.Failing(w, r, func() { fail(w, http.StatusBadRequest, 130429) }, func() { fail(w, http.StatusBadRequest, 131047) })
	if done {
		return
	}
	s.mu.Lock()
	shown := gatewaytest.Shown{Chat: in.To, ReplyTo: in.Context.ID, Text: in.Text.Body}
	if id := in.Document.ID + in.Image.ID; id != "" {
		shown.Data, shown.Name = s.files[id].Data, in.Document.Filename
	}
	if utf8.RuneCountInString(shown.Text) > maxText || shown.ReplyTo != "" && (s.said[shown.ReplyTo] == nil || s.gone[shown.ReplyTo]) || in.To == "" || shown.Text == "" && shown.Data == nil {
		s.mu.Unlock()
		fail(w, http.StatusBadRequest, 100)
		return
	}
	s.n++
	shown.ID = fmt.Sprintf("wamid.out%d", s.n)
	s.Show(shown)
	s.mu.Unlock()
	if lost {
		gatewaytest.Lose(w)
		return
	}
	answer(w, map[string]any{"messages": []any{map[string]string{"id": shown.ID}}})
}

// Signs counts how often we said that we type.
func (s *Server) Signs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signs
}

// Forget removes a message.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[id] = true
}

// Acknowledged reports whether the webhook took a message.
func (s *Server) Acknowledged(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked[id]
}

// Edit does nothing: the platform tells of no edits.
func (s *Server) Edit(string, string) {}

// Break closes idle connections: there are no others.
func (s *Server) Break() { http.DefaultClient.CloseIdleConnections() }

// person is the number of somebody.
func person(name string) string {
	n := 0
	for _, c := range name {
		n = n*31 + int(c)
	}
	return strconv.Itoa(49_000_000 + n)
}

// kinds are messages that are neither text nor file, as the platform sends them.
var kinds = map[gatewaytest.Kind]map[string]any{
	gatewaytest.Place: {"type": "location", "location": map[string]any{"latitude": 48.137154, "longitude": 11.576124, "name": "Marienplatz"}},
	gatewaytest.Contact: {"type": "contacts", "contacts": []any{map[string]any{
		"name": map[string]string{"formatted_name": "Ann Lee"}, "phones": []any{map[string]string{"phone": "+491701234567", "type": "CELL"}},
	}}},
	gatewaytest.Sticker: {"type": "sticker", "sticker": map[string]any{"id": "media_s", "mime_type": "image/webp", "animated": false}},
	gatewaytest.Odd:     {"type": "unsupported", "errors": []any{map[string]any{"code": 131051, "title": "Message type unknown"}}},
	gatewaytest.Service: {"type": "system", "system": map[string]string{"body": "Ann changed from 491 to 492", "type": "user_changed_number"}},
}

// Say makes a message and delivers it. A chat is somebody's number: Me counts as the chat's person.
func (s *Server) Say(say gatewaytest.Saying) string {
	s.mu.Lock()
	s.n++
	id, from := fmt.Sprintf("wamid.in%d", s.n), person(say.Chat)
	m := map[string]any{"id": id, "from": from, "timestamp": strconv.FormatInt(time.Now().Unix(), 10), "type": "text", "text": map[string]string{"body": say.Text}}
	if say.Own {
		m["type"] = "reaction"
	}
	if say.Kind != "" {
		delete(m, "text")
		for key, value := range kinds[say.Kind] {
			m[key] = value
		}
	}
	if say.ReplyTo != "" {
		m["context"] = map[string]string{"from": from, "id": say.ReplyTo}
	}
	if say.File != nil {
		key := fmt.Sprintf("media_%d", s.n)
		s.files[key] = *say.File
		delete(m, "text")
		m["type"], m["document"] = "document", map[string]string{"id": key, "filename": say.File.Name, "mime_type": say.File.MIME}
	}
	s.said[id] = m
	s.mu.Unlock()
	s.Again(id)
	return id
}

// Again delivers a message again.
func (s *Server) Again(id string) {
	s.mu.Lock()
	m := s.said[id]
	s.mu.Unlock()
	if s.Post(Body(m)) == http.StatusOK {
		s.mu.Lock()
		s.acked[id] = true
		s.mu.Unlock()
	}
}

// Body is a request with one message.
func Body(m map[string]any) []byte {
	value := map[string]any{
		"messaging_product": "whatsapp", "metadata": map[string]string{"phone_number_id": Number}, "messages": []any{m},
		"contacts": []any{map[string]any{"wa_id": m["from"], "profile": map[string]string{"name": "Ann"}}},
	}
	body, _ := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": []any{map[string]any{"id": "1", "changes": []any{map[string]any{"field": "messages", "value": value}}}}})
	return body
}

// Post posts a signed body to the webhook and returns the status.
func (s *Server) Post(body []byte) int {
	req, _ := http.NewRequest(http.MethodPost, s.Hook, bytes.NewReader(body))
	req.Header.Set("X-Hub-Signature-256", whatsapp.Sign(AppSecret, body))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}
