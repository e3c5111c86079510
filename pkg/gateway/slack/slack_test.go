package slack_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/slack"
	"github.com/openspace-dev/openspace/pkg/gateway/slack/slacktest"
)

func channel(t *testing.T, url, token string) *slack.Channel {
	t.Helper()
	c := slack.DefaultConfig()
	c.AppToken, c.BotToken, c.APIBase = slacktest.AppToken, token, url
	ch, err := slack.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func TestConforms(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
		s := slacktest.New()
		t.Cleanup(s.Close)
		return gatewaytest.Fixture{Channel: channel(t, s.URL, slacktest.BotToken), Platform: s, Redelivers: true, NoReplies: true, Kinds: slacktest.Kinds()}
	})
}

// In a channel each message begins a thread; the answer goes there.
func TestThreads(t *testing.T) {
	s := slacktest.New()
	defer s.Close()
	ch := channel(t, s.URL, slacktest.BotToken)
	got := make(chan gateway.Message, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- ch.Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}, Take: func(_ context.Context, m gateway.Message) error { got <- m; return nil }})
	}()
	first := s.Say(gatewaytest.Saying{Chat: "g1", Group: true, Me: "ann", Text: "one"})
	m := <-got
	if m.Chat.Thread != first || m.ReplyTo != "" || m.From.Name != "ann" {
		t.Errorf("got %+v, want the thread %q", m, first)
	}
	if _, err := ch.Send(ctx, gateway.Out{Chat: m.Chat, ReplyTo: m.ID, Text: "answer", Key: "k"}); err != nil || s.Shown()[0].ReplyTo != first {
		t.Errorf("got %+v, %v, want an answer in the thread", s.Shown(), err)
	}
	s.Say(gatewaytest.Saying{Chat: "g1", Group: true, Me: "ann", Text: "two", ReplyTo: first})
	if m := <-got; m.Chat.Thread != first {
		t.Errorf("got thread %q, want %q", m.Chat.Thread, first)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWrongToken(t *testing.T) {
	s := slacktest.New()
	defer s.Close()
	err := channel(t, s.URL, "xoxb-wrong-token").Run(t.Context(), gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) {}})
	if !errors.Is(err, gateway.ErrFatal) || strings.Contains(err.Error(), "wrong-token") {
		t.Errorf("got %v, want ErrFatal without the token", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []slack.Config{
		{BotToken: "xoxb-1", APIBase: "https://x"}, {AppToken: "xapp-1", BotToken: "xoxb-1", APIBase: "https://x"},
		{AppToken: slacktest.AppToken, BotToken: "xoxp-1", APIBase: "https://x"}, {AppToken: slacktest.AppToken, BotToken: "xoxb-1", APIBase: "http://example.com"},
	} {
		if _, err := slack.New(c); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}

func TestMarks(t *testing.T) {
	for in, want := range map[string]string{
		"**b** *i* ~~s~~ `**c** <`": "*b* _i_ ~s~ `**c** &lt;`",
		"# Title":                   "*Title*",
		"- one\n> quote":            "• one\n> quote",
		"[t](https://x/?a=1&b=2)":   "<https://x/?a=1&amp;b=2|t>",
		"<!here> <@U1> [x|y](a)":    "&lt;!here&gt; &lt;@U1&gt; [x|y](a)",
		"```go\na < b\n```\n**c**":  "```\na &lt; b\n```\n*c*",
	} {
		if got := slack.Marks(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
