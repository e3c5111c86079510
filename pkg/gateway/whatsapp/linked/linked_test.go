package linked_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked/linkedtest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func channel(t *testing.T, p linked.Phone, mode string) *linked.Channel {
	t.Helper()
	c, err := linked.New(p, mode)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConforms(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Fixture {
		p := &linkedtest.Phone{}
		return gatewaytest.Fixture{Channel: channel(t, p, linked.Bot), Platform: p, Redelivers: true}
	})
}

// deliver delivers messages to a channel of a mode and returns what is taken.
func deliver(t *testing.T, mode string, messages ...linked.Message) (taken []gateway.Message) {
	t.Helper()
	p := &linkedtest.Phone{}
	c := channel(t, p, mode)
	ctx, cancel := context.WithCancel(t.Context())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, gateway.Host{Log: slog.New(slog.DiscardHandler), State: func(bool, string) { close(up) }, Take: func(_ context.Context, m gateway.Message) error {
			taken = append(taken, m)
			return nil
		}})
	}()
	<-up
	for _, m := range messages {
		p.Deliver(m)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return taken
}

// CG-09: one person under a number and a hidden id is one person in one chat, and can be allowed by either.
func TestOnePerson(t *testing.T) {
	number, hidden := "491701234567@s.whatsapp.net", "99887766@lid"
	byNumber, byHidden := linked.Party{ID: number, Alt: hidden, Name: "Ann"}, linked.Party{ID: hidden, Alt: number, Name: "Ann"}
	got := deliver(t, linked.Bot, linked.Message{ID: "A", Chat: byNumber, From: byNumber, Text: "1"}, linked.Message{ID: "B", Chat: byHidden, From: byHidden, Text: "2"}, linked.Message{ID: "C", Chat: linked.Party{ID: hidden}, From: linked.Party{ID: hidden}, Text: "3"})
	if len(got) != 3 {
		t.Fatalf("got %d messages, want 3", len(got))
	}
	for _, m := range got[:2] {
		all := append([]string{m.From.ID}, m.From.Aliases...)
		for _, want := range []string{"491701234567", "+491701234567", number, hidden} {
			if !slices.Contains(all, want) {
				t.Errorf("got %v, want %q among them", all, want)
			}
		}
		if m.Chat.ID != number || m.From.ID != "491701234567" {
			t.Errorf("got chat %q and person %q, want those with the number", m.Chat.ID, m.From.ID)
		}
	}
	if got[2].From.ID != hidden || len(got[2].From.Aliases) > 0 || slices.Contains(got[2].From.Aliases, "99887766") {
		t.Errorf("got %+v, want only the hidden id: its digits are no number", got[2].From)
	}
}

// CG-07: the owner's own messages count where the channel works in the chat with oneself, and there only; what we sent
// never does, whoever delivers it.
func TestOwnMessages(t *testing.T) {
	p := &linkedtest.Phone{}
	sent, err := channel(t, p, linked.SelfChat).Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: linkedtest.Self.ID}, Text: "answer", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	me, other := linked.Party{ID: linkedtest.Self.LID, Alt: linkedtest.Self.ID}, linkedtest.Someone("ann")
	all := []linked.Message{
		{ID: "AC1", Chat: me, From: me, FromMe: true, Text: "to myself"},
		{ID: "3EB0C767D097B7C9E3A1B2", Chat: me, From: me, FromMe: true, Text: "to myself, from the web"},
		{ID: sent, Chat: me, From: me, FromMe: true, Text: "answer"},
		{ID: "AC2", Chat: other, From: me, FromMe: true, Text: "to another"},
		{ID: "AC3", Chat: linked.Party{ID: "1@g.us"}, Group: true, From: me, FromMe: true, Text: "to a group"},
		{ID: "AC4", Chat: other, From: other, Text: "from another"},
	}
	for mode, want := range map[string][]string{linked.SelfChat: {"to myself", "to myself, from the web"}, linked.Bot: {"from another"}} {
		var got []string
		for _, m := range deliver(t, mode, all...) {
			got = append(got, m.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", mode, got, want)
		}
	}
}

// The id of a message comes from its key alone: it is the same after a crash, and another for another key.
func TestMessageIDs(t *testing.T) {
	id := func(key string) string {
		got, err := channel(t, &linkedtest.Phone{}, linked.Bot).Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "1@s.whatsapp.net"}, Text: "x", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if a, again, b := id("a"), id("a"), id("b"); a != again || a == b || len(a) != 32 || !strings.HasPrefix(a, "3EB0") || strings.ToUpper(a) != a {
		t.Errorf("got %q, %q and %q", a, again, b)
	}
}

func TestMentionsAndAnswers(t *testing.T) {
	group := linked.Party{ID: "120363@g.us"}
	ann, self := linkedtest.Someone("ann"), linkedtest.Self
	annID := strings.TrimSuffix(ann.Alt, "@s.whatsapp.net")
	for _, tt := range []struct {
		name      string
		m         linked.Message
		text      string
		mentioned bool
		replyTo   string
	}{
		{"by hidden id", linked.Message{Text: "@77001 do it", Mentions: []linked.Party{{ID: self.LID}}}, "do it", true, ""},
		{"by number", linked.Message{Text: "do it, @4915550100", Mentions: []linked.Party{{ID: self.ID}}}, "do it,", true, ""},
		{"alone", linked.Message{Text: "@77001", Mentions: []linked.Party{{ID: self.LID}}}, "", true, ""},
		{"written only", linked.Message{Text: "@77001 do it"}, "@77001 do it", false, ""},
		{"a longer number", linked.Message{Text: "@770015 and @77001", Mentions: []linked.Party{{ID: self.LID}}}, "@770015 and", true, ""},
		{"somebody without a name", linked.Message{Text: "@5 x", Mentions: []linked.Party{{ID: "5@lid"}}}, "@5 x", false, ""},
		{"everybody", linked.Message{Text: "@all x"}, "@all x", false, ""},
		{"answers us", linked.Message{Text: "x", Answers: &linked.Quote{ID: "3EB01", From: self.LID}}, "x", false, "3EB01"},
		{"answers another", linked.Message{Text: "x", Answers: &linked.Quote{ID: "AC7", From: ann.Alt, Text: "q"}}, "x", false, "AC7/" + annID},
	} {
		tt.m.ID, tt.m.Chat, tt.m.Group, tt.m.From = "AC1", group, true, ann
		got := deliver(t, linked.Bot, tt.m)
		if len(got) != 1 || got[0].Text != tt.text || got[0].Mentioned != tt.mentioned || got[0].ReplyTo != tt.replyTo || got[0].ID != "AC1/"+annID {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}

// keeper keeps what is sent.
type keeper struct {
	linkedtest.Phone
	sent []linked.Outgoing
}

func (k *keeper) Send(_ context.Context, o linked.Outgoing) error {
	k.sent = append(k.sent, o)
	return nil
}

// What an answer quotes is known from the message, and after a restart from its id.
func TestQuotes(t *testing.T) {
	k := &keeper{}
	c := channel(t, k, linked.Bot)
	ctx, cancel := context.WithCancel(t.Context())
	up, ended := make(chan struct{}), make(chan error, 1)
	var got gateway.Message
	go func() {
		ended <- c.Run(ctx, gateway.Host{State: func(bool, string) { close(up) }, Take: func(_ context.Context, m gateway.Message) error { got = m; return nil }})
	}()
	<-up
	ann := linkedtest.Someone("ann")
	k.Deliver(linked.Message{ID: "AC1", Group: true, Chat: linked.Party{ID: "1@g.us"}, From: ann, Text: strings.Repeat("ü", 500), Expires: 86400})
	cancel()
	<-ended
	for _, c := range []*linked.Channel{c, channel(t, k, linked.Bot)} {
		if _, err := c.Send(t.Context(), gateway.Out{Chat: got.Chat, ReplyTo: got.ID, Text: "**a**", Key: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Send(t.Context(), gateway.Out{Chat: gateway.Chat{ID: "5@lid"}, ReplyTo: "AC9", Text: "a", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []linked.Quote{{ID: "AC1", From: ann.ID, Text: strings.Repeat("ü", 150) + "…"}, {ID: "AC1", From: ann.Alt}, {ID: "AC9", From: "5@lid"}} {
		if q := k.sent[i].Answers; q == nil || *q != want {
			t.Errorf("got %+v, want %+v", q, want)
		}
	}
	if k.sent[0].Expires != 86400 || k.sent[0].Text != "*a*" {
		t.Errorf("got %+v, want a text in the platform's marks that disappears as the others do", k.sent[0])
	}
}

// The number of the account is for the owner's eyes: what stands for it in logs and files is something else.
func TestAccount(t *testing.T) {
	c, again := channel(t, &linkedtest.Phone{}, linked.Bot), channel(t, &linkedtest.Phone{}, linked.SelfChat)
	if a := c.Account(); a != again.Account() || a.Platform != "whatsapp" || !strings.HasPrefix(a.ID, "phone-") || strings.Contains(a.ID, c.Number()) || c.Number() != "4915550100" {
		t.Errorf("got %v of %s", a, c.Number())
	}
	for id, good := range map[string]bool{"491701234567": true, "+491701234567": true, "491701234567@s.whatsapp.net": true, "77001@lid": true, "ann@lid": false, "@lid": false, "0170": false, "ann": false} {
		if err := c.CheckID(id); (err == nil) != good {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

func TestNotLinked(t *testing.T) {
	c := channel(t, &linkedtest.Phone{Unlinked: true}, linked.Bot)
	if err := c.Run(t.Context(), gateway.Host{}); !errors.Is(err, gateway.ErrFatal) || !strings.Contains(err.Error(), linked.HowToLink) {
		t.Errorf("got %v, want ErrFatal that says how to link", err)
	}
	if err := c.Check(t.Context()); wire.CodeOf(err) != wire.Auth {
		t.Errorf("got %v, want the code %s", err, wire.Auth)
	}
	if err := channel(t, &linkedtest.Phone{}, linked.Bot).Check(t.Context()); err != nil {
		t.Errorf("got %v of a phone that is linked", err)
	}
}
