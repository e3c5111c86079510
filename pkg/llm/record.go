package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// The version of replay files that is written, and the oldest one whose readers understand it.
const (
	replayVersion = 1
	replayReader  = 1
)

// The lines of a replay file; docs/format-replay.md describes them.
type (
	replayHead struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
		Reader  int    `json:"reader"`
		Model   string `json:"model"`
		Window  int64  `json:"window,omitempty"`
	}
	replayTools struct {
		Type  string     `json:"type"`
		ID    int        `json:"tools_id"`
		Tools []ToolSpec `json:"tools"`
	}
	exchange struct {
		Type     string          `json:"type"`
		N        int             `json:"n"`
		After    int             `json:"after,omitempty"`
		Messages []storedMessage `json:"messages"`
		ToolsID  int             `json:"tools_id,omitempty"`
		rest
		Reply *storedReply `json:"reply,omitempty"`
		Error *storedError `json:"error,omitempty"`
	}
	// rest is a request without messages and tools.
	rest struct {
		ToolChoice  Choice   `json:"tool_choice,omitempty"`
		MaxOutput   int64    `json:"max_output,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		JSON        bool     `json:"json,omitempty"`
	}
	storedMessage struct {
		Role       Role                       `json:"role"`
		Content    string                     `json:"content"`
		Images     []storedImage              `json:"images,omitempty"`
		ToolCalls  []ToolCall                 `json:"tool_calls,omitempty"`
		ToolCallID string                     `json:"tool_call_id,omitempty"`
		Name       string                     `json:"name,omitempty"`
		Extra      map[string]json.RawMessage `json:"extra,omitempty"`
	}
	storedImage struct {
		MIME   string `json:"mime"`
		SHA256 string `json:"sha256"`
		Bytes  int    `json:"bytes"`
	}
	storedReply struct {
		Message storedMessage `json:"message"`
		Finish  Finish        `json:"finish"`
		Usage   Usage         `json:"usage"`
		Model   string        `json:"model,omitempty"`
	}
	storedError struct {
		Kind    Kind   `json:"kind"`
		Status  int    `json:"status,omitempty"`
		Message string `json:"message,omitempty"`
	}
)

// stored returns a message as it is written: secrets and places replaced.
func (p *places) stored(m Message) storedMessage {
	s := storedMessage{Role: m.Role, Content: p.out(m.Content), ToolCallID: m.ToolCallID, Name: m.Name, Extra: p.raws(m.Extra, p.out)}
	for _, i := range m.Images {
		sum := sha256.Sum256(i.Data)
		s.Images = append(s.Images, storedImage{MIME: i.MIME, SHA256: hex.EncodeToString(sum[:]), Bytes: len(i.Data)})
	}
	for _, c := range m.ToolCalls {
		c.Arguments, c.Problem, c.Extra = p.out(c.Arguments), p.out(c.Problem), p.raws(c.Extra, p.out)
		s.ToolCalls = append(s.ToolCalls, c)
	}
	return s
}

// raws changes the texts in JSON values. A value that is no JSON afterwards becomes a text.
func (p *places) raws(in map[string]json.RawMessage, change func(string) string) map[string]json.RawMessage {
	if in == nil {
		return nil
	}
	out := make(map[string]json.RawMessage, len(in))
	for name, raw := range in {
		text := change(string(raw))
		if !json.Valid([]byte(text)) {
			if data, err := jsonl.Marshal(text); err == nil {
				text = string(data)
			}
		}
		out[name] = json.RawMessage(text)
	}
	return out
}

func (p *places) storedAll(list []Message) []storedMessage {
	out := make([]storedMessage, len(list))
	for i, m := range list {
		out[i] = p.stored(m)
	}
	return out
}

func restOf(r Request) rest {
	return rest{ToolChoice: r.ToolChoice, MaxOutput: r.MaxOutput, Temperature: r.Temperature, JSON: r.JSON}
}

// Tape is a replay file that is being written. The models of several tasks may write to one.
type Tape struct {
	mu    sync.Mutex
	w     io.Writer
	err   error
	n     int
	tools map[[32]byte]int
	ends  map[[32]byte]int // conversations up to and with an answer → its exchange
	begun bool
}

// NewTape returns a tape that writes to w, each line with one call of Write.
func NewTape(w io.Writer) *Tape {
	return &Tape{w: w, tools: map[[32]byte]int{}, ends: map[[32]byte]int{}}
}

// Record returns a model that asks m and writes every exchange to w. A line that cannot be written makes the
// call fail: a recording with a hole is none.
func Record(m Model, w io.Writer, o RecordOptions) Model { return NewTape(w).Record(m, o) }

// Record returns a model that asks m and writes every exchange to the tape, with the places of one task.
func (t *Tape) Record(m Model, o RecordOptions) Model {
	r := &recorder{Model: m, places: newPlaces(o), tape: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		t.begun = true
		t.write(replayHead{Type: "replay", Version: replayVersion, Reader: replayReader, Model: r.places.out(m.Name()), Window: m.Window()})
	}
	return r
}

// recorder is a model whose exchanges are written.
type recorder struct {
	Model
	places *places
	tape   *Tape
}

// Chat asks the model and writes what was asked and answered.
func (r *recorder) Chat(ctx context.Context, req Request) (Reply, error) {
	reply, err := r.Model.Chat(ctx, req)
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		return reply, err
	}
	e := exchange{Type: "exchange", Messages: r.places.storedAll(req.Messages), rest: restOf(req)}
	if err != nil {
		e.Error = &storedError{Kind: failed.Kind, Status: failed.Status, Message: r.places.out(failed.Message)}
	} else {
		e.Reply = &storedReply{Message: r.places.stored(reply.Message), Finish: reply.Finish, Usage: reply.Usage, Model: reply.Model}
	}
	var tools []ToolSpec
	if len(req.Tools) > 0 {
		tools = r.places.specs(req.Tools)
	}
	if bad := r.tape.add(e, tools); bad != nil {
		return Reply{}, errors.Join(err, fmt.Errorf("record the exchange: %w", bad))
	}
	return reply, err
}

// add writes an exchange, after the tools that it cites.
func (t *Tape) add(e exchange, tools []ToolSpec) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	e.N, e.ToolsID = t.n, t.toolsID(tools)
	sums := sumsOf(e.Messages)
	if e.Reply != nil {
		t.ends[next(sums[len(sums)-1], e.Reply.Message)] = e.N
	}
	for i := len(sums) - 1; i > 0; i-- {
		if n := t.ends[sums[i]]; n > 0 && n != e.N {
			e.After, e.Messages = n, e.Messages[i:]
			break
		}
	}
	t.write(e)
	return t.err
}

// toolsID returns the number of a list of tools, which is written when it is new.
func (t *Tape) toolsID(tools []ToolSpec) int {
	if len(tools) == 0 {
		return 0
	}
	data, err := jsonl.Marshal(tools)
	if err != nil {
		t.err = errors.Join(t.err, err)
		return 0
	}
	sum := sha256.Sum256(data)
	if t.tools[sum] == 0 {
		t.tools[sum] = len(t.tools) + 1
		t.write(replayTools{Type: "tools", ID: t.tools[sum], Tools: tools})
	}
	return t.tools[sum]
}

// specs returns tools as they are written.
func (p *places) specs(tools []ToolSpec) []ToolSpec {
	out := make([]ToolSpec, len(tools))
	for i, t := range tools {
		t.Description = p.out(t.Description)
		if text := p.out(string(t.Parameters)); json.Valid([]byte(text)) {
			t.Parameters = json.RawMessage(text)
		}
		out[i] = t
	}
	return out
}

// write writes one line. After an error nothing more is written.
func (t *Tape) write(v any) {
	if t.err != nil {
		return
	}
	line, err := jsonl.Marshal(v)
	if err == nil && len(line) >= jsonl.MaxLine {
		err = fmt.Errorf("the exchange has more than %d bytes", jsonl.MaxLine)
	}
	if err == nil {
		_, err = t.w.Write(append(line, '\n'))
	}
	t.err = err
}

// sumsOf returns the sums of the beginnings of a conversation, from none to all of its messages.
func sumsOf(messages []storedMessage) [][32]byte {
	sums := make([][32]byte, len(messages)+1)
	for i, m := range messages {
		sums[i+1] = next(sums[i], m)
	}
	return sums
}

// next is the sum of a conversation that goes on with m.
func next(sum [32]byte, m storedMessage) [32]byte {
	data, err := jsonl.Marshal(m)
	if err != nil {
		data = fmt.Appendf(nil, "%v", m)
	}
	return sha256.Sum256(append(sum[:], data...))
}
