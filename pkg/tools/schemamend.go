package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mend changes what does not fit in a way that leaves no doubt what was meant: numbers and truth values that arrive as
// text, lists and objects that arrive as their JSON, one text where a list of texts is taken, a number where text is
// taken; null, and an empty text where there can be none, for what may be left out. What fits stays.
func (s *schema) mend(value any, left *effort) any {
	if s == nil || left.spent() {
		return value
	}
	if !s.takes(value) {
		value = s.convert(value)
	}
	switch v := value.(type) {
	case map[string]any:
		value = s.mendObject(v, left)
	case []any:
		value = s.mendList(v, left)
	}
	for _, sub := range s.AllOf {
		value = sub.mend(value, left)
	}
	for _, choice := range [][]*schema{s.AnyOf, s.OneOf} {
		value = mendChoice(choice, value, left)
	}
	return value
}

// mendChoice mends a value for the first of several schemas that then fits.
func mendChoice(choice []*schema, value any, left *effort) any {
	for _, sub := range choice {
		if len(sub.check("", value, left)) == 0 {
			return value
		}
	}
	for _, sub := range choice {
		if mended := sub.mend(value, left); len(sub.check("", mended, left)) == 0 {
			return mended
		}
	}
	return value
}

func (s *schema) mendObject(value map[string]any, left *effort) map[string]any {
	out := make(map[string]any, len(value))
	for name, v := range value {
		sub, known := s.Properties[name]
		if !known {
			sub = s.Additional
		}
		if s.nothing(name, sub, v, left) {
			continue
		}
		out[name] = sub.mend(v, left)
	}
	return out
}

// nothing tells whether a member is there and says nothing, so that it can be left out.
func (s *schema) nothing(name string, sub *schema, value any, left *effort) bool {
	if value == nil {
		return len(sub.check("", value, left)) > 0 // also a required one: missing is what it is
	}
	return value == "" && !slices.Contains(s.Required, name) && len(sub.check("", value, left)) > 0
}

func (s *schema) mendList(value []any, left *effort) []any {
	out := make([]any, len(value))
	for i, v := range value {
		sub := s.Items
		if i < len(s.Prefix) {
			sub = s.Prefix[i]
		}
		out[i] = sub.mend(v, left)
	}
	return out
}

// convert makes a value of one of the schema's types of one that is of none; it returns the value itself when there is
// no such type.
func (s *schema) convert(value any) any {
	for _, t := range s.Type {
		if converted, ok := convertTo(t, value); ok && s.takes(converted) {
			return converted
		}
	}
	if text, ok := value.(string); ok && slices.Contains(s.Type, "array") && s.Items != nil && s.Items.takes(text) && text != "" {
		return []any{text}
	}
	return value
}

func convertTo(t string, value any) (any, bool) {
	if number, ok := value.(json.Number); ok {
		return number.String(), t == "string"
	}
	text, ok := value.(string)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return nil, false
	}
	switch t {
	case "integer", "number", "array", "object":
		converted, ok := parsed(text)
		return converted, ok && converted != nil
	case "boolean":
		switch strings.ToLower(text) {
		case "true", "yes":
			return true, true
		case "false", "no":
			return false, true
		}
	}
	return nil, false
}

// parsed reads a text as one value of JSON.
func parsed(text string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil || d.More() {
		return nil, false
	}
	return value, true
}

// whole writes numbers such as 5.0 and 1e3 as 5 and 1000 where an integer is taken, which Go's decoder wants.
func whole(value map[string]any, s *schema) map[string]any {
	out := maps.Clone(value)
	for name, v := range value {
		number, ok := v.(json.Number)
		if !ok || s.Properties[name] == nil || !slices.Contains(s.Properties[name].Type, "integer") {
			continue
		}
		if f, err := number.Float64(); err == nil && kindOf(v) == "integer" && f >= -1<<53 && f <= 1<<53 {
			out[name] = json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return out
}
