package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// ReplayError says what is wrong with a replay file.
type ReplayError struct {
	Code    string // corrupt, or version for a file of another format
	Path    string
	Line    int // from 1; 0: the file as a whole
	Message string
}

// Error names the file, the line and what is wrong.
func (e *ReplayError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read replay file %q: %s", e.Path, e.Message)
	}
	return fmt.Sprintf("read replay file %q: line %d: %s", e.Path, e.Line, e.Message)
}

// Played is a replay file that is played. The models of several tasks may answer from one.
type Played struct {
	head replayHead
	list []*recorded

	mu    sync.Mutex
	first map[[32]byte][]*recorded // not used so far, by what they answer
}

// replayer is a model that answers from a file.
type replayer struct {
	*Played
	places *places
}

// recorded is an exchange with its whole request.
type recorded struct {
	n        int
	messages []storedMessage // as in the file
	alike    []storedMessage // without what changes from run to run
	tools    []ToolSpec
	rest     rest
	reply    *storedReply
	failed   *storedError
	used     bool
}

// Replay returns a model that answers from a file that Record wrote. It is safe for concurrent use: each
// exchange answers once, and the first one that fits answers. The error of a request without an answer is of
// kind Diverged.
func Replay(path string, o RecordOptions) (Model, error) {
	p, err := Play(path)
	if err != nil {
		return nil, err
	}
	return p.Model(o), nil
}

// Play reads a file that a tape has written.
func Play(path string) (*Played, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read replay file: %w", err)
	}
	defer f.Close()
	return readReplay(f, path)
}

// Model returns a model that answers from the file with the places of one task.
func (p *Played) Model(o RecordOptions) Model { return &replayer{Played: p, places: newPlaces(o)} }

// readReplay reads a file; path is for errors.
func readReplay(in io.Reader, path string) (*Played, error) {
	r := &Played{first: map[[32]byte][]*recorded{}}
	tools := map[int][]ToolSpec{}
	byN := map[int]*recorded{}
	lines := jsonl.NewReader(in)
	for num := 0; ; {
		line, err := lines.Next()
		if err == io.EOF {
			break
		}
		num = max(num+1, line.Num)
		if err != nil {
			return nil, &ReplayError{Code: "corrupt", Path: path, Line: num, Message: err.Error()}
		}
		if err := r.line(line.Data, tools, byN); err != nil {
			e := &ReplayError{Code: "corrupt", Path: path, Line: num, Message: err.Error()}
			if errors.Is(err, errVersion) {
				e.Code = "version"
			}
			return nil, e
		}
	}
	if r.head.Version == 0 {
		return nil, &ReplayError{Code: "corrupt", Path: path, Message: "the file is empty"}
	}
	return r, nil
}

var errVersion = errors.New("another version")

// line takes one line of the file.
func (r *Played) line(data []byte, tools map[int][]ToolSpec, byN map[int]*recorded) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return fmt.Errorf("no JSON, or cut: %w", err)
	}
	if r.head.Version == 0 {
		return r.readHead(kind.Type, data)
	}
	switch kind.Type {
	case "tools":
		var t replayTools
		if err := jsonl.Unmarshal(data, &t); err != nil {
			return err
		}
		tools[t.ID] = t.Tools
	case "exchange":
		var e exchange
		if err := jsonl.Unmarshal(data, &e); err != nil {
			return err
		}
		return r.take(e, tools, byN)
	}
	return nil
}

func (r *Played) readHead(kind string, data []byte) error {
	var h replayHead
	if kind != "replay" {
		return errors.New("the file does not begin with a line of type replay")
	}
	if err := jsonl.Unmarshal(data, &h); err != nil {
		return err
	}
	if h.Version < 1 || h.Reader > replayVersion {
		return fmt.Errorf("%w: the file has version %d and needs a reader of version %d, this program reads version %d", errVersion, h.Version, h.Reader, replayVersion)
	}
	r.head = h
	return nil
}

// take adds an exchange and puts its request together.
func (r *Played) take(e exchange, tools map[int][]ToolSpec, byN map[int]*recorded) error {
	x := &recorded{n: e.N, messages: e.Messages, rest: e.rest, reply: e.Reply, failed: e.Error}
	switch {
	case byN[e.N] != nil || e.N < 1:
		return fmt.Errorf("exchange %d is there twice, or has no number", e.N)
	case (e.Reply == nil) == (e.Error == nil):
		return fmt.Errorf("exchange %d has no answer, or two", e.N)
	case e.After != 0:
		before := byN[e.After]
		if before == nil || before.reply == nil {
			return fmt.Errorf("exchange %d goes on after exchange %d, which is not there", e.N, e.After)
		}
		x.messages = slices.Concat(before.messages, []storedMessage{before.reply.Message}, e.Messages)
	}
	if x.tools = tools[e.ToolsID]; e.ToolsID != 0 && x.tools == nil {
		return fmt.Errorf("exchange %d has tools %d, which are not there", e.N, e.ToolsID)
	}
	if len(x.messages) > maxMessages {
		return fmt.Errorf("exchange %d has more than %d messages", e.N, maxMessages)
	}
	x.alike = alikeAll(x.messages)
	byN[e.N] = x
	r.list = append(r.list, x)
	key := keyOf(x.alike, x.rest)
	r.first[key] = append(r.first[key], x)
	return nil
}

// maxMessages bounds what a damaged file can make us put together.
const maxMessages = 100_000

// alikeAll returns messages without what changes from run to run.
func alikeAll(in []storedMessage) []storedMessage {
	out := slices.Clone(in)
	for i := range out {
		out[i].Content = withoutTimes(out[i].Role, out[i].Content)
	}
	return out
}

// keyOf is equal for requests that are the same. The tools do not count: they differ with the machine and the
// version of the suite, see lacks.
func keyOf(messages []storedMessage, r rest) [32]byte {
	sums := sumsOf(messages)
	data, err := jsonl.Marshal(r)
	if err != nil {
		data = nil
	}
	return next(sums[len(sums)-1], storedMessage{Content: string(data)})
}

// lacks returns the first tool that the recorded answer calls, that was offered then, and that is not offered now.
func (x *recorded) lacks(now []ToolSpec) string {
	if x.reply == nil {
		return ""
	}
	for _, c := range x.reply.Message.ToolCalls {
		if offered(x.tools, c.Name) && !offered(now, c.Name) {
			return c.Name
		}
	}
	return ""
}

func offered(tools []ToolSpec, name string) bool {
	return slices.ContainsFunc(tools, func(t ToolSpec) bool { return t.Name == name })
}

// Name returns the name of the model that was recorded.
func (r *replayer) Name() string { return r.places.in(r.head.Model) }

// Window returns the window of the model that was recorded.
func (r *replayer) Window() int64 { return r.head.Window }

// Chat answers from the file.
func (r *replayer) Chat(ctx context.Context, req Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, fmt.Errorf("replay: %w", context.Cause(ctx))
	}
	asked := alikeAll(r.places.storedAll(req.Messages))
	x, err := r.find(asked, req.Tools, restOf(req))
	switch {
	case err != nil:
		return Reply{}, err
	case x.failed != nil:
		return Reply{}, &Error{Kind: x.failed.Kind, Model: r.Name(), Status: x.failed.Status, Message: r.places.in(x.failed.Message), Attempts: 1}
	}
	reply := r.reply(x)
	if req.OnText != nil && reply.Message.Content != "" {
		req.OnText(reply.Message.Content)
	}
	return reply, nil
}

// find takes the first exchange that fits.
func (r *replayer) find(asked []storedMessage, tools []ToolSpec, rest rest) (*recorded, error) {
	key := keyOf(asked, rest)
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.first[key]
	if len(queue) == 0 {
		return nil, r.parted(r.diverged(asked, rest))
	}
	x := queue[0]
	if name := x.lacks(tools); name != "" {
		return nil, r.parted(fmt.Sprintf("exchange %d of the recording calls the tool %s, which is not offered now", x.n, name))
	}
	r.first[key] = queue[1:]
	x.used = true
	return x, nil
}

func (r *replayer) parted(message string) error {
	return &Error{Kind: Diverged, Model: r.head.Model, Message: message, Attempts: 1}
}

// reply returns the answer of an exchange with the names of this run.
func (r *replayer) reply(x *recorded) Reply {
	s := x.reply.Message
	m := Message{Role: s.Role, Content: r.places.in(s.Content), ToolCallID: s.ToolCallID, Name: s.Name, Extra: r.places.raws(s.Extra, r.places.in)}
	for _, c := range s.ToolCalls {
		c.Arguments, c.Problem, c.Extra = r.places.in(c.Arguments), r.places.in(c.Problem), r.places.raws(c.Extra, r.places.in)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return Reply{Message: m, Finish: x.reply.Finish, Usage: x.reply.Usage, Model: x.reply.Model, Attempts: 1}
}
