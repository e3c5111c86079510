package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxDescription is how much of a server's description of a tool a model is shown, in bytes.
const maxDescription = 1200

// tool is one tool of a server, for one task.
type tool struct {
	server  *server
	def     definition
	env     *tools.Env
	spec    tools.Spec
	renamed map[string]string
}

func newTool(s *server, d definition, name string, env *tools.Env) *tool {
	told, renamed := toldSchema(d.Schema)
	return &tool{server: s, def: d, env: env, renamed: renamed, spec: tools.Spec{
		Name: name, Description: describe(s.conf.Name, d), Parameters: d.Schema, Told: told, Backend: "mcp", Server: s.conf.Name, Remote: d.Name,
		ReadOnly: d.Hints.ReadOnly,
	}}
}

// Hidden returns the same tool as one that models are not told of but may call. Tools of others come back as they are.
func Hidden(t tools.Tool) tools.Tool {
	own, ok := t.(*tool)
	if !ok {
		return t
	}
	hidden := *own
	hidden.spec.Hidden = true
	return &hidden
}

// describe is what a model is told of a tool, labelled with where it comes from: the words are the server's.
func describe(server string, d definition) string {
	text := ""
	for _, one := range []string{d.Description, d.Title, d.Hints.Title, d.Name} {
		if text == "" {
			text = strings.TrimSpace(visible(one))
		}
	}
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	return "[" + oneLine(server, 60) + "] " + text
}

// visible leaves of foreign text what a person would see of it: no controls, no signs of direction, none that are
// invisible, such as the tags that spell text which only a model reads. Joiners stay, since scripts need them.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d', unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// Spec tells what the tool is.
func (t *tool) Spec() tools.Spec { return t.spec }

// Synonyms are names of arguments that no model provider takes, by those that stand in for them.
func (t *tool) Synonyms() map[string]string { return t.renamed }

// Run calls the tool at its server.
func (t *tool) Run(ctx context.Context, call tools.Call) tools.Result {
	raw, err := t.server.call(ctx, t.def, call.Args)
	if err != nil {
		return t.failure(ctx, err)
	}
	a, err := parseAnswer(raw)
	if err != nil {
		return t.failure(ctx, err)
	}
	r := t.env.Foreign(tools.Foreign{Name: t.spec.Name, Text: a.text, Pictures: a.pictures})
	if a.failed {
		if r.Error = oneLine(r.Content, 300); r.Error == "" {
			r.Error = "the tool failed and does not say why"
		}
	}
	return r
}

// failure is the result of a call that has none from the server.
func (t *tool) failure(ctx context.Context, err error) tools.Result {
	r := tools.Result{Code: string(wire.Network), Transient: true}
	var refused *RPCError
	var late *lateError
	switch {
	case ctx.Err() != nil:
		r.Code, r.Transient = string(wire.Canceled), false
	case errors.As(err, &late):
		r.Code = tools.TimedOut
	case errors.As(err, &refused):
		r.Code, r.Transient = string(wire.Internal), false
		if refused.Code == -32602 {
			r.Code = string(wire.Invalid)
		}
	}
	r.Error = t.env.Mask.Text(fmt.Sprintf("%s of the server %s: %v", oneLine(t.def.Name, 100), t.server.conf.Name, err))
	return r
}

// arguments are what a call sends: an object in any case.
func arguments(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}
