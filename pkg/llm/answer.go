package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// answer is what came from an endpoint, put together.
type answer struct {
	turn   int // messages of the request, for ids of calls
	model  string
	text   strings.Builder
	calls  calls
	extra  extras
	finish string
	done   bool // the endpoint said that this is all
	usage  *wireUsage
}

// The shapes on the wire, only what is used of them, and loose where endpoints differ.
type (
	wireAnswer struct {
		Model   json.RawMessage `json:"model"`
		Choices []wireChoice    `json:"choices"`
		Usage   json.RawMessage `json:"usage"`
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"` // of an error without an error object
	}
	wireChoice struct {
		Index   json.RawMessage `json:"index"`
		Delta   *wireMessage    `json:"delta"`
		Message *wireMessage    `json:"message"`
		Finish  json.RawMessage `json:"finish_reason"`
		Error   json.RawMessage `json:"error"`
	}
	wireMessage struct {
		Content   json.RawMessage `json:"content"`
		Refusal   json.RawMessage `json:"refusal"`
		ToolCalls json.RawMessage `json:"tool_calls"`

		ReasoningContent json.RawMessage `json:"reasoning_content"`
		ReasoningDetails json.RawMessage `json:"reasoning_details"`
		Reasoning        json.RawMessage `json:"reasoning"`
		ThinkingBlocks   json.RawMessage `json:"thinking_blocks"`
		ExtraContent     json.RawMessage `json:"extra_content"`
	}
)

// reasoned returns the fields of what the model thought, in the order of the names in reasoning.
func (m *wireMessage) reasoned() []json.RawMessage {
	return []json.RawMessage{m.ReasoningContent, m.ReasoningDetails, m.Reasoning, m.ThinkingBlocks, m.ExtraContent}
}

var (
	errCut   = errors.New("the connection ended before the answer did")
	errEmpty = errors.New("the answer has no message in it")
)

// read reads an answer, a stream of events or a whole one, whichever was sent.
func (a *answer) read(r io.Reader, kind string, text func(string)) error {
	in := bufio.NewReader(r)
	first, err := firstByte(in)
	switch {
	case err == io.EOF:
		return errCut
	case err != nil:
		return err
	case first == '{' || first == '[':
		return a.readWhole(in, text)
	case first == '<' || strings.Contains(kind, "text/html"):
		return &providerError{Message: "the endpoint answered with a web page: is its address right?"}
	}
	return a.readStream(in, text)
}

// firstByte returns the first byte that is no white space, without taking it.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, in.UnreadByte()
		}
	}
}

func (a *answer) readWhole(in io.Reader, text func(string)) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	var w wireAnswer
	if err := jsonl.Unmarshal(data, &w); err != nil {
		if bytes.HasPrefix(data, []byte("[")) {
			return parseError(data)
		}
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if failed(w.Error) || len(w.Choices) == 0 && len(w.Message) > 0 {
		return parseError(data)
	}
	if len(w.Choices) == 0 {
		return errEmpty
	}
	if err := a.take(w, text); err != nil {
		return err
	}
	a.done = true
	return nil
}

// failed tells whether an error field says something.
func failed(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != "{}" && s != `""` && s != "false"
}

// readStream reads events until the end. An end that nobody announced is a cut.
func (a *answer) readStream(in io.Reader, text func(string)) error {
	// Some servers leave out the empty line after the last event.
	in = io.MultiReader(in, strings.NewReader("\n\n"))
	events := ssestream.NewDecoder(&http.Response{Header: http.Header{}, Body: io.NopCloser(in)})
	for !a.done && events.Next() {
		if err := a.event(events.Event(), text); err != nil {
			return err
		}
	}
	switch {
	case a.done, a.finish != "":
		return nil // what comes after the reason to stop is usage at best
	case events.Err() != nil:
		return fmt.Errorf("%w: %w", errCut, events.Err())
	}
	return errCut
}

func (a *answer) event(e ssestream.Event, text func(string)) error {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0:
		return nil
	case bytes.HasPrefix(data, []byte("[DONE]")):
		if a.finish == "" && a.text.Len() == 0 && len(a.calls.all) == 0 {
			return errEmpty
		}
		a.done = true
		return nil
	case e.Type == "error":
		return parseError(data)
	case data[0] != '{':
		return nil // a sign of life of some proxy
	}
	var w wireAnswer
	if err := jsonl.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if failed(w.Error) {
		return parseError(data)
	}
	return a.take(w, text)
}

// take adds an event, or a whole answer.
func (a *answer) take(w wireAnswer, said func(string)) error {
	if name := text(w.Model); name != "" {
		a.model = name
	}
	var u *wireUsage
	if jsonl.Unmarshal(w.Usage, &u) == nil && u != nil { // one that cannot be read is no reason to lose the answer
		a.usage = u
	}
	for _, c := range w.Choices {
		if n, ok := number(c.Index); ok && n != 0 {
			continue // only one was asked for
		}
		if failed(c.Error) {
			return parseError(append(append([]byte(`{"error":`), c.Error...), '}'))
		}
		m := c.Delta
		if m == nil {
			m = c.Message
		}
		if m != nil {
			a.message(m, said)
		}
		if f := text(c.Finish); f != "" {
			a.finish = f
		}
	}
	if a.finish == "error" || malformed().MatchString(a.finish) {
		return &providerError{Message: "the model's answer is malformed (" + a.finish + ")", Type: "malformed"}
	}
	return nil
}

func (a *answer) message(m *wireMessage, said func(string)) {
	piece := content(m.Content)
	if piece == "" {
		piece = text(m.Refusal)
	}
	a.text.WriteString(piece)
	said(piece)
	for i, raw := range m.reasoned() {
		a.extra.add(reasoning[i], raw)
	}
	for _, d := range deltas(m.ToolCalls) {
		a.calls.add(d)
	}
}

// content returns the text of a content: a text, or parts of which some are text.
func content(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '[' {
		return text(raw)
	}
	var parts []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if jsonl.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" || p.Type == "" {
			b.WriteString(text(p.Text))
		}
	}
	return b.String()
}

// reply makes the reply of an answer.
func (c *client) reply(a *answer, sent int) Reply {
	r := Reply{Model: a.model, Message: Message{Role: Assistant, Content: a.text.String(), Extra: a.extra.fields()}}
	r.Finish = finish(a.finish, len(a.calls.all) > 0)
	r.Message.ToolCalls = a.calls.finish(a.turn, r.Finish == Cut)
	if r.Model == "" {
		r.Model = c.o.Model
	}
	r.Usage = c.usage(a, sent)
	return r
}

// finish translates the reason to stop.
func finish(said string, called bool) Finish {
	switch strings.ToLower(said) {
	case "length", "max_tokens", "max_output_tokens", "model_length":
		return Cut
	case "content_filter", "safety", "recitation", "refusal", "prohibited_content", "blocklist", "sensitive":
		return Filtered
	}
	if called {
		return Called
	}
	return Stopped
}
