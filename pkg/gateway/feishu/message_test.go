package feishu

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecryptVector(t *testing.T) {
	got, err := decrypt("test key", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=")
	if err != nil || string(got) != "hello world" {
		t.Errorf("got %q, %v, want hello world", got, err)
	}
	for _, bad := range []string{"", "AAAA", "%", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghg=", "P37w+VZImNgPEO1RBhJ6Rg=="} {
		if got, err := decrypt("test key", bad); err == nil {
			t.Errorf("%q: got %q and no error", bad, got)
		}
	}
}

func TestContent(t *testing.T) {
	for _, tt := range []struct{ name, kind, raw, text, key string }{
		{"text", "text", `{"text":" hi "}`, " hi ", ""},
		{"image", "image", `{"image_key":"k"}`, "", "image:k"},
		{"audio", "audio", `{"file_key":"k","duration":3}`, "", "file:k"},
		{"sticker", "sticker", `{"file_key":"k"}`, "", ""},
		{"place", "location", `{"name":"Marienplatz\nMünchen","longitude":"11.5","latitude":"48.1"}`, "Location: 48.100000, 11.500000 (Marienplatz München)", ""},
		{"place that is none", "location", `{"name":"x","longitude":"east","latitude":""}`, "", ""},
		{"vote", "vote", `{"topic":"Lunch?","options":["Pizza","Salad"]}`, "Poll: Lunch?\n- Pizza\n- Salad", ""},
		{"event", "share_calendar_event", `{"summary":"Review","start_time":"1700000000000","end_time":"1700003600000"}`, "Event: Review – 2023-11-14 22:13 UTC – 2023-11-14 23:13 UTC", ""},
		{"to do", "todo", `{"task_id":"1","summary":{"title":"Buy","content":[[{"tag":"text","text":"milk"}]]}}`, "To do: Buy\nmilk", ""},
		{"card", "interactive", `{"title":"Build","elements":[[{"tag":"text","text":"it failed"}],[{"tag":"button","text":"Again"}]]}`, "Build\nit failed\nAgain", ""},
		{"shared person", "share_user", `{"user_id":"ou_1"}`, "", ""},
		{"no json", "text", `{`, "", ""},
		{"post", "post", `{"title":"T","content":[[{"tag":"text","text":"one "},{"tag":"a","text":"link","href":"https://x"},{"tag":"text","text":" one "}],[{"tag":"img","image_key":"i"}],[{"tag":"code_block","language":"GO","text":"x\n"}]]}`,
			"T\none link (https://x) one \n\n```go\nx\n```", "image:i"},
		{"post by language", "post", `{"zh_cn":{"title":"","content":[[{"tag":"at","user_id":"@_user_1"},{"tag":"text","text":"hi"}]]}}`, "@_user_1 hi", ""},
		{"post that is none", "post", `[1]`, "", ""},
	} {
		text, files := content(tt.kind, tt.raw)
		key := ""
		if len(files) > 0 {
			key = files[0].Key
		}
		if text != tt.text || key != tt.key {
			t.Errorf("%s: got %q, %q, want %q, %q", tt.name, text, key, tt.text, tt.key)
		}
	}
}

// FuzzContent: whatever a message has, its files can be fetched and its text is text.
func FuzzContent(f *testing.F) {
	for _, s := range [][2]string{
		{"text", `{"text":"x"}`}, {"post", `{"zh_cn":{"content":[[{"tag":"img"},{"tag":"media","file_key":"k"}]]}}`}, {"interactive", `{"elements":[[{"tag":"a","href":"h"}]]}`},
		{"location", `{"latitude":"NaN","longitude":"1e999"}`}, {"vote", `{"options":[""]}`}, {"todo", `{"summary":[1]}`}, {"calendar", `{"summary":{"a":1},"start_time":"9223372036854775807"}`}, {"file", `{"file_key":""}`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, kind, raw string) {
		text, files := content(kind, raw)
		if utf8.ValidString(raw) && !utf8.ValidString(text) {
			t.Errorf("got text %q", text)
		}
		for _, a := range files {
			if _, key, _ := strings.Cut(a.Key, ":"); key == "" || a.Name == "" || a.Kind == "" {
				t.Errorf("got attachment %+v", a)
			}
		}
	})
}

func TestNamed(t *testing.T) {
	var all []mention
	for _, kv := range [][2]string{{"@_user_1", "Ann"}, {"@_user_10", "Bob"}, {"@_user_2", ""}} {
		all = append(all, mention{Key: kv[0], Name: kv[1]})
	}
	all = append(all, mention{Key: "@_user_3", ID: ids{Open: "bot"}, Name: "Bot"})
	got := named("@_user_3 ask @_user_10 and @_user_1, @_user_2 @_all @_user_3", all, "bot")
	if want := "ask @Bob and @Ann, @somebody @all"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
