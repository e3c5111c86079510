package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
)

// forge sends what the webhook must refuse: each request has a message that would be answered.
func forge(s *feishutest.Server) error {
	good := s.Body(map[string]any{
		"sender":  map[string]any{"sender_id": map[string]any{"open_id": "ou_ann"}, "sender_type": "user"},
		"message": map[string]any{"message_id": "om_forged", "chat_id": "oc_c1", "chat_type": "p2p", "message_type": "text", "content": `{"text":"/help"}`},
	})
	seal := func(key string, body []byte) []byte {
		data, _ := json.Marshal(map[string]string{"encrypt": feishutest.Encrypt(key, body)})
		return data
	}
	sealed, now := seal(s.EncryptKey, good), time.Now()
	for _, f := range []struct {
		name, key string // of the signature; "": none
		body      []byte
		at        time.Time
		want      int
	}{
		{"plain, with the token", "", good, now, http.StatusUnauthorized},
		{"plain and signed", s.EncryptKey, good, now, http.StatusUnauthorized},
		{"encrypted, not signed", "", sealed, now, http.StatusUnauthorized},
		{"signed with another key", "another", sealed, now, http.StatusUnauthorized},
		{"encrypted with another key", s.EncryptKey, seal("another", good), now, http.StatusUnauthorized},
		{"nine hours late", s.EncryptKey, sealed, now.Add(-9 * time.Hour), http.StatusUnauthorized},
		{"wrong token inside", s.EncryptKey, seal(s.EncryptKey, bytes.ReplaceAll(good, []byte(feishutest.Token), []byte("guess"))), now, http.StatusUnauthorized},
		{"no JSON", s.EncryptKey, []byte("x"), now, http.StatusBadRequest},
		{"too large", s.EncryptKey, []byte(strings.Repeat("x", 2<<20)), now, http.StatusRequestEntityTooLarge},
	} {
		req, err := http.NewRequest(http.MethodPost, s.Hook, bytes.NewReader(f.body))
		if err != nil {
			return err
		}
		if f.key != "" {
			stamp := strconv.FormatInt(f.at.Unix(), 10)
			req.Header.Set("X-Lark-Request-Timestamp", stamp)
			req.Header.Set("X-Lark-Request-Nonce", "nonce")
			req.Header.Set("X-Lark-Signature", feishu.Sign(stamp, "nonce", f.key, f.body))
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		resp.Body.Close()
		fmt.Printf("forged: %s: %d\n", f.name, resp.StatusCode)
		if resp.StatusCode != f.want {
			return fmt.Errorf("%s: got status %d, want %d", f.name, resp.StatusCode, f.want)
		}
	}
	return nil
}
