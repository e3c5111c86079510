package mcpclient

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	maxDepth  = 10       // of what a model is shown of a schema
	maxNodes  = 500      // of it
	maxTold   = 16 << 10 // bytes of it
	maxAbout  = 400      // bytes of one description in it
	maxShort  = 100      // of one when the whole is too long
	maxChoice = 100      // values of an enum
)

// propertyName is what all model providers take as the name of an argument.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// toldSchema makes of a server's schema what a model is shown: the part of JSON Schema that all providers take, with what
// references name in their place. It loses only what the check of arguments, which has the whole schema, says when it
// matters: bounds, conditions, the names of patterns. Names of arguments that no provider takes get others; the second
// result has the original name for each.
func toldSchema(raw json.RawMessage) (json.RawMessage, map[string]string) {
	var root any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&root) != nil {
		root = nil
	}
	var data json.RawMessage
	var renamed map[string]string
	for _, about := range []int{maxAbout, maxShort, 0} {
		c := &cleaner{root: root, about: about}
		node := c.object(root)
		renamed = rename(node)
		if data, _ = json.Marshal(node); len(data) <= maxTold { // nothing in it can fail
			return data, renamed
		}
	}
	return outline(data), renamed
}

// outline is a schema that is too long even without descriptions: the types of the arguments.
func outline(data json.RawMessage) json.RawMessage {
	var node struct {
		Type       string                                `json:"type"`
		Properties map[string]map[string]json.RawMessage `json:"properties"`
		Required   []string                              `json:"required,omitempty"`
	}
	_ = json.Unmarshal(data, &node)
	for _, p := range node.Properties {
		maps.DeleteFunc(p, func(key string, _ json.RawMessage) bool { return key != "type" })
	}
	if data, _ = json.Marshal(node); len(data) > maxTold {
		return json.RawMessage(`{"properties":{},"type":"object"}`)
	}
	return data
}

// node is one schema.
type node = map[string]any

// cleaner makes a schema that all providers take of one that has anything.
type cleaner struct {
	root  any
	about int
	nodes int
}

// object cleans a root, which is an object without choices: some providers take no other.
func (c *cleaner) object(v any) node {
	out := c.clean(v, 0, nil)
	props, _ := out["properties"].(node)
	if props == nil {
		props = node{}
	}
	choices, _ := out["anyOf"].([]any)
	var all [][]string
	for _, choice := range choices {
		n, _ := choice.(node)
		more, _ := n["properties"].(node)
		for name, p := range more {
			if _, ok := props[name]; !ok {
				props[name] = p
			}
		}
		names, _ := n["required"].([]string)
		all = append(all, names)
	}
	required, _ := out["required"].([]string)
	if len(all) > 0 { // what every choice asks for
		for _, name := range all[0] {
			if !slices.ContainsFunc(all, func(names []string) bool { return !slices.Contains(names, name) }) && !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
	}
	for _, key := range []string{"anyOf", "enum", "description", "default", "items"} {
		delete(out, key)
	}
	out["type"], out["properties"] = "object", props
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// clean returns what is shown of one schema. stack holds the references that lead to it.
func (c *cleaner) clean(v any, depth int, stack []string) node {
	in, _ := v.(node)
	if c.nodes++; in == nil || depth > maxDepth || c.nodes > maxNodes {
		return node{}
	}
	in, stack = c.whole(in, stack)
	out := node{}
	c.plain(in, out)
	c.kinds(in, out)
	c.members(in, out, depth, stack)
	c.choices(in, out, depth, stack)
	if out["type"] == nil && out["anyOf"] == nil {
		if t := implied(in, out); t != "" {
			out["type"] = t
		}
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = node{}
	}
	return out
}

// whole puts what a reference names and what allOf lists into a schema. A reference that leads back to itself is cut.
func (c *cleaner) whole(in node, stack []string) (node, []string) {
	for range maxDepth {
		ref, isRef := in["$ref"].(string)
		all, _ := in["allOf"].([]any)
		if !isRef && len(all) == 0 {
			return in, stack
		}
		rest := maps.Clone(in)
		delete(rest, "$ref")
		delete(rest, "allOf")
		if isRef && !slices.Contains(stack, ref) {
			stack = append(slices.Clone(stack), ref)
			rest = merge(rest, c.lookup(ref))
		}
		for _, part := range all {
			n, _ := part.(node)
			rest = merge(rest, n)
		}
		in = rest
	}
	return in, stack
}

// merge adds to a schema what another one says beside it.
func merge(a, b node) node {
	out := maps.Clone(a)
	for key, value := range b {
		was, has := out[key]
		switch key {
		case "properties", "$defs", "definitions":
			x, _ := was.(node)
			y, _ := value.(node)
			both := maps.Clone(y)
			if both == nil {
				both = node{}
			}
			maps.Copy(both, x)
			out[key] = both
		case "required", "allOf":
			x, _ := was.([]any)
			y, _ := value.([]any)
			out[key] = slices.Concat(x, y)
		default:
			if !has {
				out[key] = value
			}
		}
	}
	return out
}

// lookup follows a reference within the schema.
func (c *cleaner) lookup(ref string) node {
	at := c.root
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		n, _ := at.(node)
		at = n[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	n, _ := at.(node)
	return n
}

// plain takes over what stays as it is.
func (c *cleaner) plain(in, out node) {
	about, _ := in["description"].(string)
	if about == "" {
		about, _ = in["title"].(string)
		if name := strings.ToLower(about); len(name) < 30 && !strings.Contains(name, " ") {
			about = "" // made from the name of the argument
		}
	}
	if format, ok := in["format"].(string); ok && len(format) < 40 {
		if format == "date-time" {
			out["format"] = format // others are refused by some providers
		} else if !strings.Contains(about, format) {
			about = strings.TrimSpace(about + " (format: " + format + ")")
		}
	}
	if about = visible(about); len(about) > c.about {
		about = strings.ToValidUTF8(about[:c.about], "")
	}
	if about != "" {
		out["description"] = about
	}
	if p, ok := in["pattern"].(string); ok && len(p) < 200 {
		out["pattern"] = p
	}
	switch d := in["default"].(type) {
	case bool, json.Number:
		out["default"] = d
	case string:
		if len(d) < 100 {
			out["default"] = d
		}
	}
}

// kinds sees to types and to lists of values. That nothing (null) is taken, too, is not said: leaving an argument out is
// the same.
func (c *cleaner) kinds(in, out node) {
	var types []string
	switch t := in["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" && !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	switch {
	case len(types) == 1 && known(types[0]):
		out["type"] = types[0]
	case len(types) > 1:
		var choice []any
		for _, t := range types {
			one := node{"type": t}
			if t == "array" {
				one["items"] = node{}
			}
			choice = append(choice, one)
		}
		out["anyOf"] = choice
	}
	values, _ := in["enum"].([]any)
	if only, ok := in["const"]; ok {
		values = []any{only}
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if n := len(values); n > 0 && n <= maxChoice {
		out["enum"] = values
	}
}

func known(t string) bool {
	return slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, t)
}

// members cleans what is within an object or a list.
func (c *cleaner) members(in, out node, depth int, stack []string) {
	if props, ok := in["properties"].(node); ok {
		clean := node{}
		for _, name := range slices.Sorted(maps.Keys(props)) {
			if depth == 0 || propertyName.MatchString(name) {
				clean[name] = c.clean(props[name], depth+1, stack)
			}
		}
		out["properties"] = clean
		var required []string
		list, _ := in["required"].([]any)
		for _, one := range list {
			if name, ok := one.(string); ok && clean[name] != nil && !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		if len(required) > 0 {
			out["required"] = required
		}
	}
	if more, ok := in["additionalProperties"].(node); ok && len(more) > 0 {
		out["additionalProperties"] = c.clean(more, depth+1, stack)
	}
	list, _ := in["prefixItems"].([]any)
	if items, ok := in["items"].([]any); ok {
		list = items
	}
	switch items, ok := in["items"].(node); {
	case ok:
		out["items"] = c.clean(items, depth+1, stack)
	case len(list) > 0:
		out["items"] = c.choice(list, depth, stack)
	}
}

// choices sees to anyOf and oneOf.
func (c *cleaner) choices(in, out node, depth int, stack []string) {
	var list []any
	for _, key := range []string{"anyOf", "oneOf"} {
		some, _ := in[key].([]any)
		list = append(list, some...)
	}
	if len(list) == 0 {
		return
	}
	for key, value := range c.choice(list, depth, stack) {
		if _, has := out[key]; !has {
			out[key] = value
		}
	}
}

// choice is one schema for several of which one is to fit.
func (c *cleaner) choice(list []any, depth int, stack []string) node {
	var all []any
	for _, one := range list {
		if n, _ := one.(node); n["type"] == "null" {
			continue
		}
		n := c.clean(one, depth+1, stack)
		if !slices.ContainsFunc(all, func(v any) bool { return equal(v, n) }) {
			all = append(all, n)
		}
	}
	switch len(all) {
	case 0:
		return node{}
	case 1:
		return all[0].(node)
	}
	if one, ok := values(all); ok {
		return one
	}
	return node{"anyOf": all}
}

// values makes one list of values of choices that are nothing but values of one type.
func values(all []any) (node, bool) {
	first := all[0].(node)
	var list []any
	for _, v := range all {
		n := v.(node)
		some, _ := n["enum"].([]any)
		if len(some) == 0 || n["type"] != first["type"] || n["properties"] != nil {
			return nil, false
		}
		list = append(list, some...)
	}
	out := node{"enum": list}
	if t := first["type"]; t != nil {
		out["type"] = t
	}
	return out, len(list) <= maxChoice
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// implied is the type that a schema means without saying so.
func implied(in, out node) string {
	switch {
	case out["properties"] != nil || out["additionalProperties"] != nil:
		return "object"
	case out["items"] != nil:
		return "array"
	case in["minLength"] != nil || in["maxLength"] != nil || in["pattern"] != nil:
		return "string"
	}
	kind := ""
	list, _ := out["enum"].([]any)
	for _, v := range list {
		is := "string"
		switch v.(type) {
		case string:
		case json.Number:
			is = "number"
		case bool:
			is = "boolean"
		default:
			return ""
		}
		if kind != "" && kind != is {
			return ""
		}
		kind = is
	}
	return kind
}

// rename gives arguments whose names no provider takes others, and tells which.
func rename(root node) map[string]string {
	props, _ := root["properties"].(node)
	var renamed map[string]string
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if propertyName.MatchString(name) {
			continue
		}
		taken := map[string]bool{}
		for other := range props {
			taken["x__"+other] = true
		}
		other := strings.TrimPrefix(toolName("x", name, taken), "x__")
		props[other] = props[name]
		delete(props, name)
		if renamed == nil {
			renamed = map[string]string{}
		}
		renamed[other] = name
		required, _ := root["required"].([]string)
		if i := slices.Index(required, name); i >= 0 {
			required[i] = other
		}
	}
	return renamed
}
