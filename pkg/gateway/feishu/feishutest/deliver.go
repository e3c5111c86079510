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
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

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

// kinds are messages that are neither text nor file.
var kinds = map[gatewaytest.Kind]struct {
	name string
	body map[string]any
}{
	gatewaytest.Place:   {"location", map[string]any{"name": "Marienplatz", "latitude": "48.137154", "longitude": "11.576124"}},
	gatewaytest.Poll:    {"vote", map[string]any{"topic": "Lunch?", "options": []string{"Pizza", "Salad"}}},
	gatewaytest.Odd:     {"share_chat", map[string]any{"chat_id": "oc_other"}},
	gatewaytest.Sticker: {"sticker", map[string]any{"file_key": "s1"}},
	gatewaytest.Service: {"system", map[string]any{"template": "{from_user} invited {to_chatters}", "from_user": []string{"Bob"}}},
}

// Kinds lists what Say can say by Saying.Kind.
func Kinds() []gatewaytest.Kind { return slices.Sorted(maps.Keys(kinds)) }

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
	if say.Kind != "" {
		kind, body = kinds[say.Kind].name, kinds[say.Kind].body
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
