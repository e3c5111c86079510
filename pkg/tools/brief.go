package tools

import (
	"encoding/json"
	"slices"
)

// unsaid are keywords that a model need not be told: the arguments are checked against the whole schema, and an error says what is wrong. They would
// be sent with every request.
var unsaid = []string{
	"additionalProperties", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "$schema", "title",
}

// brief returns a schema without what a model need not be told. What is no JSON object stays as it is.
func brief(schema json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil || fields == nil {
		return schema
	}
	for name, value := range fields {
		switch {
		case slices.Contains(unsaid, name):
			delete(fields, name)
		case slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions"}, name):
			fields[name] = briefEach(value)
		case name == "items" || name == "not":
			fields[name] = brief(value)
		case name == "anyOf" || name == "oneOf" || name == "allOf" || name == "prefixItems":
			fields[name] = briefList(value)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return schema
	}
	return out
}

// without returns a schema of an object without some of its properties.
func without(schema json.RawMessage, names []string) json.RawMessage {
	var fields, properties map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(schema, &fields) != nil || json.Unmarshal(fields["properties"], &properties) != nil {
		return schema
	}
	for _, name := range names {
		delete(properties, name)
	}
	left, err := json.Marshal(properties)
	if err != nil {
		return schema
	}
	fields["properties"] = left
	if out, err := json.Marshal(fields); err == nil {
		return out
	}
	return schema
}

// briefEach shortens the schemas that an object holds by names of its own.
func briefEach(object json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil || fields == nil {
		return object
	}
	for name, value := range fields {
		fields[name] = brief(value)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return object
	}
	return out
}

func briefList(list json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return list
	}
	for i := range items {
		items[i] = brief(items[i])
	}
	out, err := json.Marshal(items)
	if err != nil {
		return list
	}
	return out
}
