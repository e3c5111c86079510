package slack

import (
	"cmp"
	"context"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// event is a message or a mention. Both are sent for one message; they have the same ts.
type event struct {
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Bot      string `json:"bot_id"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	Thread   string `json:"thread_ts"`
	Channel  string `json:"channel"`
	ChatType string `json:"channel_type"`
	Message  *event `json:"message"` // the new state, of message_changed
	Files    []file `json:"files"`
	Shared   []struct {
		Share bool   `json:"is_share"` // the others are previews of links
		From  string `json:"author_name"`
		Text  string `json:"text"`
	} `json:"attachments"`
}

type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mimetype"`
	Size int64  `json:"size"`
	URL  string `json:"url_private_download"` // "" for what is kept elsewhere, or gone
	Link string `json:"url_private"`
}

// subtypes are those of messages that people write. All others are notes of the platform, such as that somebody joined.
var subtypes = []string{"", "file_share", "thread_broadcast", "me_message"}

// message makes a Message of an event; false: nobody wrote it, or it was a bot.
func (c *Channel) message(ctx context.Context, e event) (gateway.Message, bool) {
	edited := e.Subtype == "message_changed" && e.Message != nil
	if edited {
		e.Message.Channel, e.Message.ChatType, e.Message.Type, e.Message.Subtype = e.Channel, e.ChatType, e.Type, ""
		e = *e.Message
	}
	bot := c.botID()
	if e.Type != "message" && e.Type != "app_mention" || !slices.Contains(subtypes, e.Subtype) ||
		e.User == "" || e.Bot != "" || e.User == bot || e.TS == "" || e.Channel == "" {
		return gateway.Message{}, false
	}
	m := gateway.Message{
		ID: e.TS, Chat: gateway.Chat{ID: e.Channel, Type: gateway.Group}, From: gateway.Person{ID: e.User, Name: c.name(ctx, e.User)}, Edited: edited,
		Time: timeOf(e.TS), Mentioned: strings.Contains(e.Text, "<@"+bot+">"),
	}
	if e.Thread != "" && e.Thread != e.TS {
		m.ReplyTo, m.Chat.Thread = e.Thread, e.Thread
	}
	if e.ChatType == "im" {
		m.Chat.Type = gateway.Direct
	} else {
		m.Chat.Thread = cmp.Or(m.Chat.Thread, e.TS)
	}
	lines := []string{c.plain(ctx, e.Text)}
	for _, s := range e.Shared {
		if text := c.plain(ctx, s.Text); s.Share && text != "" {
			lines = append(lines, cmp.Or(s.From, "somebody")+" wrote: "+text)
		}
	}
	for _, f := range e.Files {
		switch {
		case f.URL != "":
			m.Attachments = append(m.Attachments, f.attachment())
		case f.Link != "":
			lines = append(lines, cmp.Or(f.Name, "file")+" ("+f.Link+")")
		}
	}
	m.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	return m, true
}

func (f file) attachment() gateway.Attachment {
	kind, _, _ := strings.Cut(f.MIME, "/")
	if kind != "image" && kind != "audio" && kind != "video" {
		kind = "file"
	}
	return gateway.Attachment{Kind: kind, Key: f.URL, Name: cmp.Or(f.Name, "file"), MIME: f.MIME, Size: f.Size}
}

// timeOf is the time in a ts, such as 1700000000.000100.
func timeOf(ts string) time.Time {
	s, err := strconv.ParseFloat(ts, 64)
	if err != nil || s <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000))
}

var special = regexp.MustCompile(`<([^<>]*)> ?`)

// plain is the text as people see it: names for ids, ours left out.
func (c *Channel) plain(ctx context.Context, text string) string {
	bot := c.botID()
	text = special.ReplaceAllStringFunc(text, func(s string) string {
		body, space := strings.TrimSuffix(strings.TrimSuffix(s, " ")[1:], ">"), s[len(strings.TrimSuffix(s, " ")):]
		what, label, _ := strings.Cut(body, "|")
		switch {
		case what == "@"+bot:
			return ""
		case strings.HasPrefix(what, "@"):
			return "@" + cmp.Or(label, c.name(ctx, what[1:]), "somebody") + space
		case strings.HasPrefix(what, "#"):
			return "#" + cmp.Or(label, "channel") + space
		case strings.HasPrefix(what, "!"):
			return "@" + cmp.Or(label, what[1:]) + space
		case label != "" && label != what:
			return label + " (" + what + ")" + space
		}
		return what + space
	})
	return strings.TrimSpace(html.UnescapeString(text))
}

// nameTime bounds the asking for a name: the message must be acknowledged within three seconds.
const nameTime = time.Second

// name is what a user is called, "" when that is not known.
func (c *Channel) name(ctx context.Context, id string) string {
	c.mu.Lock()
	name, ok := c.names[id]
	c.mu.Unlock()
	if ok {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	var got struct {
		User struct {
			Name    string `json:"name"`
			Profile struct {
				Display string `json:"display_name"`
			} `json:"profile"`
		} `json:"user"`
	}
	if err := c.call(ctx, c.config.BotToken, "users.info", map[string]any{"user": id}, &got); err != nil {
		return ""
	}
	name = cmp.Or(got.User.Profile.Display, got.User.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) > 10_000 {
		clear(c.names)
	}
	c.names[id] = name
	return name
}
