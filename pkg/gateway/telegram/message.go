package telegram

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

type update struct {
	ID     int64    `json:"update_id"`
	New    *message `json:"message"`
	Edited *message `json:"edited_message"`
}

type message struct {
	ID     int64 `json:"message_id"`
	Thread int64 `json:"message_thread_id"`
	Topic  bool  `json:"is_topic_message"`
	Date   int64 `json:"date"`
	From   *user `json:"from"`
	Chat   struct {
		ID    int64  `json:"id"`
		Type  string `json:"type"`
		Title string `json:"title"`
	} `json:"chat"`
	ReplyTo         *message  `json:"reply_to_message"`
	Text            string    `json:"text"`
	Caption         string    `json:"caption"`
	Entities        []entity  `json:"entities"`
	CaptionEntities []entity  `json:"caption_entities"`
	Document        *document `json:"document"`
	Audio           *document `json:"audio"`
	Voice           *document `json:"voice"`
	Video           *document `json:"video"`
	VideoNote       *document `json:"video_note"`
	Photo           []photo   `json:"photo"`
	Forwarded       bool      `json:"is_automatic_forward"` // from a channel into its group: nobody wrote it there
	content
}

type user struct {
	ID        int64  `json:"id"`
	Bot       bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// entity is a part of a text that means something, in UTF-16 units.
type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	User   *user  `json:"user"`
}

type document struct {
	FileID string `json:"file_id"`
	Name   string `json:"file_name"`
	MIME   string `json:"mime_type"`
	Size   int64  `json:"file_size"`
}

type photo struct {
	FileID string `json:"file_id"`
	Width  int    `json:"width"`
	Size   int64  `json:"file_size"`
}

// message makes a Message of an update; false: nobody wrote it, or it was a bot.
func (c *Channel) message(u update) (gateway.Message, bool) {
	m := cmp.Or(u.New, u.Edited)
	if m == nil || m.ID == 0 || m.Chat.ID == 0 || m.Chat.Type == "channel" || m.Forwarded || !c.wrote(m.From) {
		return gateway.Message{}, false
	}
	out := gateway.Message{
		ID: strconv.FormatInt(m.ID, 10), Time: time.Unix(m.Date, 0), Edited: u.New == nil, Attachments: m.attachments(),
		Chat: gateway.Chat{ID: strconv.FormatInt(m.Chat.ID, 10), Type: gateway.Group, Name: m.Chat.Title},
		From: gateway.Person{ID: strconv.FormatInt(m.From.ID, 10), Name: strings.TrimSpace(m.From.FirstName + " " + m.From.LastName)},
	}
	if m.Chat.Type == "private" {
		out.Chat.Type = gateway.Direct
	}
	if m.Topic {
		out.Chat.Thread = strconv.FormatInt(m.Thread, 10)
	}
	if r := m.ReplyTo; r != nil && !(m.Topic && r.ID == m.Thread) { // in a topic, everything answers its first message
		out.ReplyTo, out.ReplyToText = strconv.FormatInt(r.ID, 10), cmp.Or(r.Text, r.Caption)
	}
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	if out.Text, out.Mentioned = c.mentions(text, entities); out.Text == "" {
		out.Text = m.content.text()
	}
	return out, text != "" || len(out.Attachments) > 0 || m.content.sent()
}

// wrote reports whether somebody is a person who can write to us.
func (c *Channel) wrote(u *user) bool {
	return u != nil && u.ID != 0 && !u.Bot && strconv.FormatInt(u.ID, 10) != c.id
}

// mentions tells whether we are mentioned, and leaves our own name out of the text.
func (c *Channel) mentions(text string, entities []entity) (string, bool) {
	raw := utf16.Encode([]rune(text))
	entities = slices.Clone(entities)
	slices.SortFunc(entities, func(a, b entity) int { return b.Offset - a.Offset }) // from the end, so that offsets stay
	mentioned := false
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset > len(raw)-e.Length {
			continue
		}
		what := string(utf16.Decode(raw[e.Offset : e.Offset+e.Length]))
		switch {
		case e.Type == "mention" && c.isMe(what), e.Type == "text_mention" && e.User != nil && strconv.FormatInt(e.User.ID, 10) == c.id:
			mentioned = true
			end := e.Offset + e.Length
			if end < len(raw) && raw[end] == ' ' {
				end++
			}
			raw = slices.Delete(raw, e.Offset, end)
		case e.Type == "bot_command":
			if _, name, ok := strings.Cut(what, "@"); ok && c.isMe("@"+name) {
				mentioned = true
			}
		}
	}
	return strings.TrimSpace(string(utf16.Decode(raw))), mentioned
}

func (c *Channel) isMe(mention string) bool {
	name := c.username()
	return name != "" && strings.EqualFold(mention, "@"+name)
}

func (m *message) attachments() (out []gateway.Attachment) {
	for _, d := range []struct {
		*document
		kind, name string
	}{{m.Document, "file", "file"}, {m.Audio, "audio", "audio.mp3"}, {m.Voice, "audio", "voice.ogg"}, {m.Video, "video", "video.mp4"}, {m.VideoNote, "video", "video.mp4"}} {
		if d.document != nil && d.FileID != "" {
			out = append(out, gateway.Attachment{Kind: d.kind, Key: d.FileID, Name: cmp.Or(d.Name, d.name), MIME: d.MIME, Size: d.Size})
		}
	}
	if len(m.Photo) > 0 {
		if p := slices.MaxFunc(m.Photo, func(a, b photo) int { return cmp.Compare(a.Width, b.Width) }); p.FileID != "" {
			out = append(out, gateway.Attachment{Kind: "image", Key: p.FileID, Name: "photo.jpg", MIME: "image/jpeg", Size: p.Size})
		}
	}
	return out
}
