package feishu

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

type takeFunc = func(context.Context, gateway.Message) error

// event is im.message.receive_v1.
type event struct {
	Sender struct {
		ID   ids    `json:"sender_id"`
		Type string `json:"sender_type"`
	} `json:"sender"`
	Message struct {
		ID       string    `json:"message_id"`
		Chat     string    `json:"chat_id"`
		ChatType string    `json:"chat_type"`
		Type     string    `json:"message_type"`
		Content  string    `json:"content"`
		Parent   string    `json:"parent_id"`
		Thread   string    `json:"thread_id"`
		Created  string    `json:"create_time"`
		Mentions []mention `json:"mentions"`
	} `json:"message"`
}

type ids struct {
	Open  string `json:"open_id"`
	User  string `json:"user_id"`
	Union string `json:"union_id"`
}

type mention struct {
	Key  string `json:"key"`
	ID   ids    `json:"id"`
	Name string `json:"name"`
}

// handle hands on the message of an event. Other events, and messages that nobody wrote, are nothing to us.
func (c *Channel) handle(ctx context.Context, e envelope, take takeFunc) error {
	if e.Header.EventType != "im.message.receive_v1" {
		return nil
	}
	var ev event
	if err := json.Unmarshal(e.Event, &ev); err != nil {
		return nil // it would be delivered again for hours and be no better
	}
	m, ok := c.message(ev)
	if !ok {
		return nil
	}
	return take(ctx, m)
}

// message makes a Message of an event; false: nobody wrote it, or it was ourselves.
func (c *Channel) message(ev event) (gateway.Message, bool) {
	m, bot := ev.Message, c.botID()
	id := cmp.Or(ev.Sender.ID.Open, ev.Sender.ID.User, ev.Sender.ID.Union)
	if m.ID == "" || m.Chat == "" || id == "" || ev.Sender.Type != "user" || id == bot || m.Type == "system" {
		return gateway.Message{}, false
	}
	out := gateway.Message{
		ID: m.ID, Chat: gateway.Chat{ID: m.Chat, Type: gateway.Group, Thread: m.Thread}, From: gateway.Person{ID: id}, ReplyTo: m.Parent,
	}
	if m.ChatType == "p2p" {
		out.Chat.Type = gateway.Direct
	}
	for _, alias := range []string{ev.Sender.ID.User, ev.Sender.ID.Union} {
		if alias != "" && alias != id {
			out.From.Aliases = append(out.From.Aliases, alias)
		}
	}
	if ms, err := strconv.ParseInt(m.Created, 10, 64); err == nil && ms > 0 {
		out.Time = time.UnixMilli(ms)
	}
	for _, who := range m.Mentions {
		out.Mentioned = out.Mentioned || bot != "" && who.ID.Open == bot
	}
	out.Text, out.Attachments = content(m.Type, m.Content)
	out.Text = named(out.Text, m.Mentions, bot)
	return out, true
}

// named puts names in the place of @_user_1 and the like, and leaves our own out.
func named(text string, mentions []mention, bot string) string {
	mentions = slices.Clone(mentions)
	slices.SortFunc(mentions, func(a, b mention) int { return len(b.Key) - len(a.Key) }) // @_user_10 before @_user_1
	var pairs []string
	for _, m := range mentions {
		switch {
		case m.Key == "":
		case bot != "" && m.ID.Open == bot:
			pairs = append(pairs, m.Key+" ", "", m.Key, "")
		default:
			pairs = append(pairs, m.Key, "@"+cmp.Or(m.Name, "somebody"))
		}
	}
	pairs = append(pairs, "@_all", "@all")
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(text))
}
