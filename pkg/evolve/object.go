package evolve

import (
	"encoding/json"
	"strings"
)

// object finds the JSON object that a model was asked for in its answer: of all objects that stand in the text and not in each other, the last
// one that has the key, wherever fences and prose are.
func object(text, key string) (map[string]any, bool) {
	var found map[string]any
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		obj, size := decodeObject(text[at:])
		if size == 0 {
			at++
			continue
		}
		if _, ok := obj[key]; ok {
			found = obj
		}
		at += size
	}
	return found, found != nil
}

func decodeObject(text string) (map[string]any, int) {
	d := json.NewDecoder(strings.NewReader(text))
	var obj map[string]any
	if d.Decode(&obj) != nil {
		return nil, 0
	}
	return obj, int(d.InputOffset())
}

// truth reads a yes or no. What is not clearly yes is no: "false" is a text and not true.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		s := strings.ToLower(strings.TrimSpace(v))
		return s == "true" || s == "yes"
	case float64:
		return v == 1
	}
	return false
}

// words reads a text; other values are none.
func words(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

// list reads a list; a single value is one entry.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}
