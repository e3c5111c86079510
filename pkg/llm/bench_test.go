package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBody makes a request of 200 messages, 470 KB, as a long task has it.
func BenchmarkBody(b *testing.B) {
	m, err := Open(Options{Model: "m", Base: "http://127.0.0.1:1"})
	if err != nil {
		b.Fatal(err)
	}
	c := m.(*client)
	r := Request{Tools: []ToolSpec{{Name: "ls", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}}
	for i := range 100 {
		id := fmt.Sprint("c", i)
		r.Messages = append(r.Messages, Message{Role: Assistant, ToolCalls: []ToolCall{{ID: id, Name: "ls", Arguments: `{"path":"."}`}}},
			Message{Role: ToolRole, ToolCallID: id, Content: strings.Repeat("hello \"x\" world\n", 290)})
	}
	for b.Loop() {
		body, err := c.body(r, c.quirks)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

// BenchmarkStream reads an answer of 500 events.
func BenchmarkStream(b *testing.B) {
	event := `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello "},"finish_reason":null}]}` + "\n\n"
	text := strings.Repeat(event, 500) + "data: [DONE]\n\n"
	for b.Loop() {
		a := &answer{}
		if err := a.read(strings.NewReader(text), "", func(string) {}); err != nil {
			b.Fatal(err)
		}
	}
}
