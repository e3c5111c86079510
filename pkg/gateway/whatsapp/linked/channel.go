package linked

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Modes of the channel.
const (
	Bot      = "bot"       // others write to the account
	SelfChat = "self-chat" // its owner does, in the chat with oneself
)

// Channel is one account.
type Channel struct {
	phone  Phone
	mode   string
	self   Self
	linked bool
	recent recent
}

// New returns the channel of a phone, which need not be linked yet.
func New(phone Phone, mode string) (*Channel, error) {
	self, ok, err := phone.Self()
	if err != nil {
		return nil, err
	}
	return &Channel{phone: phone, mode: mode, self: self, linked: ok}, nil
}

// Account stands for the number, which is not in it: accounts are in logs.
func (c *Channel) Account() gateway.Account {
	if !c.linked {
		return gateway.Account{Platform: "whatsapp", ID: "unlinked"}
	}
	sum := sha256.Sum256([]byte(c.self.ID))
	return gateway.Account{Platform: "whatsapp", ID: "phone-" + hex.EncodeToString(sum[:4])}
}

// Number is that of the phone; "": none is linked.
func (c *Channel) Number() string { return c.self.Number() }

// CheckID wants a number with its country, with or without a plus, or an id as the platform writes it.
func (c *Channel) CheckID(id string) error {
	name, hidden := strings.CutSuffix(id, hiddenServer)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "+"), numberServer)
	if hidden && name != "" && strings.Trim(name, "0123456789") == "" || !hidden && whatsapp.IsNumber(name) {
		return nil
	}
	return errors.New("want a number with its country, such as +491701234567, or an id that ends with @lid")
}

// Limits are those of the app: it takes 65,536 characters, but folds long texts.
func (c *Channel) Limits() gateway.Limits {
	return gateway.Limits{Text: 8000, Measure: utf8.RuneCountInString, File: 100 << 20, Pause: time.Second, Working: 10 * time.Second}
}

// HowToLink is the command that links a phone.
const HowToLink = "openspace-gateway pair whatsapp"

// Run receives until ctx ends.
func (c *Channel) Run(ctx context.Context, h gateway.Host) error {
	if !c.linked {
		return gateway.Fatal("no phone is linked: run %q, then start again", HowToLink)
	}
	return c.phone.Run(ctx, Handler{State: h.State, Log: h.Log, Take: func(ctx context.Context, m Message) error {
		if !c.forUs(m) {
			return nil
		}
		return h.Take(ctx, c.message(m))
	}})
}

// Check tells whether a phone is linked. It asks nobody: the servers take the keys of a device from one connection only.
func (c *Channel) Check(context.Context) error {
	_, ok, err := c.phone.Self()
	if err == nil && !ok {
		return wire.Errorf(wire.Auth, "no phone is linked").WithHint(HowToLink)
	}
	return err
}

// forUs reports whether a message may be one to us: not what the account itself wrote, unless it is to itself and
// that is where we work. What we sent is never taken for one.
func (c *Channel) forUs(m Message) bool {
	if c.mode != SelfChat {
		return !m.FromMe
	}
	return m.FromMe && !m.Group && !ours(m.ID) && (c.self.Is(m.Chat.ID) || c.self.Is(m.Chat.Alt))
}

// message makes a message of the gateway.
func (c *Channel) message(m Message) gateway.Message {
	from := person(m.From)
	out := gateway.Message{
		ID: place(m.Group, m.ID, from.ID), From: from, Time: m.Time, Edited: m.Edited,
		Chat: gateway.Chat{ID: m.Chat.account(), Type: gateway.Direct, Name: m.Chat.Name},
	}
	if m.Group {
		out.Chat = gateway.Chat{ID: m.Chat.ID, Type: gateway.Group, Name: m.Chat.Name}
	}
	if q := m.Answers; q != nil && q.ID != "" {
		author := ""
		if !c.self.Is(q.From) {
			author = user(q.From)
		}
		out.ReplyTo, out.ReplyToText = place(m.Group, q.ID, author), q.Text
	}
	out.Text, out.Mentioned = c.mentions(m.Text, m.Mentions)
	if f := m.File; f != nil {
		out.Attachments = []gateway.Attachment{{Kind: f.Kind, Key: f.Key, Name: f.Name, MIME: f.MIME, Size: max(f.Size, 0)}}
	}
	c.recent.add(out.Chat.ID+" "+out.ID, seen{Quote{m.ID, m.From.ID, m.Text}, m.Expires})
	return out
}

// person is somebody under the number, if it is known; all other forms of it can be allowed too.
func person(p Party) gateway.Person {
	number, hidden := p.split()
	if number == "" {
		return gateway.Person{ID: p.ID, Name: p.Name}
	}
	out := gateway.Person{ID: user(number), Aliases: []string{"+" + user(number), number}, Name: p.Name}
	if hidden != "" {
		out.Aliases = append(out.Aliases, hidden)
	}
	return out
}

// mentions puts names in the place of numbers, leaves our own out, and tells whether it was there.
func (c *Channel) mentions(text string, of []Party) (string, bool) {
	mentioned := false
	for _, p := range of {
		at := "@" + user(p.ID)
		switch {
		case c.self.Is(p.ID) || c.self.Is(p.Alt):
			mentioned = true
			text = swap(swap(text, at+" ", ""), at, "")
		case p.Name != "":
			text = swap(text, at, "@"+p.Name)
		}
	}
	return strings.TrimSpace(text), mentioned
}

// swap replaces what ends where the number ends: @49 is no part of @491.
func swap(text, old, with string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, old)
		if !ok {
			return b.String() + text
		}
		b.WriteString(before)
		if after != "" && after[0] >= '0' && after[0] <= '9' && !strings.HasSuffix(old, " ") {
			b.WriteString(old)
		} else {
			b.WriteString(with)
		}
		text = after
	}
}

// Send sends a text or a file.
func (c *Channel) Send(ctx context.Context, out gateway.Out) (string, error) {
	o := Outgoing{ID: messageID(out.Key), Chat: out.Chat.ID, Text: whatsapp.Marks(out.Text)}
	if f := out.File; f != nil {
		o.Text, o.Name, o.MIME, o.Path = "", f.Name, f.MIME, f.Path
	}
	if out.ReplyTo != "" {
		o.Answers, o.Expires = c.quote(out)
	}
	if err := c.phone.Send(ctx, o); err != nil {
		return "", err
	}
	return o.ID, nil
}

// quote is what a message of ours answers. After a restart its text is not known any more; its author is: in a chat
// between two it is the other one, or the account itself, and in a group it stands in the id.
func (c *Channel) quote(out gateway.Out) (*Quote, uint32) {
	if s, ok := c.recent.get(out.Chat.ID + " " + out.ReplyTo); ok {
		return &s.Quote, s.expires
	}
	id, author, group := strings.Cut(out.ReplyTo, "/")
	switch {
	case !group:
		author = out.Chat.ID
	case !strings.Contains(author, "@"):
		author += numberServer
	}
	return &Quote{ID: id, From: author}, 0
}

// Working shows that we type. Nobody sees that in the chat with oneself.
func (c *Channel) Working(ctx context.Context, m gateway.Message, on bool) error {
	if c.mode == SelfChat {
		return nil
	}
	return c.phone.Typing(ctx, m.Chat.ID, on)
}

// Fetch streams a file of a message.
func (c *Channel) Fetch(ctx context.Context, _ gateway.Message, a gateway.Attachment, w io.Writer) error {
	return c.phone.Fetch(ctx, a.Key, a.Size, w)
}
