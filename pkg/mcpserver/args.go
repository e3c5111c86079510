package mcpserver

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// args are the arguments of a call, each with the type that the schema says. What was left out is not there.
type args map[string]any

func (a args) text(name string) string { s, _ := a[name].(string); return s }
func (a args) number(name string) int  { n, _ := a[name].(int); return n }
func (a args) yes(name string) bool    { b, _ := a[name].(bool); return b }
func (a args) list(name string) []string {
	l, _ := a[name].([]string)
	return l
}

// schema is what an input schema says about arguments, as far as they are checked here.
type schema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type    string   `json:"type"`
	Enum    []string `json:"enum"`
	Minimum *int     `json:"minimum"`
	Maximum *int     `json:"maximum"`
	Default any      `json:"default"`
	MaxLen  int      `json:"maxLength"`
}

func readSchema(text string) (s schema, err error) { return s, json.Unmarshal([]byte(text), &s) }

// read takes the arguments of a call as hosts send them: null and an empty text stand for what was left out,
// a number, a switch or a list may come as text (MC-10, MC-11, MC-12), and what is not known is passed over.
// The error names everything that is wrong, so that a model can put it right at once.
func (s schema) read(tool string, given map[string]any) (args, error) {
	res, wrong := args{}, []string{}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := s.Properties[name]
		v, err := p.read(given[name])
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%q %v", name, err))
		case v != nil:
			res[name] = v
		case slices.Contains(s.Required, name):
			wrong = append(wrong, fmt.Sprintf("%q is missing (%s)", name, p.kind()))
		case p.Default != nil:
			res[name] = p.fallback()
		}
	}
	if len(wrong) > 0 {
		return nil, wire.Errorf(wire.Usage, "%s: argument %s", tool, strings.Join(wrong, "; argument ")).
			WithHint("call %s again with the arguments put right", tool)
	}
	return res, nil
}

func (p property) kind() string {
	switch p.Type {
	case "array":
		return "a list of texts"
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	}
	return "a text"
}

// fallback is the default as the type that read returns.
func (p property) fallback() any {
	if n, ok := p.Default.(float64); ok {
		return int(n)
	}
	return p.Default
}

// read returns a value of the property's type, or nil for one that was left out.
func (p property) read(v any) (any, error) {
	if text, ok := v.(string); ok && (strings.TrimSpace(text) == "" || p.Type != "string" && strings.TrimSpace(text) == "null") {
		return nil, nil
	}
	if v == nil {
		return nil, nil
	}
	switch p.Type {
	case "integer":
		return p.integer(v)
	case "boolean":
		return p.boolean(v)
	case "array":
		return p.list(v)
	}
	return p.string(v)
}

func (p property) integer(v any) (any, error) {
	f, isNumber := v.(float64)
	if text, ok := v.(string); ok {
		var err error
		f, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
		isNumber = err == nil
	}
	if !isNumber || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, fmt.Errorf("must be a whole number, not %s", shown(v))
	}
	n := int(f)
	if p.Minimum != nil && n < *p.Minimum || p.Maximum != nil && n > *p.Maximum {
		return nil, fmt.Errorf("must be %s, not %d", p.bounds(), n)
	}
	return n, nil
}

func (p property) bounds() string {
	switch {
	case p.Maximum == nil:
		return fmt.Sprintf("at least %d", *p.Minimum)
	case p.Minimum == nil:
		return fmt.Sprintf("at most %d", *p.Maximum)
	}
	return fmt.Sprintf("from %d to %d", *p.Minimum, *p.Maximum)
}

func (p property) boolean(v any) (any, error) {
	switch t := v.(type) {
	case bool:
		return t, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(t)) {
		case "true", "1", "yes", "on":
			return true, nil
		case "false", "0", "no", "off":
			return false, nil
		}
	case float64:
		if t == 0 || t == 1 {
			return t == 1, nil
		}
	}
	return nil, fmt.Errorf("must be true or false, not %s", shown(v))
}

// list takes a list of texts, one as JSON in a text, and a single text as a list of one. Elements that are
// null or empty mean nothing.
func (p property) list(v any) (any, error) {
	if text, ok := v.(string); ok {
		var inner any
		if json.Unmarshal([]byte(text), &inner) == nil {
			if _, isList := inner.([]any); isList {
				v = inner
			}
		}
		if v == any(text) {
			v = []any{text}
		}
	}
	items, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("must be a list of texts, not %s", shown(v))
	}
	res := []string{}
	for _, item := range items {
		text, ok := item.(string)
		if !ok && item != nil {
			return nil, fmt.Errorf("must be a list of texts; %s is none", shown(item))
		}
		if strings.TrimSpace(text) != "" {
			res = append(res, text)
		}
	}
	return res, nil
}

func (p property) string(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("must be a text, not %s", shown(v))
	}
	if len(p.Enum) > 0 {
		text = strings.ToLower(strings.TrimSpace(text))
		if !slices.Contains(p.Enum, text) {
			return nil, fmt.Errorf("must be %s, not %s", strings.Join(p.Enum, " or "), shown(v))
		}
	}
	if p.MaxLen > 0 && len(text) > p.MaxLen {
		return nil, fmt.Errorf("is %d bytes long, and %d is the most", len(text), p.MaxLen)
	}
	return text, nil
}

// shown is a value as an error shows it.
func shown(v any) string {
	text := string(encode(v))
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return text
}
