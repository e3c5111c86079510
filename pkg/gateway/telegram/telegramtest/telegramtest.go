// Package telegramtest is a fake of Telegram's Bot API on loopback.
package telegramtest

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

// What the bot is called.
const (
	BotToken = "4242:token-of-the-test"
	BotName  = "test_bot"
	botID    = 4242
)

// Server is the platform.
type Server struct {
	gatewaytest.Board

	URL string

	http *httptest.Server

	mu      sync.Mutex
	n       int64
	updates []map[string]any // those that are not acknowledged
	said    map[string]map[string]any
	at      map[string]int64 // the last update of a message
	confirm int64
	files   map[string]gatewaytest.Upload
	typing  int
	more    chan struct{} // closed when there is an update, or connections are cut
}

// New starts a server, which Close ends.
func New() *Server {
	s := &Server{said: map[string]map[string]any{}, at: map[string]int64{}, files: map[string]gatewaytest.Upload{}, more: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /bot"+BotToken+"/{method}", s.method)
	mux.HandleFunc("GET /file/bot"+BotToken+"/{path...}", s.file)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusUnauthorized, "Unauthorized", nil) })
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.KeyRefused() {
			fail(w, http.StatusUnauthorized, "Unauthorized", nil)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.Break()
	s.http.CloseClientConnections()
	s.http.Close()
}

func answer(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
}

func fail(w http.ResponseWriter, code int, why string, params map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]any{"ok": false, "error_code": code, "description": why, "parameters": params})
}

// params are the parameters of a call, with the file that came along.
func params(r *http.Request) (map[string]any, *gatewaytest.Upload) {
	in := map[string]any{}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		json.NewDecoder(r.Body).Decode(&in)
		return in, nil
	}
	f, h, err := r.FormFile("document")
	if err != nil {
		return in, nil
	}
	data, _ := io.ReadAll(f)
	for name, values := range r.MultipartForm.Value {
		var v any = values[0]
		if json.Unmarshal([]byte(values[0]), &v) != nil || name == "chat_id" {
			v = values[0]
		}
		in[name] = v
	}
	return in, &gatewaytest.Upload{Name: h.Filename, MIME: h.Header.Get("Content-Type"), Data: data}
}

func (s *Server) method(w http.ResponseWriter, r *http.Request) {
	in, up := params(r)
	switch r.PathValue("method") {
	case "getMe":
		answer(w, map[string]any{"id": botID, "is_bot": true, "username": BotName})
	case "getUpdates":
		s.getUpdates(w, r, in)
	case "sendMessage", "sendDocument":
		s.send(w, r, in, up)
	case "editMessageText":
		s.edit(w, in)
	case "sendChatAction":
		s.mu.Lock()
		s.typing++
		s.mu.Unlock()
		answer(w, true)
	case "getFile":
		id, _ := in["file_id"].(string)
		s.mu.Lock()
		_, ok := s.files[id]
		s.mu.Unlock()
		if !ok {
			fail(w, http.StatusBadRequest, "Bad Request: invalid file_id", nil)
			return
		}
		answer(w, map[string]any{"file_path": "documents/" + id})
	default:
		fail(w, http.StatusNotFound, "Not Found", nil)
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	up, ok := s.files[strings.TrimPrefix(r.PathValue("path"), "documents/")]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Write(up.Data)
}

func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, in map[string]any) {
	offset, _ := in["offset"].(float64)
	wait, _ := in["timeout"].(float64)
	end := time.After(time.Duration(wait * float64(time.Second)))
	for {
		s.mu.Lock()
		s.confirm = max(s.confirm, int64(offset)-1)
		for len(s.updates) > 0 && s.updates[0]["update_id"].(int64) <= s.confirm {
			s.updates = s.updates[1:]
		}
		found, more := append([]map[string]any{}, s.updates...), s.more
		s.mu.Unlock()
		if len(found) > 0 || wait == 0 {
			answer(w, found[:min(len(found), 100)])
			return
		}
		select {
		case <-more:
		case <-end:
			answer(w, []any{})
			return
		case <-r.Context().Done():
			return
		}
		if s.cut(w, more) {
			return
		}
	}
}

// cut closes the connection of a poll when that was asked for.
func (s *Server) cut(w http.ResponseWriter, more chan struct{}) bool {
	s.mu.Lock()
	waiting := len(s.updates) > 0
	s.mu.Unlock()
	if waiting {
		return false
	}
	gatewaytest.Lose(w)
	return true
}

var (
	tag     = regexp.MustCompile(`<(/?)([a-z]+)((?: [^<>]*)?)>`)
	code    = regexp.MustCompile(`(?s)<(code|pre)\b.*?</(?:code|pre)>`)
	mention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])@[A-Za-z0-9_]+`)
)

// parse returns what is left of a text in HTML without tags, and whom it mentions; false: it is not well
// formed.
func parse(text string) (plain string, mentions []string, ok bool) {
	var open []string
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			return "", nil, false
		default:
			open = open[:len(open)-1]
		}
	}
	plain = tag.ReplaceAllString(text, "")
	if len(open) > 0 || strings.ContainsAny(plain, "<>") {
		return "", nil, false
	}
	for _, t := range tag.FindAllString(text, -1) {
		if strings.Contains(t, "tg:") {
			mentions = append(mentions, t)
		}
	}
	shown := html.UnescapeString(tag.ReplaceAllString(code.ReplaceAllString(text, "`"), ""))
	mentions = append(mentions, mention.FindAllString(shown, -1)...)
	return html.UnescapeString(plain), mentions, true
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, in map[string]any, up *gatewaytest.Upload) {
	shown := gatewaytest.Shown{Chat: fmt.Sprint(in["chat_id"])}
	text, _ := in["text"].(string)
	if up != nil {
		shown.Name, shown.Data = up.Name, up.Data
	} else {
		plain, mentions, ok := text, mention.FindAllString(text, -1), true
		if in["parse_mode"] == "HTML" {
			plain, mentions, ok = parse(text)
		}
		switch {
		case !ok:
			fail(w, http.StatusBadRequest, "Bad Request: can't parse entities", nil)
			return
		case len(utf16.Encode([]rune(plain))) > 4096:
			fail(w, http.StatusBadRequest, "Bad Request: message is too long", nil)
			return
		case strings.TrimSpace(plain) == "":
			fail(w, http.StatusBadRequest, "Bad Request: message text is empty", nil)
			return
		}
		shown.Text, shown.Mentions = plain, mentions
	}
	lost, done := s.Failing(w, r, func() {
		fail(w, http.StatusTooManyRequests, "Too Many Requests", map[string]any{"retry_after": 1})
	}, func() { fail(w, http.StatusForbidden, "Forbidden: bot was blocked by the user", nil) })
	if done {
		return
	}
	s.mu.Lock()
	if reply, ok := in["reply_parameters"].(map[string]any); ok {
		id := strconv.FormatInt(int64(reply["message_id"].(float64)), 10)
		if s.said[id] != nil {
			shown.ReplyTo = id
		} else if reply["allow_sending_without_reply"] != true {
			s.mu.Unlock()
			fail(w, http.StatusBadRequest, "Bad Request: message to be replied not found", nil)
			return
		}
	}
	s.n++
	shown.ID = strconv.FormatInt(s.n, 10)
	s.Show(shown)
	id := s.n
	s.mu.Unlock()
	if lost {
		gatewaytest.Lose(w)
		return
	}
	answer(w, map[string]any{"message_id": id})
}

func (s *Server) edit(w http.ResponseWriter, in map[string]any) {
	text, _, _ := parse(in["text"].(string))
	if s.Replace(fmt.Sprint(in["message_id"]), text) {
		answer(w, map[string]any{"message_id": in["message_id"]})
		return
	}
	fail(w, http.StatusBadRequest, "Bad Request: message to edit not found", nil)
}

// Signs counts how often we said that we type.
func (s *Server) Signs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typing
}

// Forget removes a message.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.said, id)
}

// Acknowledged reports whether a message was acknowledged by a later poll.
func (s *Server) Acknowledged(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[id] <= s.confirm
}

// Break cuts the poll that waits.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
}

// id is a number for a name.
func id(name string) int64 {
	n := int64(7)
	for _, c := range name {
		n = n*31 + int64(c)
	}
	return n
}

// kinds are the contents of messages that are neither text nor file.
var kinds = map[gatewaytest.Kind]map[string]any{
	gatewaytest.Place: {
		"location": map[string]any{"latitude": 48.137154, "longitude": 11.576124},
		"venue":    map[string]any{"location": map[string]any{"latitude": 48.137154, "longitude": 11.576124}, "title": "Marienplatz", "address": "München"},
	},
	gatewaytest.Contact: {"contact": map[string]any{"phone_number": "+491701234567", "first_name": "Ann", "last_name": "Lee"}},
	gatewaytest.Poll:    {"poll": map[string]any{"id": "1", "question": "Lunch?", "options": []any{map[string]any{"text": "Pizza"}, map[string]any{"text": "Salad"}}}},
	gatewaytest.Sticker: {"sticker": map[string]any{"file_id": "s1", "emoji": "👍"}},
	gatewaytest.Odd:     {"story": map[string]any{"id": 1}},
	gatewaytest.Service: {"new_chat_members": []any{map[string]any{"id": 5, "first_name": "Bob"}}},
}

// Kinds lists what Say can say by Saying.Kind.
func Kinds() []gatewaytest.Kind { return slices.Sorted(maps.Keys(kinds)) }

// Say makes an update of a message.
func (s *Server) Say(say gatewaytest.Saying) string {
	s.mu.Lock()
	s.n++
	n := s.n
	chat := map[string]any{"id": id(say.Chat), "type": "private"}
	if say.Group {
		chat = map[string]any{"id": -id(say.Chat), "type": "supergroup", "title": "Group " + say.Chat}
	}
	m := map[string]any{"message_id": n, "date": time.Now().Unix(), "chat": chat, "from": map[string]any{"id": id(say.Me), "first_name": "User", "last_name": say.Me}}
	if say.Own {
		m["from"] = map[string]any{"id": botID, "is_bot": true}
	}
	text, entities := say.Text, []any{}
	prefix := ""
	for _, who := range []struct {
		on   bool
		name string
	}{{say.Mention, "@" + BotName}, {say.Others, "@Robin"}} {
		if who.on {
			entities = append(entities, map[string]any{"type": "mention", "offset": len(prefix), "length": len(who.name)})
			prefix += who.name + " "
		}
	}
	m["text"], m["entities"] = prefix+text, entities
	if say.ReplyTo != "" {
		m["reply_to_message"] = s.said[say.ReplyTo]
	}
	if say.File != nil {
		key := fmt.Sprintf("file_%d", n)
		s.files[key] = *say.File
		delete(m, "text")
		m["caption"] = say.Text
		m["document"] = map[string]any{"file_id": key, "file_name": say.File.Name, "mime_type": say.File.MIME, "file_size": len(say.File.Data)}
	}
	if say.Kind != "" {
		delete(m, "text")
		delete(m, "entities")
		maps.Copy(m, kinds[say.Kind])
	}
	name := strconv.FormatInt(n, 10)
	s.said[name] = m
	s.mu.Unlock()
	s.update(name, "message", m)
	return name
}

// Again delivers a message again, as is done after a restart in between.
func (s *Server) Again(id string) {
	s.mu.Lock()
	m := s.said[id]
	s.mu.Unlock()
	s.update(id, "message", m)
}

// Edit changes the text of a message.
func (s *Server) Edit(id, text string) {
	s.mu.Lock()
	m := map[string]any{}
	for k, v := range s.said[id] {
		m[k] = v
	}
	m["text"] = text
	s.mu.Unlock()
	s.update(id, "edited_message", m)
}

func (s *Server) update(id, kind string, m map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.updates = append(s.updates, map[string]any{"update_id": s.n, kind: m})
	s.at[id] = s.n
	close(s.more)
	s.more = make(chan struct{})
}

// WellFormed reports whether the platform would take a text in HTML.
func WellFormed(text string) bool {
	_, _, ok := parse(text)
	return ok
}
