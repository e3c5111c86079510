package slack

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

// offline is a platform that cannot be asked for names.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("offline") }

func offlineChannel(t testing.TB) *Channel {
	c, err := New(Config{AppToken: "xapp-1-A1-1-x", BotToken: "xoxb-x", APIBase: "https://x"})
	if err != nil {
		t.Fatal(err)
	}
	c.http, c.bot = &http.Client{Transport: offline{}}, "U0BOT"
	return c
}

func TestMessage(t *testing.T) {
	c := offlineChannel(t)
	c.names = map[string]string{"U1": "ann"}
	for _, tt := range []struct{ name, event, text string }{
		{"text", `"text":"a &lt;b&gt; <https://x|x> <#C1|all> <!here> <@U1> <@U0BOT> z"`, "a <b> x (https://x) #all @here @ann z"},
		{"only a mention", `"text":"<@U0BOT>"`, ""},
		{"shared message", `"text":"see","attachments":[{"is_share":true,"author_name":"Bob","text":"the words"},{"text":"a preview"}]`, "see\nBob wrote: the words"},
		{"shared alone", `"text":"","attachments":[{"is_share":true,"text":"the words"}]`, "somebody wrote: the words"},
		{"file elsewhere", `"text":"","subtype":"file_share","files":[{"name":"plan","url_private":"https://docs.x/1"}]`, "plan (https://docs.x/1)"},
		{"in the third person", `"text":"waves","subtype":"me_message"`, "waves"},
	} {
		var e event
		if err := json.Unmarshal([]byte(`{"type":"message","user":"U1","ts":"1.2","channel":"D1","channel_type":"im",`+tt.event+`}`), &e); err != nil {
			t.Fatal(err)
		}
		if m, ok := c.message(t.Context(), e); !ok || m.Text != tt.text {
			t.Errorf("%s: got %q, %v, want %q", tt.name, m.Text, ok, tt.text)
		}
	}
}

// FuzzEnvelope: whatever comes, a message that is handed on is sound and is not ours; an envelope is acknowledged when
// its message was taken, and never when it was not.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `[]`, `{"type":"hello"}`, `{"type":"disconnect","reason":"refresh_requested"}`, `{"type":"interactive","envelope_id":"e1","payload":{"type":"block_actions"}}`,
		`{"type":"slash_commands","envelope_id":"e1","payload":{"command":"/stop"}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","user":"U1","ts":"1700000000.000100","channel":"D1","channel_type":"im","text":"<@U0BOT> hi <!here>"}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","user":"U0BOT","ts":"1.2","channel":"C1","text":"mine"}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","bot_id":"B1","user":"U1","ts":"1.2","channel":"C1","text":"a bot's"}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","subtype":"message_changed","channel":"C1","ts":"3","message":{"user":"U1","ts":"1.2","text":"new"}}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","subtype":"message_changed","channel":"C1","message":{"subtype":"message_changed","message":{"user":"U1","ts":"1"}}}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"app_mention","user":"U1","ts":"1.2","thread_ts":"1.1","channel":"C1","files":[{"id":"F1"}]}}}`,
		`{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","user":"","ts":"1.2","channel":""}}}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	c := offlineChannel(f)
	f.Fuzz(func(t *testing.T, data string, takes bool) {
		taken, lost := 0, false
		host := gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}, Take: func(_ context.Context, m gateway.Message) error {
			if err := gatewaytest.Sound(m); err != nil || m.From.ID == c.bot {
				t.Errorf("%s: got %+v: %v", data, m, err)
			}
			if taken++; !takes {
				lost = true
				return errors.New("full")
			}
			return nil
		}}
		ack, err := c.envelope(t.Context(), []byte(data), host)
		var e struct {
			Type string `json:"type"`
			ID   string `json:"envelope_id"`
		}
		known := json.Unmarshal([]byte(data), &e) == nil
		switch {
		case taken > 1:
			t.Errorf("%s: taken %d times", data, taken)
		case lost && ack != nil:
			t.Errorf("%s: acknowledged though it was not taken", data)
		case err == nil && known && !lost && e.ID != "" && ack == nil && taken > 0:
			t.Errorf("%s: not acknowledged though it was taken", data)
		case ack != nil && !json.Valid(ack):
			t.Errorf("%s: got %s", data, ack)
		}
	})
}
