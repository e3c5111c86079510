package evolve

import (
	"encoding/json"
	"errors"
	"strings"
)

// object finds the JSON object that a model was asked for in its answer: of all objects that stand in the text and not in each other, the last
// one that has the key, wherever fences and prose are.
func object(text, key string) (map[string]any, bool) {
	var found map[string]any
	open := 0
	for at := 0; at < len(text) && open < maxOpen; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		obj, size, closed := decodeObject(text[at:])
		if size == 0 {
			if at++; !closed {
				open++
			}
			continue
		}
		if _, ok := obj[key]; ok {
			found = obj
		}
		at += size
	}
	return found, found != nil
}

// maxOpen bounds the objects that are read far into the text and are none: a model that gets stuck may repeat their
// beginning without end, and each is read anew.
const maxOpen = 64

// farIn is from which byte on an object that is not one counts for maxOpen.
const farIn = 4 << 10

// decodeObject reads the object at the beginning of a text. The size is 0 when there is none; closed is false when that shows only far in it, or at
// the end of the text.
func decodeObject(text string) (obj map[string]any, size int, closed bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&obj); err != nil {
		var wrong *json.SyntaxError
		return nil, 0, errors.As(err, &wrong) && wrong.Offset < farIn
	}
	return obj, int(d.InputOffset()), true
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
