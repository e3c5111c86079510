package feishu

import "testing"

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
