package telegram

import (
	"encoding/json"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

func testChannel() *Channel { return &Channel{id: "4242", name: "test_bot"} }

func TestMessage(t *testing.T) {
	for _, tt := range []struct {
		name, message, text string
		want                bool
	}{
		{"text", `"text":"hi"`, "hi", true},
		{"only a mention", `"text":"@test_bot","entities":[{"type":"mention","offset":0,"length":9}]`, "", true},
		{"sticker", `"sticker":{"file_id":"s","emoji":"👍"}`, "👍", true},
		{"sticker without emoji", `"sticker":{"file_id":"s"}`, "", true},
		{"dice", `"dice":{"emoji":"🎲","value":4}`, "🎲 4", true},
		{"place", `"location":{"latitude":1.5,"longitude":-2}`, "Location: 1.500000, -2.000000", true},
		{"contact without a name", `"contact":{"phone_number":"+49"}`, "Contact: +49", true},
		{"poll", `"poll":{"question":"Lunch?\nNow?","options":[{"text":"Pizza"}]}`, "Poll: Lunch? Now?\n- Pizza", true},
		{"game", `"game":{"title":"x"}`, "", true},
		{"photo with a text", `"caption":"see","photo":[{"file_id":"a","width":1},{"file_id":"b","width":9}]`, "see", true},
		{"joined", `"new_chat_members":[{"id":5}]`, "", false},
		{"title", `"new_chat_title":"x"`, "", false},
		{"pinned", `"pinned_message":{"message_id":3,"text":"x"}`, "", false},
		{"from a channel", `"text":"x","is_automatic_forward":true`, "", false},
		{"our own", `"text":"x","from":{"id":4242}`, "", false},
		{"a bot's", `"text":"x","from":{"id":7,"is_bot":true}`, "", false},
		{"nobody's", `"text":"x","from":null`, "", false},
	} {
		var u update
		raw := `{"update_id":1,"message":{"message_id":2,"date":1700000000,"chat":{"id":3,"type":"private"},"from":{"id":5,"first_name":"Ann"},` + tt.message + `}}`
		if err := json.Unmarshal([]byte(raw), &u); err != nil {
			t.Fatal(err)
		}
		if m, ok := testChannel().message(u); ok != tt.want || ok && m.Text != tt.text {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.name, m.Text, ok, tt.text, tt.want)
		}
	}
}

// FuzzUpdate: whatever comes, a message is sound and is not ours.
func FuzzUpdate(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"update_id":1}`, `{"message":{}}`, `{"message":{"message_id":1,"chat":{"id":1,"type":"private"},"from":{"id":4242},"text":"mine"}}`,
		`{"message":{"message_id":1,"chat":{"id":-1,"type":"supergroup"},"from":{"id":5},"is_topic_message":true,"message_thread_id":9,"text":"@test_bot 🙂 hi","entities":[{"type":"mention","offset":0,"length":9}]}}`,
		`{"edited_message":{"message_id":1,"chat":{"id":1,"type":"private"},"from":{"id":5},"caption":"x","caption_entities":[{"type":"text_mention","offset":-1,"length":9,"user":{"id":4242}}],"photo":[{},{"file_id":"a","width":-9223372036854775808}]}}`,
		`{"message":{"message_id":1,"chat":{"id":1,"type":"private"},"from":{"id":5},"text":"🙂@test_bot","entities":[{"type":"mention","offset":2,"length":9},{"type":"mention","offset":2,"length":9},{"type":"bot_command","offset":1,"length":1}]}}`,
		`{"message":{"message_id":1,"chat":{"id":1,"type":"channel"},"from":{"id":5},"venue":{},"contact":{},"poll":{},"dice":{},"sticker":{}}}`,
		`{"message":{"message_id":1,"chat":{"id":1,"type":"private"},"from":{"id":5},"document":{},"voice":{"file_id":"v"},"reply_to_message":{"message_id":3,"text":"q"}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		var u update
		if json.Unmarshal([]byte(data), &u) != nil {
			return
		}
		m, ok := testChannel().message(u)
		if !ok {
			return
		}
		if err := gatewaytest.Sound(m); err != nil {
			t.Errorf("%s: got %+v: %v", data, m, err)
		}
		if m.From.ID == "4242" || m.From.ID == "0" || m.Chat.ID == "0" || m.ID == "0" {
			t.Errorf("%s: got %+v, want none of ours and no zeros", data, m)
		}
	})
}
