package feishu

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// body is the content of a message: each type has some of these.
type body struct {
	Text     string `json:"text"`
	ImageKey string `json:"image_key"`
	FileKey  string `json:"file_key"`
	FileName string `json:"file_name"`

	Name      string   `json:"name"` // of a place
	Latitude  string   `json:"latitude"`
	Longitude string   `json:"longitude"`
	Topic     string   `json:"topic"` // of a vote
	Options   []string `json:"options"`
	Summary   any      `json:"summary"` // of an event a text, of a task a post
	Start     string   `json:"start_time"`
	End       string   `json:"end_time"`
}

// content returns the text and the files of a message. Both are empty when nothing in it can be said in words, such as of
// a sticker.
func content(kind, raw string) (string, []gateway.Attachment) {
	if kind == "post" || kind == "interactive" {
		return postContent(raw)
	}
	var body body
	if json.Unmarshal([]byte(raw), &body) != nil {
		return "", nil
	}
	switch kind {
	case "text":
		return body.Text, nil
	case "image":
		return "", files("image", "image:"+body.ImageKey, "image")
	case "file":
		return "", files("file", "file:"+body.FileKey, cmp.Or(body.FileName, "file"))
	case "audio":
		return "", files("audio", "file:"+body.FileKey, cmp.Or(body.FileName, "audio.opus"))
	case "media":
		return "", files("video", "file:"+body.FileKey, cmp.Or(body.FileName, "video.mp4"))
	}
	return body.words(kind), nil
}

// words is the text of what is neither text nor file.
func (b body) words(kind string) string {
	summary, _ := b.Summary.(string)
	switch kind {
	case "location":
		lat, err := strconv.ParseFloat(b.Latitude, 64)
		long, err2 := strconv.ParseFloat(b.Longitude, 64)
		if err == nil && err2 == nil {
			return gateway.PlaceText(lat, long, b.Name)
		}
	case "vote":
		return gateway.PollText(b.Topic, b.Options)
	case "share_calendar_event", "calendar", "general_calendar":
		return strings.TrimSpace("Event: " + summary + moment(b.Start) + moment(b.End))
	case "todo":
		data, err := json.Marshal(b.Summary)
		if err == nil {
			text, _ := postContent(string(data))
			return strings.TrimSpace("To do: " + text)
		}
	}
	return ""
}

// moment is a time in milliseconds as people read it, with a dash before it.
func moment(ms string) string {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return " – " + time.UnixMilli(n).UTC().Format("2006-01-02 15:04 MST")
}

func files(kind, key, name string) []gateway.Attachment {
	if strings.HasSuffix(key, ":") {
		return nil
	}
	return []gateway.Attachment{{Kind: kind, Key: key, Name: name}}
}

// post is the content of a rich text, which may be wrapped in an object by language.
type post struct {
	Title    string   `json:"title"`
	Content  [][]span `json:"content"`
	Elements [][]span `json:"elements"` // of a card
}

type span struct {
	Tag      string `json:"tag"`
	Text     string `json:"text"`
	Href     string `json:"href"`
	UserID   string `json:"user_id"`
	UserName string `json:"user_name"`
	ImageKey string `json:"image_key"`
	FileKey  string `json:"file_key"`
	Language string `json:"language"`
	Emoji    string `json:"emoji_type"`
}

func postContent(raw string) (string, []gateway.Attachment) {
	var p post
	if json.Unmarshal([]byte(raw), &p) != nil || p.Title == "" && p.Content == nil && p.Elements == nil {
		var by map[string]post
		if json.Unmarshal([]byte(raw), &by) != nil {
			return "", nil
		}
		for _, lang := range slices.Sorted(maps.Keys(by)) {
			if p = by[lang]; p.Content != nil {
				break
			}
		}
	}
	var lines []string
	var kept []gateway.Attachment
	if p.Title != "" {
		lines = append(lines, p.Title)
	}
	for _, row := range append(p.Content, p.Elements...) {
		var b strings.Builder
		for _, s := range row {
			b.WriteString(s.text())
			switch s.Tag {
			case "img":
				kept = append(kept, files("image", "image:"+s.ImageKey, "image")...)
			case "media":
				kept = append(kept, files("video", "file:"+s.FileKey, "video.mp4")...)
			}
		}
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "\n"), kept
}

func (s span) text() string {
	switch s.Tag {
	case "a":
		if s.Text == "" || s.Text == s.Href {
			return s.Href
		}
		return s.Text + " (" + s.Href + ")"
	case "at":
		if strings.HasPrefix(s.UserID, "@_") {
			return s.UserID + " " // a key of the list of mentions
		}
		return "@" + cmp.Or(s.UserName, "somebody") + " "
	case "code_block":
		return "```" + strings.ToLower(s.Language) + "\n" + strings.TrimRight(s.Text, "\n") + "\n```"
	case "hr":
		return "---"
	case "emotion":
		return ":" + s.Emoji + ":"
	}
	return s.Text
}
