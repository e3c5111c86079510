package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that arguments are checked against: types, properties, items, enum, const, bounds,
// patterns, anyOf, oneOf, allOf and references within the schema. What else a schema says is not checked here; the
// server of an MCP tool does it. A whole validator costs each program 1.7 MB and each start 5 ms for tables that no
// tool needs.
type schema struct {
	Type        typeNames          `json:"type"`
	Properties  map[string]*schema `json:"properties"`
	Patterns    map[string]any     `json:"patternProperties"`
	Required    []string           `json:"required"`
	Additional  *schema            `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	Prefix      []*schema          `json:"prefixItems"`
	Enum        []any              `json:"enum"`
	Const       *any               `json:"const"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	AllOf       []*schema          `json:"allOf"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MinLength   *int               `json:"minLength"`
	MaxLength   *int               `json:"maxLength"`
	MinItems    *int               `json:"minItems"`
	MaxItems    *int               `json:"maxItems"`
	Pattern     pattern            `json:"pattern"`
	Ref         string             `json:"$ref"`
	Defs        map[string]*schema `json:"$defs"`
	Definitions map[string]*schema `json:"definitions"`

	never bool // the schema false
}

// typeNames is a type or a list of types.
type typeNames []string

// UnmarshalJSON reads both forms.
func (t *typeNames) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// UnmarshalJSON reads a schema, true and false, and takes the list of schemas that items was once as true.
func (s *schema) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); {
	case bytes.Equal(data, []byte("false")):
		s.never = true
		return nil
	case len(data) == 0 || data[0] != '{':
		return nil
	}
	type plain schema
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*plain)(s))
}

// compile reads the parameters of a tool. It is nil, which fits everything, when a keyword has a shape that we do not
// know: a server's schema that is odd must not take its tool away. Parameters that are no schema of an object are an
// error, since no model provider takes them.
func compile(parameters json.RawMessage) (*schema, error) {
	var root struct {
		Type typeNames `json:"type"`
	}
	if err := json.Unmarshal(parameters, &root); err != nil {
		return nil, fmt.Errorf("read its parameters: %w", err)
	}
	if len(root.Type) != 1 || root.Type[0] != "object" {
		return nil, errors.New("read its parameters: the schema is not of type object")
	}
	s := new(schema)
	if err := json.Unmarshal(parameters, s); err != nil {
		return nil, nil
	}
	s.link(s, map[*schema]bool{})
	return s, nil
}

// link puts what references name in their place. One that leads nowhere fits everything.
func (s *schema) link(root *schema, seen map[*schema]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	if target := root.lookup(s.Ref); target != nil {
		s.AllOf = append(s.AllOf, target)
	}
	for _, sub := range s.parts() {
		sub.link(root, seen)
	}
}

// parts lists the schemas directly in s.
func (s *schema) parts() []*schema {
	all := []*schema{s.Additional, s.Items}
	for _, list := range [][]*schema{s.Prefix, s.AnyOf, s.OneOf, s.AllOf} {
		all = append(all, list...)
	}
	for _, named := range []map[string]*schema{s.Properties, s.Defs, s.Definitions} {
		all = append(all, slices.Collect(maps.Values(named))...)
	}
	return slices.DeleteFunc(all, func(s *schema) bool { return s == nil })
}

// lookup finds what a reference names; nil when it is not in the schema's own definitions.
func (s *schema) lookup(ref string) *schema {
	if ref == "#" {
		return s
	}
	for prefix, named := range map[string]map[string]*schema{"#/$defs/": s.Defs, "#/definitions/": s.Definitions} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return named[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return nil
}

// fit checks an object. When it does not fit, harmless differences are mended and it is checked again.
func (s *schema) fit(value map[string]any) (map[string]any, []problem) {
	if s == nil {
		return value, nil
	}
	if len(s.check("", value, new(effort))) == 0 {
		return whole(value, s), nil
	}
	mended, ok := s.mend(value, new(effort)).(map[string]any)
	if !ok {
		mended = value
	}
	return whole(mended, s), s.check("", mended, new(effort))
}

// object reads the arguments of a call. Nothing at all, as some models send for tools that need none, is {}.
func object(raw json.RawMessage) (map[string]any, string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || bytes.Equal(raw, []byte(`""`)) {
		return map[string]any{}, ""
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, broken(raw, err)
	}
	if d.More() {
		return nil, fmt.Sprintf("the arguments go on behind their end, at character %d: send one JSON object", d.InputOffset()+1)
	}
	if text, ok := value.(string); ok { // an object that was encoded twice
		return object(json.RawMessage(text))
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, "the arguments must be one JSON object, not " + kind(value)
	}
	return object, ""
}

// broken says where arguments stop being JSON.
func broken(raw []byte, err error) string {
	const shown = 40
	at := len(raw)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		at = min(int(syntax.Offset), at)
	}
	before, _ := cut(string(raw[max(0, at-shown):at]), shown)
	return fmt.Sprintf("the arguments are not valid JSON at character %d, behind %q (%v): send them again, complete", at,
		strings.ToValidUTF8(before, ""), err)
}
