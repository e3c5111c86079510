package evolve

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/llm"
)

// maxRounds is how often a model may read files before it must answer.
const maxRounds = 4

// maxAnswer bounds an answer, in tokens.
const maxAnswer = 16_000

// dialogue is one conversation with a model. Its only tool reads files.
type dialogue struct {
	name     string // for the observer
	model    llm.Model
	files    fs.FS // what may be read; nil: no tool is offered
	mask     func(string) string
	json     bool // the answers are to be JSON objects
	messages []llm.Message
	usage    llm.Usage
	observe  func(Exchange)
}

// Exchange is one question to a model and its answer, for a recording.
type Exchange struct {
	Agent    string        // ExecutionAnalyzer, SkillEvolver, SkillEvolver.confirm or SkillEvolver.retry
	Messages []llm.Message // what was new in the question
	Reply    llm.Message
	Usage    llm.Usage
}

func newDialogue(name string, model llm.Model, system string, observe func(Exchange)) *dialogue {
	return &dialogue{name: name, model: model, observe: observe, messages: []llm.Message{{Role: llm.System, Content: system}}}
}

// ask puts a question and returns the answer. It reads for the model what it wants to read, a few times.
func (d *dialogue) ask(ctx context.Context, question string) (string, error) {
	sent := 0
	if len(d.messages) > 1 {
		sent = len(d.messages)
	}
	d.messages = append(d.messages, llm.Message{Role: llm.User, Content: question})
	for round := 1; ; round++ {
		r := llm.Request{Messages: d.messages, JSON: d.json && d.files == nil, MaxOutput: maxAnswer}
		if d.files != nil {
			r.Tools = []llm.ToolSpec{readSpec}
			if round > maxRounds {
				r.ToolChoice = llm.None
			}
		}
		reply, err := d.model.Chat(ctx, r)
		d.usage.Add(reply.Usage)
		if err != nil {
			return "", fmt.Errorf("ask the model (%s): %w", d.name, err)
		}
		if d.observe != nil {
			d.observe(Exchange{Agent: d.name, Messages: d.messages[sent:], Reply: reply.Message, Usage: reply.Usage})
		}
		d.messages = append(d.messages, reply.Message)
		sent = len(d.messages)
		if len(reply.Message.ToolCalls) == 0 || round > maxRounds || d.files == nil {
			if reply.Finish == llm.Cut {
				return reply.Message.Content, fmt.Errorf("ask the model (%s): %w", d.name, errCut)
			}
			return reply.Message.Content, nil
		}
		for _, call := range reply.Message.ToolCalls {
			d.messages = append(d.messages, llm.Message{Role: llm.ToolRole, ToolCallID: call.ID, Name: call.Name, Content: d.read(call)})
		}
	}
}

var errCut = fmt.Errorf("the answer was cut at %d tokens", maxAnswer)

// readSpec is the tool that reads files.
var readSpec = llm.ToolSpec{
	Name:        "read_file",
	Description: "Read one of the files named in the question, or list a folder of them. 8000 characters at a time.",
	Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":0,"description":"characters to skip"}},"required":["path"],"additionalProperties":false}`),
}

// pageSize is how much of a file is shown at once, in characters; maxRead how much of it is looked at, in bytes.
const (
	pageSize = 8_000
	maxRead  = 8 << 20
)

// read runs a call of the tool. What goes wrong is told to the model.
func (d *dialogue) read(call llm.ToolCall) string {
	var args struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
	}
	switch {
	case call.Name != readSpec.Name:
		return "There is no tool " + line(call.Name, 60) + ", only read_file."
	case call.Problem != "":
		return "The arguments cannot be read: " + call.Problem
	}
	if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
		return "The arguments cannot be read: " + err.Error()
	}
	name := path.Clean(strings.TrimPrefix(args.Path, "/"))
	info, err := fs.Stat(d.files, name)
	switch {
	case err != nil:
		return "There is no file " + line(args.Path, 200) + "."
	case info.IsDir():
		return listing(d.files, name)
	case info.Size() > maxRead:
		return "The file is too big to be read."
	}
	data, err := fs.ReadFile(d.files, name)
	if err != nil || !utf8.Valid(data) {
		return "The file cannot be read as text."
	}
	return page(name, d.mask(string(data)), args.Offset)
}

func listing(files fs.FS, name string) string {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return "The folder cannot be read."
	}
	var b strings.Builder
	for i, e := range entries {
		if i == 200 {
			fmt.Fprintf(&b, "and %d more\n", len(entries)-i)
			break
		}
		b.WriteString(path.Join(name, e.Name()))
		if e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	return fence("Files in "+name+":", b.String())
}

func page(name, text string, offset int) string {
	all := utf8.RuneCountInString(text)
	offset = min(max(offset, 0), all)
	rest := text[len(firstRunes(text, offset)):]
	shown := firstRunes(rest, pageSize)
	end := offset + utf8.RuneCountInString(shown)
	return fence(fmt.Sprintf("Characters %d to %d of %d of %s:", offset, end, all, name), shown)
}
