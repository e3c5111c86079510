// Package feishutest is a fake of Feishu's servers on loopback: tokens, messages, files, reactions, the
// webhook and the long connection.
package feishutest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

// What the app is called and knows.
const (
	AppID     = "cli_test"
	AppSecret = "app-secret-of-the-test"
	Token     = "token-of-the-test"
	Bot       = "ou_bot"
)

// Server is the platform.
type Server struct {
	gatewaytest.Board

	URL        string
	Hook       string // where the webhook is; "": events go over the long connection
	EncryptKey string

	http   *httptest.Server
	client *http.Client

	mu      sync.Mutex
	tokens  int
	n       int
	said    map[string]*message
	keys    map[string]string // ids by idempotency key
	files   map[string]gatewaytest.Upload
	signs   map[string]string
	mute    bool
	pending []*message
	conn    *websocket.Conn
	conns   int
}

type message struct {
	id, parent string
	event      map[string]any
	acked      bool
	gone       bool
	upload     *gatewaytest.Upload
}

// New starts a server, which Close ends.
func New() *Server {
	s := &Server{said: map[string]*message{}, keys: map[string]string{}, files: map[string]gatewaytest.Upload{}, signs: map[string]string{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /open-apis/auth/v3/tenant_access_token/internal", s.token)
	mux.HandleFunc("POST /callback/ws/endpoint", s.endpoint)
	mux.HandleFunc("GET /ws", s.connect)
	for pattern, f := range map[string]http.HandlerFunc{
		"GET /open-apis/bot/v3/info":                                 s.info,
		"POST /open-apis/im/v1/messages":                             s.send,
		"POST /open-apis/im/v1/messages/{id}/reply":                  s.send,
		"PUT /open-apis/im/v1/messages/{id}":                         s.edit,
		"GET /open-apis/im/v1/messages/{id}":                         s.get,
		"GET /open-apis/im/v1/messages/{id}/resources/{key}":         s.resource,
		"POST /open-apis/im/v1/messages/{id}/reactions":              s.react,
		"DELETE /open-apis/im/v1/messages/{id}/reactions/{reaction}": s.unreact,
		"POST /open-apis/im/v1/files":                                s.upload("file", "file_name", "file_key"),
		"POST /open-apis/im/v1/images":                               s.upload("image", "", "image_key"),
	} {
		mux.HandleFunc(pattern, s.authorized(f))
	}
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.Break()
	s.http.CloseClientConnections()
	s.http.Close()
}

func reply(w http.ResponseWriter, status, code int, fields map[string]any) {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["code"], fields["msg"] = code, "ok"
	if code != 0 {
		fields["msg"] = "refused"
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(fields)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     string `json:"app_id"`
		Secret string `json:"app_secret"`
	}
	json.NewDecoder(r.Body).Decode(&in)
	if in.ID != AppID || in.Secret != AppSecret || s.KeyRefused() {
		reply(w, http.StatusOK, 10014, nil)
		return
	}
	s.mu.Lock()
	s.tokens++
	token := fmt.Sprintf("t-%d", s.tokens)
	s.mu.Unlock()
	reply(w, http.StatusOK, 0, map[string]any{"tenant_access_token": token, "expire": 7200})
}

// Tokens counts the tokens that were given.
func (s *Server) Tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

// Revoke makes the last token void.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
}

func (s *Server) authorized(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		want := fmt.Sprintf("Bearer t-%d", s.tokens)
		s.mu.Unlock()
		if r.Header.Get("Authorization") != want || s.KeyRefused() {
			reply(w, http.StatusBadRequest, 99991663, nil)
			return
		}
		f(w, r)
	}
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, 0, map[string]any{"bot": map[string]string{"open_id": Bot}})
}

// maxContent is how long the content of a post may be.
const maxContent = 30 << 10

var at = regexp.MustCompile(`(?i)<\s*at\b[^>]*>`)

func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Receive string `json:"receive_id"`
		Type    string `json:"msg_type"`
		Content string `json:"content"`
		UUID    string `json:"uuid"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil || len(in.UUID) > 50 {
		reply(w, http.StatusBadRequest, 230001, nil)
		return
	}
	lost, done := s.Failing(w, r, func() {
		w.Header().Set("X-Ogw-Ratelimit-Reset", "1")
		reply(w, http.StatusTooManyRequests, 99991400, nil)
	}, func() { reply(w, http.StatusBadRequest, 230002, nil) })
	if done {
		return
	}
	s.mu.Lock()
	id, code := s.put(r.PathValue("id"), in.Receive, in.Type, in.Content, in.UUID)
	s.mu.Unlock()
	switch {
	case lost:
		gatewaytest.Lose(w)
	case code != 0:
		reply(w, http.StatusBadRequest, code, nil)
	default:
		reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{"message_id": id}})
	}
}

// put shows a message, once for a key.
func (s *Server) put(parent, chat, kind, content, key string) (string, int) {
	if id := s.keys[key]; id != "" && key != "" {
		return id, 0
	}
	shown := gatewaytest.Shown{Chat: chat, ReplyTo: parent}
	if parent != "" {
		m := s.said[parent]
		if m == nil || m.gone {
			return "", 230011
		}
		shown.Chat = m.event["message"].(map[string]any)["chat_id"].(string)
	}
	if len(content) > maxContent {
		return "", 230025
	}
	switch kind {
	case "post":
		var p struct {
			ZH struct {
				Content [][]struct{ Tag, Text string } `json:"content"`
			} `json:"zh_cn"`
		}
		if json.Unmarshal([]byte(content), &p) != nil || len(p.ZH.Content) == 0 {
			return "", 230001
		}
		shown.Text = p.ZH.Content[0][0].Text
		shown.Mentions = at.FindAllString(shown.Text, -1)
	case "file", "image":
		var f struct {
			File  string `json:"file_key"`
			Image string `json:"image_key"`
		}
		json.Unmarshal([]byte(content), &f)
		up, ok := s.files[f.File+f.Image]
		if !ok {
			return "", 230055
		}
		shown.Name, shown.Data = up.Name, up.Data
	}
	s.n++
	shown.ID = fmt.Sprintf("om_out_%d", s.n)
	s.keys[key] = shown.ID
	s.Show(shown)
	return shown.ID, 0
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Content string `json:"content"`
	}
	json.NewDecoder(r.Body).Decode(&in)
	if s.Replace(r.PathValue("id"), in.Content) {
		reply(w, http.StatusOK, 0, nil)
		return
	}
	reply(w, http.StatusBadRequest, 230011, nil)
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.said[r.PathValue("id")]
	if m == nil {
		reply(w, http.StatusBadRequest, 230110, nil)
		return
	}
	msg := m.event["message"].(map[string]any)
	item := map[string]any{"msg_type": msg["message_type"], "body": map[string]any{"content": msg["content"]}}
	reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{"items": []any{item}}})
}

func (s *Server) upload(part, name, key string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, h, err := r.FormFile(part)
		if err != nil {
			reply(w, http.StatusBadRequest, 234001, nil)
			return
		}
		data, _ := io.ReadAll(f)
		up := gatewaytest.Upload{Name: h.Filename, Data: data}
		if name != "" {
			up.Name = r.FormValue(name)
		}
		s.mu.Lock()
		s.n++
		id := fmt.Sprintf("key_%d", s.n)
		s.files[id] = up
		s.mu.Unlock()
		reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{key: id}})
	}
}

func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	m := s.said[r.PathValue("id")]
	s.mu.Unlock()
	if m == nil || m.upload == nil || r.PathValue("key") != "res_"+m.id {
		reply(w, http.StatusBadRequest, 234003, nil)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="x"`)
	w.Header().Set("Content-Type", m.upload.MIME)
	w.Write(m.upload.Data)
}

func (s *Server) react(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	id := fmt.Sprintf("reaction_%d", s.n)
	s.signs[id] = r.PathValue("id")
	reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{"reaction_id": id}})
}

func (s *Server) unreact(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.signs, r.PathValue("reaction"))
	reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{}})
}

// Signs counts reactions.
func (s *Server) Signs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.signs)
}

// Forget withdraws a message.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[id].gone = true
}

// Edit does nothing: the platform tells apps of no edits.
func (s *Server) Edit(string, string) {}

// Acknowledged reports whether the app has taken a message.
func (s *Server) Acknowledged(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[id].acked
}
