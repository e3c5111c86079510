package mcpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/tools"
)

const (
	maxItems   = 1000      // of one result
	maxPicture = 20 << 20  // bytes of one picture
	maxAll     = 100 << 20 // bytes of all pictures of one result
)

// answer is what a call of a tool came to.
type answer struct {
	text     string
	pictures []tools.Image
	failed   bool
}

// item is one part of a result, of any kind.
type item struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	About    string `json:"description"`
	Resource *struct {
		URI  string  `json:"uri"`
		MIME string  `json:"mimeType"`
		Text *string `json:"text"`
		Blob string  `json:"blob"`
	} `json:"resource"`
}

// parseAnswer reads the result of a call. A part that cannot be read is shown as it is.
func parseAnswer(raw json.RawMessage) (a answer, err error) {
	if a, ok := plainAnswer(raw); ok {
		return a, nil
	}
	return anyAnswer(raw)
}

// plainAnswer reads a result of nothing but texts. Most are, and each time that a large one is looked at costs.
func plainAnswer(raw json.RawMessage) (a answer, ok bool) {
	var got struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		Failed     bool            `json:"isError"`
		Old        json.RawMessage `json:"toolResult"`
	}
	if json.Unmarshal(raw, &got) != nil || len(got.Content) == 0 || len(got.Content) > maxItems || len(got.Structured)+len(got.Old) > 0 {
		return a, false
	}
	texts := make([]string, len(got.Content))
	for i, part := range got.Content {
		if part.Type != "text" {
			return a, false
		}
		texts[i] = part.Text
	}
	return answer{text: strings.Join(texts, "\n"), failed: got.Failed}, true
}

// anyAnswer reads a result of any kind.
func anyAnswer(raw json.RawMessage) (a answer, err error) {
	var got struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		Failed     json.RawMessage `json:"isError"`
		Old        json.RawMessage `json:"toolResult"` // of the first version of the protocol
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return a, errors.New("the server answered with something that is no result of a tool")
	}
	a.failed = string(got.Failed) == "true"
	var parts []json.RawMessage
	if json.Unmarshal(got.Content, &parts) != nil && len(got.Content) > 0 {
		parts = []json.RawMessage{got.Content}
	}
	var texts []string
	for i, part := range parts {
		if i == maxItems {
			texts = append(texts, fmt.Sprintf("[%d more parts are left out]", len(parts)-i))
			break
		}
		if text := a.add(part); text != "" {
			texts = append(texts, text)
		}
	}
	for _, data := range []json.RawMessage{got.Structured, got.Old} {
		if text := structured(data, texts); text != "" {
			texts = append(texts, text)
		}
	}
	a.text = strings.Join(texts, "\n")
	return a, nil
}

// add takes one part and returns what is said of it in the text.
func (a *answer) add(raw json.RawMessage) string {
	var p item
	if json.Unmarshal(raw, &p) != nil {
		return string(raw)
	}
	switch p.Type {
	case "text":
		return p.Text
	case "image":
		return a.picture(p.Data, p.MIME, "a picture")
	case "audio":
		return fmt.Sprintf("[a sound: %s, %d bytes, which cannot be heard here]", oneLine(p.MIME, 80), base64.StdEncoding.DecodedLen(len(p.Data)))
	case "resource_link":
		return strings.TrimRight(fmt.Sprintf("[resource %s: %s] %s", oneLine(p.Name, 200), oneLine(p.URI, 500), oneLine(p.About, 500)), " ")
	case "resource":
		if r := p.Resource; r != nil {
			switch about := oneLine(r.URI, 500); {
			case r.Text != nil:
				return "[resource " + about + "]\n" + *r.Text
			case strings.HasPrefix(r.MIME, "image/"):
				return "[resource " + about + "]" + a.picture(r.Blob, r.MIME, "")
			default:
				return fmt.Sprintf("[resource %s: %s, %d bytes that are no text]", about, oneLine(r.MIME, 80), base64.StdEncoding.DecodedLen(len(r.Blob)))
			}
		}
	}
	return string(raw)
}

// picture takes a picture, or says why it cannot.
func (a *answer) picture(data, mime, about string) string {
	total := 0
	for _, p := range a.pictures {
		total += len(p.Data)
	}
	size := base64.StdEncoding.DecodedLen(len(data))
	if size > maxPicture || total+size > maxAll {
		return fmt.Sprintf("[%s of %d bytes, which is too large]", about, size)
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.Map(noSpace, data))
	if err != nil || len(decoded) == 0 {
		return fmt.Sprintf("[%s that cannot be read]", about)
	}
	a.pictures = append(a.pictures, tools.Image{MIME: mime, Data: decoded})
	return ""
}

func noSpace(r rune) rune {
	if r == '\n' || r == '\r' || r == ' ' {
		return -1
	}
	return r
}

// structured is data as text, unless a text of the same result is that already, as the protocol asks of servers.
func structured(data json.RawMessage, texts []string) string {
	if len(data) == 0 || string(data) == "null" {
		return ""
	}
	var want, text bytes.Buffer
	if json.Compact(&want, data) != nil || json.Indent(&text, data, "", " ") != nil {
		return string(data)
	}
	for _, t := range texts {
		var is bytes.Buffer
		if json.Compact(&is, []byte(t)) == nil && same(is.Bytes(), want.Bytes()) {
			return ""
		}
	}
	return text.String()
}

// same compares JSON without regard to the order of members.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, _ := json.Marshal(x)
	second, _ := json.Marshal(y)
	return bytes.Equal(first, second)
}
