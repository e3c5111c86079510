package whatsapp

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// message is what somebody sent.
type message struct {
	ID    string `json:"id"`
	From  string `json:"from"`
	Group string `json:"group_id"`
	Time  string `json:"timestamp"`
	Type  string `json:"type"`
	Text  struct {
		Body string `json:"body"`
	} `json:"text"`
	Button struct {
		Text string `json:"text"`
	} `json:"button"`
	Interactive struct {
		Button choice `json:"button_reply"`
		List   choice `json:"list_reply"`
		Form   struct {
			Answers string `json:"response_json"`
		} `json:"nfm_reply"`
	} `json:"interactive"`
	Context struct {
		ID string `json:"id"`
	} `json:"context"`
	Location *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Name      string  `json:"name"`
		Address   string  `json:"address"`
	} `json:"location"`
	Contacts []card `json:"contacts"`
	Image    media  `json:"image"`
	Audio    media  `json:"audio"`
	Video    media  `json:"video"`
	Document media  `json:"document"`
	Sticker  media  `json:"sticker"`
}

// choice is what somebody chose of what was offered.
type choice struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (c choice) text() string { return cmp.Or(c.Title, c.ID) }

// card is somebody's card.
type card struct {
	Name struct {
		Formatted string `json:"formatted_name"`
	} `json:"name"`
	Phones []struct {
		Phone string `json:"phone"`
	} `json:"phones"`
	Emails []struct {
		Email string `json:"email"`
	} `json:"emails"`
}

type media struct {
	ID       string `json:"id"`
	MIME     string `json:"mime_type"`
	Caption  string `json:"caption"`
	FileName string `json:"filename"`
}

// notWritten are types of messages that nobody writes: they tell of something.
var notWritten = []string{"reaction", "system", "request_welcome", "revoke", "edit"}

// messages are those to one of our numbers that people wrote. What was written in a group is left out: it would be taken
// for a direct message, past the rules for groups, and its answer would go to one person.
func (n notice) messages(number string) (out []gateway.Message) {
	for _, e := range n.Entry {
		for _, change := range e.Changes {
			v := change.Value
			if v.Metadata.ID != number {
				continue
			}
			names := map[string]string{}
			for _, c := range v.Contacts {
				names[c.ID] = c.Profile.Name
			}
			for _, m := range v.Messages {
				if m.ID != "" && m.From != "" && m.Group == "" && !slices.Contains(notWritten, m.Type) {
					out = append(out, m.convert(names[m.From]))
				}
			}
		}
	}
	return out
}

func (m message) convert(name string) gateway.Message {
	out := gateway.Message{
		ID: m.ID, Chat: gateway.Chat{ID: m.From, Type: gateway.Direct, Name: name}, Text: m.words(), ReplyTo: m.Context.ID,
		From: gateway.Person{ID: m.From, Aliases: []string{"+" + m.From}, Name: name},
	}
	if n, err := strconv.ParseInt(m.Time, 10, 64); err == nil && n > 0 {
		out.Time = time.Unix(n, 0)
	}
	for _, f := range []struct {
		media
		kind, name string
	}{{m.Image, "image", "image.jpg"}, {m.Audio, "audio", "audio.ogg"}, {m.Video, "video", "video.mp4"}, {m.Document, "file", "file"}, {m.Sticker, "image", "sticker.webp"}} {
		if f.ID != "" {
			out.Text = cmp.Or(out.Text, f.Caption)
			out.Attachments = append(out.Attachments, gateway.Attachment{Kind: f.kind, Key: f.ID, Name: cmp.Or(f.FileName, f.name), MIME: f.MIME})
		}
	}
	return out
}

// words are the text of a message, or what says the same.
func (m message) words() string {
	text := cmp.Or(m.Text.Body, m.Button.Text, m.Interactive.Button.text(), m.Interactive.List.text(), m.Interactive.Form.Answers)
	if l := m.Location; text == "" && l != nil {
		text = gateway.PlaceText(l.Latitude, l.Longitude, l.Name, l.Address)
	}
	for _, c := range m.Contacts {
		var about []string
		for _, p := range c.Phones {
			about = append(about, p.Phone)
		}
		for _, e := range c.Emails {
			about = append(about, e.Email)
		}
		if line := gateway.ContactText(c.Name.Formatted, about...); text == "" {
			text = line
		} else if line != "" {
			text += "\n" + line
		}
	}
	return text
}
