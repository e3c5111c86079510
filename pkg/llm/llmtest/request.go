package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is what a client sent.
type Request struct {
	Header   http.Header
	Body     []byte
	Model    string
	Stream   bool
	Messages []Message
	Tools    []string // names
	Fields   map[string]json.RawMessage
}

// Message is a message of a request; Text has the text of all its parts.
type Message struct {
	Role, Text string
	Calls      []string // names of tool calls
	Fields     map[string]json.RawMessage
}

// Last returns the text of the last message.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Turn returns how many messages of the assistant there are.
func (r Request) Turn() (n int) {
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// marked tells whether a user message has the marker.
func (r Request) marked(marker string) bool {
	return marker == "" || slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Role == "user" && strings.Contains(m.Text, marker) })
}

func parseRequest(header http.Header, body []byte) (Request, error) {
	r := Request{Header: header, Body: body}
	if err := json.Unmarshal(body, &r.Fields); err != nil {
		return r, fmt.Errorf("the body is no JSON object: %w", err)
	}
	var b struct {
		Model    string                       `json:"model"`
		Stream   bool                         `json:"stream"`
		Messages []map[string]json.RawMessage `json:"messages"`
		Tools    []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return r, fmt.Errorf("the body is no chat request: %w", err)
	}
	r.Model, r.Stream = b.Model, b.Stream
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for _, fields := range b.Messages {
		r.Messages = append(r.Messages, parseMessage(fields))
	}
	return r, nil
}

func parseMessage(fields map[string]json.RawMessage) Message {
	m := Message{Fields: fields}
	json.Unmarshal(fields["role"], &m.Role)
	if json.Unmarshal(fields["content"], &m.Text) != nil {
		var parts []struct {
			Text  string `json:"text"`
			Image struct {
				URL string `json:"url"`
			} `json:"image_url"`
		}
		json.Unmarshal(fields["content"], &parts)
		for _, p := range parts {
			m.Text += p.Text
			if kind, _, ok := strings.Cut(p.Image.URL, ","); ok {
				m.Text += "[" + kind + "]" // such as [data:image/png;base64]
			}
		}
	}
	var calls []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	json.Unmarshal(fields["tool_calls"], &calls)
	for _, c := range calls {
		m.Calls = append(m.Calls, c.Function.Name)
	}
	return m
}
