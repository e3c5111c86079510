package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// sender writes one answer.
type sender struct {
	w     http.ResponseWriter
	r     *http.Request
	req   Request
	step  Step
	name  string
	newID func() string
}

type fields = map[string]any

func (s *sender) send() {
	f := s.step.Fault
	for name, value := range f.Headers {
		s.w.Header().Set(name, value)
	}
	if f.RetryAfter != "" {
		s.w.Header().Set("Retry-After", f.RetryAfter)
	}
	s.w.Header().Set("X-Request-Id", "req_test")
	switch {
	case f.Body != "":
		s.body(f.Status, f.Body)
	case f.Status != 0:
		refuse(s.w, f.Status, http.StatusText(f.Status))
	case f.Raw != nil:
		s.events(f.Raw)
	case s.req.Stream:
		s.events(s.stream())
	default:
		s.whole()
	}
}

// body sends a text as it stands.
func (s *sender) body(status int, text string) {
	if s.w.Header().Get("Content-Type") == "" {
		s.w.Header().Set("Content-Type", "application/json")
	}
	if status == 0 {
		status = http.StatusOK
	}
	s.w.WriteHeader(status)
	io.WriteString(s.w, text)
	s.hang()
}

// hang keeps the connection until the client goes.
func (s *sender) hang() {
	if s.step.Fault.Hang {
		http.NewResponseController(s.w).Flush()
		<-s.r.Context().Done()
	}
}

// events sends the events of a stream, with what is to go wrong.
func (s *sender) events(events []string) {
	f := s.step.Fault
	if s.w.Header().Get("Content-Type") == "" {
		s.w.Header().Set("Content-Type", "text/event-stream")
	}
	s.w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(s.w)
	for i, e := range events {
		if !pause(s.r, time.Duration(f.PauseMS)*time.Millisecond) {
			return
		}
		if i > 0 {
			io.WriteString(s.w, f.Between)
		}
		if f.CutAfter != nil && i == *f.CutAfter {
			io.WriteString(s.w, e[:len(e)/2])
			out.Flush()
			panic(http.ErrAbortHandler)
		}
		io.WriteString(s.w, e)
		if out.Flush() != nil {
			return
		}
	}
	s.hang()
}

// whole sends the answer at once.
func (s *sender) whole() {
	message := fields{"role": "assistant", "content": s.put(s.step.Reply.Text)}
	var calls []fields
	for i, c := range s.step.Reply.ToolCalls {
		calls = append(calls, s.spoil(s.call(c, s.arguments(c)), 0, s.id(c)))
		delete(calls[i], "index")
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	for name, raw := range s.step.Reply.Extra {
		message[name] = raw
	}
	choice := fields{"index": 0, "message": message}
	if !s.step.Fault.NoFinish {
		choice["finish_reason"] = s.finish()
	}
	answer := fields{"id": "chatcmpl-test", "object": "chat.completion", "created": 1700000000, "model": s.name, "choices": []fields{choice}}
	if !s.step.Fault.NoUsage {
		answer["usage"] = s.usage()
	}
	text := encode(answer)
	if cut := s.step.Fault.CutAfter; cut != nil {
		s.w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		s.body(0, text[:len(text)/2])
		http.NewResponseController(s.w).Flush()
		panic(http.ErrAbortHandler)
	}
	s.body(0, text)
}

// stream returns the events of the answer.
func (s *sender) stream() (events []string) {
	delta := func(d fields) { events = append(events, s.event(d, nil)) }
	first := fields{"role": "assistant", "content": ""}
	for name, raw := range s.step.Reply.Extra {
		first[name] = raw
	}
	delta(first)
	for _, piece := range s.pieces(s.put(s.step.Reply.Text)) {
		delta(fields{"content": piece})
	}
	for _, d := range s.callDeltas() {
		delta(fields{"tool_calls": []fields{d}})
	}
	if !s.step.Fault.NoFinish {
		events = append(events, s.event(fields{}, s.finish()))
	}
	if !s.step.Fault.NoUsage {
		events = append(events, "data: "+encode(fields{"id": "chatcmpl-test", "object": "chat.completion.chunk", "model": s.name, "choices": []fields{}, "usage": s.usage()})+"\n\n")
	}
	if !s.step.Fault.NoDone {
		events = append(events, "data: [DONE]\n\n")
	}
	return events
}

func (s *sender) event(delta fields, finish any) string {
	choice := fields{"index": 0, "delta": delta, "finish_reason": finish}
	return "data: " + encode(fields{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1700000000, "model": s.name, "choices": []fields{choice}}) + "\n\n"
}

// callDeltas returns the pieces of all tool calls in the order in which they are sent.
func (s *sender) callDeltas() (out []fields) {
	var rows [][]fields
	for i, c := range s.step.Reply.ToolCalls {
		arguments := s.arguments(c)
		text, _ := arguments.(string)
		pieces := s.pieces(text)
		if s.step.Fault.ArgsObject || len(pieces) == 0 {
			pieces = []string{""}
		}
		var row []fields
		id := s.id(c)
		for n, piece := range pieces {
			d := fields{"function": fields{"arguments": piece}}
			switch {
			case n == 0 && s.step.Fault.ArgsObject:
				d = s.call(c, arguments)
			case n == 0:
				d = s.call(c, piece)
			}
			d["index"] = i
			row = append(row, s.spoil(d, n, id))
		}
		rows = append(rows, row)
	}
	return order(rows, s.step.Fault.Reorder)
}

// order puts rows one after the other, or in turn.
func order(rows [][]fields, inTurn bool) (out []fields) {
	if !inTurn {
		for _, row := range rows {
			out = append(out, row...)
		}
		return out
	}
	for n, more := 0, true; more; n++ {
		more = false
		for i := len(rows) - 1; i >= 0; i-- {
			if n < len(rows[i]) {
				out, more = append(out, rows[i][n]), true
			}
		}
	}
	return out
}

// spoil gives a piece of a call its id, and takes from it what is to be missing.
func (s *sender) spoil(d fields, n int, id string) fields {
	f := s.step.Fault
	switch {
	case f.IDs == "missing", f.IDs == "" && n > 0 && f.Index != "missing":
	case f.IDs == "empty", f.IDs == "then_empty" && n > 0:
		d["id"] = ""
	default:
		d["id"] = id
	}
	switch f.Index {
	case "missing":
		delete(d, "index")
	case "same":
		d["index"] = 0
	}
	return d
}

func (s *sender) id(c Call) string {
	switch {
	case s.step.Fault.IDs == "same":
		return "call_same"
	case c.ID != "":
		return c.ID
	}
	return s.newID()
}

// call returns a tool call as it is sent, without its id.
func (s *sender) call(c Call, arguments any) fields {
	function := fields{"name": c.Name}
	if arguments != nil {
		function["arguments"] = arguments
	}
	d := fields{"type": "function", "function": function}
	for name, raw := range c.Extra {
		d[name] = raw
	}
	return d
}

// arguments returns the text of a call's arguments; nil when it has none, an object when they are to be sent so.
func (s *sender) arguments(c Call) any {
	if c.Arguments == nil {
		return nil
	}
	if s.step.Fault.ArgsObject {
		return c.Arguments
	}
	var text string
	if json.Unmarshal(c.Arguments, &text) == nil {
		return s.put(text)
	}
	return string(c.Arguments)
}

func (s *sender) put(text string) string { return strings.ReplaceAll(text, "{{last}}", s.req.Last()) }

func (s *sender) finish() string {
	switch {
	case s.step.Reply.Finish != "":
		return s.step.Reply.Finish
	case len(s.step.Reply.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (s *sender) usage() fields {
	u := s.step.Reply.Usage
	if u == nil {
		u = &Usage{Input: int64(len(s.req.Body)+3) / 4, Output: int64(len(s.step.Reply.Text)+3) / 4}
		for _, c := range s.step.Reply.ToolCalls {
			u.Output += int64(len(c.Name)+len(c.Arguments)+3) / 4
		}
	}
	out := fields{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": fields{"cached_tokens": u.Cached}, "completion_tokens_details": fields{"reasoning_tokens": u.Reasoning}}
	if u.Cost != nil {
		out["cost"] = *u.Cost
	}
	return out
}

// pieces cuts a text, between characters.
func (s *sender) pieces(text string) (out []string) {
	n := s.step.Reply.Pieces
	if n <= 0 {
		n = 2
	}
	runes := []rune(text)
	size := max(1, (len(runes)+n-1)/n)
	for ; len(runes) > size; runes = runes[size:] {
		out = append(out, string(runes[:size]))
	}
	if len(runes) > 0 {
		out = append(out, string(runes))
	}
	return out
}

// encode is JSON with < and > as they are.
func encode(v fields) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(maps.Clone(v)); err != nil {
		return fmt.Sprintf(`{"error":{"message":%q}}`, "test model: "+err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
