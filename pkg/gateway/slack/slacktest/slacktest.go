// Package slacktest is a fake of Slack on loopback: the Web API and Socket Mode.
package slacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

// What the app knows.
const (
	AppToken = "xapp-1-A0TEST-1-app-token-of-the-test"
	BotToken = "xoxb-bot-token-of-the-test"
	bot      = "U0BOT"
)

// Server is the platform.
type Server struct {
	gatewaytest.Board

	URL string

	http *httptest.Server

	mu      sync.Mutex
	n       int
	said    map[string]map[string]any
	acked   map[string]bool
	waits   map[string]string // envelope → message
	pending []string
	again   map[string]map[string]any // edits that wait
	files   map[string]gatewaytest.Upload
	signs   map[string]bool
	conn    *websocket.Conn
}

// New starts a server, which Close ends.
func New() *Server {
	s := &Server{
		said: map[string]map[string]any{}, acked: map[string]bool{}, waits: map[string]string{}, again: map[string]map[string]any{},
		files: map[string]gatewaytest.Upload{}, signs: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{method}", s.method)
	mux.HandleFunc("POST /upload/{id}", s.upload)
	mux.HandleFunc("GET /files/{id}", s.content)
	mux.HandleFunc("GET /ws", s.connect)
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

func answer(w http.ResponseWriter, v map[string]any) {
	v["ok"] = true
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"ok": false, "error": code})
}

func (s *Server) method(w http.ResponseWriter, r *http.Request) {
	method, want := r.PathValue("method"), BotToken
	if method == "apps.connections.open" {
		want = AppToken
	}
	if r.Header.Get("Authorization") != "Bearer "+want || s.KeyRefused() {
		refuse(w, "invalid_auth")
		return
	}
	switch method {
	case "auth.test":
		answer(w, map[string]any{"user_id": bot, "team_id": "T1"})
	case "apps.connections.open":
		answer(w, map[string]any{"url": "ws" + strings.TrimPrefix(s.URL, "http") + "/ws"})
	case "users.info":
		name := strings.ToLower(strings.TrimPrefix(r.FormValue("user"), "U"))
		if name == "robin" {
			name = "Robin"
		}
		answer(w, map[string]any{"user": map[string]any{"name": name}})
	case "chat.postMessage":
		s.post(w, r)
	case "chat.update":
		s.update(w, r)
	case "reactions.add", "reactions.remove":
		s.mu.Lock()
		if method == "reactions.add" {
			s.signs[r.FormValue("timestamp")] = true
		} else {
			delete(s.signs, r.FormValue("timestamp"))
		}
		s.mu.Unlock()
		answer(w, map[string]any{})
	case "files.getUploadURLExternal":
		s.mu.Lock()
		s.n++
		id := fmt.Sprintf("F%d", s.n)
		s.files[id] = gatewaytest.Upload{Name: r.FormValue("filename")}
		s.mu.Unlock()
		answer(w, map[string]any{"upload_url": s.URL + "/upload/" + id, "file_id": id})
	case "files.completeUploadExternal":
		s.complete(w, r)
	default:
		refuse(w, "unknown_method")
	}
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	up := s.files[r.PathValue("id")]
	up.Data = data
	s.files[r.PathValue("id")] = up
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	var files []struct{ ID string }
	json.Unmarshal([]byte(r.FormValue("files")), &files)
	lost, done := s.failing(w, r)
	if done {
		return
	}
	s.mu.Lock()
	up := s.files[files[0].ID]
	s.Show(gatewaytest.Shown{Chat: r.FormValue("channel_id"), ReplyTo: r.FormValue("thread_ts"), ID: files[0].ID, Name: up.Name, Data: up.Data})
	s.mu.Unlock()
	s.finish(w, lost, map[string]any{})
}

func (s *Server) failing(w http.ResponseWriter, r *http.Request) (lost, done bool) {
	return s.Failing(w, r, func() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "ratelimited", http.StatusTooManyRequests)
	}, func() { refuse(w, "channel_not_found") })
}

func (s *Server) finish(w http.ResponseWriter, lost bool, v map[string]any) {
	if lost {
		gatewaytest.Lose(w)
		return
	}
	answer(w, v)
}

func (s *Server) content(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	up, ok := s.files[r.PathValue("id")]
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+BotToken || s.KeyRefused(): // a page where people log in
		http.Redirect(w, r, s.URL+"/?redir=files", http.StatusFound)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	w.Write(up.Data)
}

var mention = regexp.MustCompile(`<[@!][^>]*>`)

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("text")
	shown := gatewaytest.Shown{Chat: r.FormValue("channel"), ReplyTo: r.FormValue("thread_ts"), Text: html.UnescapeString(text), Mentions: mention.FindAllString(text, -1)}
	if text == "" || utf8.RuneCountInString(text) > 40_000 {
		refuse(w, "msg_too_long")
		return
	}
	lost, done := s.failing(w, r)
	if done {
		return
	}
	s.mu.Lock()
	s.n++
	shown.ID = fmt.Sprintf("1700000000.%06d", s.n)
	s.Show(shown)
	s.mu.Unlock()
	s.finish(w, lost, map[string]any{"ts": shown.ID})
}

func (s *Server) update(w http.ResponseWriter, r *http.Request) {
	if s.Replace(r.FormValue("ts"), r.FormValue("text")) {
		answer(w, map[string]any{})
		return
	}
	refuse(w, "message_not_found")
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.Write(r.Context(), websocket.MessageText, []byte(`{"type":"hello"}`))
	s.mu.Lock()
	s.conn = conn
	s.flush()
	s.mu.Unlock()
	for {
		_, data, err := conn.Read(context.Background())
		if err != nil {
			break
		}
		var ack struct {
			ID string `json:"envelope_id"`
		}
		json.Unmarshal(data, &ack)
		s.mu.Lock()
		s.acked[s.waits[ack.ID]] = true
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
	}
}

// flush sends what waits for a connection. A mention is sent twice, as Slack does.
func (s *Server) flush() {
	for s.conn != nil && len(s.pending) > 0 {
		id := s.pending[0]
		e, isEdit := s.again[id]
		if !isEdit {
			e = s.said[id]
		}
		kinds := []string{"message"}
		if text, _ := e["text"].(string); strings.Contains(text, "<@"+bot+">") {
			kinds = append(kinds, "app_mention")
		}
		for _, kind := range kinds {
			s.n++
			envelope := fmt.Sprintf("env%d", s.n)
			s.waits[envelope] = id
			event := map[string]any{}
			for k, v := range e {
				event[k] = v
			}
			event["type"] = kind
			data, _ := json.Marshal(map[string]any{"type": "events_api", "envelope_id": envelope, "payload": map[string]any{"event": event}})
			if s.conn.Write(context.Background(), websocket.MessageText, data) != nil {
				return
			}
		}
		delete(s.again, id)
		s.pending = s.pending[1:]
	}
}

// Break cuts the connection.
func (s *Server) Break() {
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.CloseNow()
	}
}

// Signs counts reactions.
func (s *Server) Signs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.signs)
}

// Forget does nothing: what answers a message that is gone becomes one by itself.
func (s *Server) Forget(string) {}

// Acknowledged reports whether a message was acknowledged.
func (s *Server) Acknowledged(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked[id]
}

// Say makes a message and delivers it.
func (s *Server) Say(say gatewaytest.Saying) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	id := strconv.FormatInt(time.Now().Unix(), 10) + fmt.Sprintf(".%06d", s.n)
	text := html.EscapeString(say.Text)
	text = strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(text)
	if say.Others {
		text = "<@UROBIN> " + text
	}
	if say.Mention {
		text = "<@" + bot + "> " + text
	}
	e := map[string]any{"ts": id, "channel": "D" + strings.ToUpper(say.Chat), "channel_type": "im", "user": "U" + strings.ToUpper(say.Me), "text": text}
	if say.Group {
		e["channel"], e["channel_type"] = "C"+strings.ToUpper(say.Chat), "channel"
	}
	if say.Own {
		e["user"], e["bot_id"] = bot, "B1"
	}
	if say.ReplyTo != "" {
		e["thread_ts"] = say.ReplyTo
	}
	if say.File != nil {
		key := fmt.Sprintf("F%d", s.n)
		s.files[key] = *say.File
		e["subtype"] = "file_share"
		e["files"] = []any{map[string]any{"id": key, "name": say.File.Name, "mimetype": say.File.MIME, "size": len(say.File.Data), "url_private_download": s.URL + "/files/" + key}}
	}
	switch say.Kind {
	case gatewaytest.Odd: // a file that is gone
		e["text"], e["subtype"], e["files"] = "", "file_share", []any{map[string]any{"id": "F0", "mode": "tombstone"}}
	case gatewaytest.Sticker:
		e["text"] = ":thumbsup:"
	case gatewaytest.Service:
		e["text"], e["subtype"] = "<@U1> has joined the channel", "channel_join"
	}
	s.said[id] = e
	s.pending = append(s.pending, id)
	s.flush()
	return id
}

// Kinds lists what Say can say by Saying.Kind.
func Kinds() []gatewaytest.Kind {
	return []gatewaytest.Kind{gatewaytest.Odd, gatewaytest.Service, gatewaytest.Sticker}
}

// Again delivers a message again.
func (s *Server) Again(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, id)
	s.flush()
}

// Edit changes the text of a message.
func (s *Server) Edit(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.said[id]
	s.again[id] = map[string]any{
		"subtype": "message_changed", "channel": old["channel"], "channel_type": old["channel_type"], "ts": "1800000000.000001",
		"message": map[string]any{"ts": id, "user": old["user"], "text": html.EscapeString(text)},
	}
	s.pending = append(s.pending, id)
	s.flush()
}
