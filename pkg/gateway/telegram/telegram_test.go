package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram/telegramtest"
)

func channel(t *testing.T, token, url string) *telegram.Channel {
	t.Helper()
	c := telegram.DefaultConfig()
	c.BotToken, c.APIBase = token, url
	ch, err := telegram.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func TestConforms(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
		s := telegramtest.New()
		t.Cleanup(s.Close)
		return gatewaytest.Fixture{Channel: channel(t, telegramtest.BotToken, s.URL), Platform: s, LongestSaying: 4000, Redelivers: true, Kinds: telegramtest.Kinds()}
	})
}

// A wrong token is fatal, and no error tells it.
func TestWrongToken(t *testing.T) {
	s := telegramtest.New()
	defer s.Close()
	host := gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}, Take: func(context.Context, gateway.Message) error { return nil }}
	err := channel(t, "1:secret-token", s.URL).Run(t.Context(), host)
	if !errors.Is(err, gateway.ErrFatal) || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("got %v, want ErrFatal without the token", err)
	}
	_, err = channel(t, "1:secret-token", "http://127.0.0.1:1").Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "1"}, Text: "x"})
	if err == nil || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("got %v, want an error without the token", err)
	}
}

// An update that is not as expected keeps nobody from being heard.
func TestOddUpdate(t *testing.T) {
	acknowledged, heard := make(chan bool), ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Offset int64 }
		switch err := json.NewDecoder(r.Body).Decode(&in); {
		case strings.HasSuffix(r.URL.Path, "/getMe"):
			io.WriteString(w, `{"ok":true,"result":{"username":"b"}}`)
		case err != nil || in.Offset == 0:
			io.WriteString(w, `{"ok":true,"result":[{"update_id":7,"message":{"message_id":"x","date":{},"from":[5]}},{"update_id":8,"message":
				{"message_id":2,"date":1700000000,"chat":{"id":3,"type":"private"},"from":{"id":5},"text":"hi"}},{"update_id":"9"}]}`)
		case in.Offset == 9:
			acknowledged <- true
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- channel(t, "1:secret-token", server.URL).Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}, Take: func(_ context.Context, m gateway.Message) error {
			heard += m.Text
			return nil
		}})
	}()
	<-acknowledged
	cancel()
	if err := <-ended; err != nil || heard != "hi" {
		t.Errorf("got %q and %v, want hi", heard, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []telegram.Config{
		{APIBase: "https://x"}, {BotToken: "abc", APIBase: "https://x"}, {BotToken: "1:a/b", APIBase: "https://x"}, {BotToken: "1:a", APIBase: "http://example.com"},
	} {
		if _, err := telegram.New(c); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}

func TestHTML(t *testing.T) {
	for in, want := range map[string]string{
		"a **b** *c* __d__ _e_ ~~f~~":  "a <b>b</b> <i>c</i> <b>d</b> <i>e</i> <s>f</s>",
		"**b *c* d**":                  "<b>b <i>c</i> d</b>",
		"2*3*4 snake_case_name 2 * 3":  "2*3*4 snake_case_name 2 * 3",
		"**open and *half":             "**open and *half",
		"`a < b` & ``c`d``":            "<code>a &lt; b</code> &amp; <code>c`d</code>",
		"# Title #":                    "<b>Title</b>",
		"- one\n  * two\n1. three":     "• one\n  • two\n1. three",
		"> q1\n> q2\nafter":            "<blockquote>q1\nq2</blockquote>\nafter",
		"```go\nif a < b {}\n```\nend": "<pre><code class=\"language-go\">if a &lt; b {}</code></pre>\nend",
		"```\nnever closed":            "<pre>never closed</pre>",
		"| a | b |\n|---|---|":         "<pre>| a | b |\n|---|---|</pre>",
		"[t](https://x.y/?a=1&b=2)":    `<a href="https://x.y/?a=1&amp;b=2">t</a>`,
		"[t](tg://user?id=1)":          "[t](tg://user?id=1)",
		`\*no\*`:                       "*no*",
		"mail a@b.de, @robin":          "mail a@b.de, @\u200brobin",
		"**@**robin [@](https://x)y":   "**@\u200b**robin <a href=\"https://x\">@\u200b</a>y",
	} {
		if got := telegram.HTML(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzHTML: the tags are balanced, whatever the text is.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{"**a*b**c*", "[a](https://b)[", "```x\n`` `", "> > **a\n> b**", "_*_*_*", "<b>&amp;</b>", "`", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !telegramtest.WellFormed(telegram.HTML(s)) {
			t.Errorf("%q becomes %q", s, telegram.HTML(s))
		}
	})
}
