// Package feishutest is a fake of Feishu's servers on loopback: tokens, messages, files, reactions, the
// webhook and the long connection.
package feishutest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
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
	shown   []gatewaytest.Shown
	files   map[string]gatewaytest.Upload
	signs   map[string]string
	fail    int
	how     gatewaytest.Failure
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
	if in.ID != AppID || in.Secret != AppSecret {
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
		if r.Header.Get("Authorization") != want {
			reply(w, http.StatusBadRequest, 99991663, nil)
			return
		}
		f(w, r)
	}
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, 0, map[string]any{"bot": map[string]string{"open_id": Bot}})
}

// failing does what Fail asked for; true: the request is dealt with.
func (s *Server) failing(w http.ResponseWriter, r *http.Request) (lost, done bool) {
	s.mu.Lock()
	how, n := s.how, s.fail
	if n > 0 {
		s.fail--
	}
	s.mu.Unlock()
	if n == 0 {
		return false, false
	}
	switch how {
	case gatewaytest.Limited:
		w.Header().Set("X-Ogw-Ratelimit-Reset", "1")
		reply(w, http.StatusTooManyRequests, 99991400, nil)
	case gatewaytest.Refused:
		reply(w, http.StatusBadRequest, 230002, nil)
	case gatewaytest.Broken:
		http.Error(w, "fault", http.StatusInternalServerError)
	case gatewaytest.Stuck:
		<-r.Context().Done()
	case gatewaytest.Lost:
		return true, false
	}
	return false, true
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
	lost, done := s.failing(w, r)
	if done {
		return
	}
	s.mu.Lock()
	id, code := s.put(r.PathValue("id"), in.Receive, in.Type, in.Content, in.UUID)
	s.mu.Unlock()
	switch {
	case lost:
		c, _, _ := w.(http.Hijacker).Hijack()
		c.Close()
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
	s.shown = append(s.shown, shown)
	return shown.ID, 0
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Content string `json:"content"`
	}
	json.NewDecoder(r.Body).Decode(&in)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.shown {
		if s.shown[i].ID == r.PathValue("id") {
			s.shown[i].Text = in.Content
			reply(w, http.StatusOK, 0, nil)
			return
		}
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

// Shown lists what was sent.
func (s *Server) Shown() []gatewaytest.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]gatewaytest.Shown(nil), s.shown...)
}

// Fail makes sending fail.
func (s *Server) Fail(n int, how gatewaytest.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.how = n, how
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

// Say makes an event and delivers it.
func (s *Server) Say(say gatewaytest.Saying) string {
	s.mu.Lock()
	m := &message{id: fmt.Sprintf("om_%d", len(s.said)+1), parent: say.ReplyTo, upload: say.File}
	m.event = eventOf(m, say)
	s.said[m.id] = m
	s.mu.Unlock()
	s.deliver(m)
	return m.id
}

// Again delivers a message again, in another event.
func (s *Server) Again(id string) {
	s.mu.Lock()
	m := s.said[id]
	s.mu.Unlock()
	s.deliver(m)
}

func eventOf(m *message, say gatewaytest.Saying) map[string]any {
	kind, body, mentions := "text", map[string]any{"text": say.Text}, []any{}
	add := func(id, name string) {
		key := fmt.Sprintf("@_user_%d", len(mentions)+1)
		body["text"] = key + " " + body["text"].(string)
		mentions = append(mentions, map[string]any{"key": key, "name": name, "id": map[string]any{"open_id": id}})
	}
	if say.Others {
		add("ou_robin", "Robin")
	}
	if say.Mention {
		add(Bot, "Bot")
	}
	if say.File != nil {
		kind, body = "file", map[string]any{"file_key": "res_" + m.id, "file_name": say.File.Name}
	}
	content, _ := json.Marshal(body)
	sender, typ, chat := "ou_"+say.Me, "user", "p2p"
	if say.Own {
		sender, typ = AppID, "app"
	}
	if say.Group {
		chat = "group"
	}
	msg := map[string]any{
		"message_id": m.id, "chat_id": "oc_" + say.Chat, "chat_type": chat, "message_type": kind, "content": string(content), "mentions": mentions,
		"create_time": strconv.FormatInt(time.Now().UnixMilli(), 10),
	}
	if m.parent != "" {
		msg["parent_id"], msg["root_id"] = m.parent, m.parent
	}
	return map[string]any{"sender": map[string]any{"sender_id": map[string]any{"open_id": sender}, "sender_type": typ}, "message": msg}
}

// Body is the body of an event as the platform sends it.
func (s *Server) Body(event map[string]any) []byte {
	body, _ := json.Marshal(map[string]any{
		"schema": "2.0", "event": event,
		"header": map[string]any{"event_id": rand.Text(), "event_type": "im.message.receive_v1", "token": Token, "app_id": AppID, "tenant_key": "tk"},
	})
	return body
}

// deliver sends an event to the webhook, or over the long connection as soon as there is one.
func (s *Server) deliver(m *message) {
	body := s.Body(m.event)
	if s.Hook != "" {
		if s.Post(body) == http.StatusOK {
			s.ack(m.id)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, m)
	s.flush()
}

// Post posts a body to the webhook, encrypted and signed where there is a key, and returns the status.
func (s *Server) Post(body []byte) int {
	req, _ := http.NewRequest(http.MethodPost, s.Hook, nil)
	if s.EncryptKey != "" {
		body, _ = json.Marshal(map[string]string{"encrypt": Encrypt(s.EncryptKey, body)})
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		req.Header.Set("X-Lark-Request-Timestamp", stamp)
		req.Header.Set("X-Lark-Request-Nonce", "nonce")
		req.Header.Set("X-Lark-Signature", feishu.Sign(stamp, "nonce", s.EncryptKey, body))
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp, err := s.client.Do(req)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

// Encrypt encrypts a body as the platform does.
func Encrypt(key string, body []byte) string {
	sum := sha256.Sum256([]byte(key))
	block, _ := aes.NewCipher(sum[:])
	n := aes.BlockSize - len(body)%aes.BlockSize
	body = append(append([]byte(nil), body...), bytes.Repeat([]byte{byte(n)}, n)...)
	iv := make([]byte, aes.BlockSize)
	rand.Read(iv)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(body, body)
	return base64.StdEncoding.EncodeToString(append(iv, body...))
}

func (s *Server) ack(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[id].acked = true
}

// Break cuts the long connection.
func (s *Server) Break() {
	s.mu.Lock()
	conn := s.conn
	s.conn, s.mute = nil, false
	s.mu.Unlock()
	if conn != nil {
		conn.CloseNow()
	}
	s.client.CloseIdleConnections()
}

// Mute leaves the long connection open and says nothing more on it: no events, no pongs.
func (s *Server) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = true
}

// Connections counts the long connections that there were.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

func trimWS(url string) string { return "ws" + strings.TrimPrefix(url, "http") }
