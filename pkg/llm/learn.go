package llm

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// quirks are what an endpoint wants otherwise. It starts with the table's row and is learned from refusals.
type quirks struct {
	maxField  string
	dropped   []string // fields that are not sent
	missing   string   // a field that every message with tool calls must have
	oneSystem bool
	whole     bool // no streams
	needsMax  bool // a limit of output tokens must be sent
}

// usualMax is the limit for endpoints that must be given one when nobody set it.
const usualMax = 16_384

func (q quirks) drops(field string) bool { return slices.Contains(q.dropped, field) }

// optional are fields that can be left out when an endpoint refuses them. The order decides when a refusal
// names several.
var optional = []string{
	"stream_options", "temperature", "response_format", "tool_choice", "parallel_tool_calls", "cache_control", "reasoning_details",
	"reasoning_content", "extra_content", "reasoning_effort", "image_url",
}

var (
	mustHave    = lazy(`(?i)(missing|must be (passed|provided|included|sent)|required|requires)`)
	systemFirst = lazy(`(?i)system (message|role|prompt).*(begin|first|start|only one|single|multiple)|(multiple|only one) system`)
	noImages    = lazy(`(?i)image[^.]{0,40}not supported|(not|that) support (image|vision)`)
	noStream    = lazy(`(?i)stream(ing)?\W.*not (supported|allowed|available)|does not support stream`)
)

// learn changes the quirks by what a refusal says, and tells whether there was something new in it. sent has
// the fields that were sent, those of messages too.
func (q *quirks) learn(status int, message, param string, sent func(field string) bool) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity && status != http.StatusNotFound {
		return false
	}
	names := func(field string) bool { return param == field || wordIn(message, field) }
	switch {
	case names("reasoning_content") && mustHave().MatchString(message) && q.missing == "":
		q.missing = "reasoning_content"
		q.dropped = slices.DeleteFunc(slices.Clone(q.dropped), func(f string) bool { return f == q.missing })
		return true
	case names(q.maxField) && sent(q.maxField):
		return q.otherMax()
	case names(q.maxField) && !q.needsMax && mustHave().MatchString(message):
		q.needsMax = true
		return true
	case noImages().MatchString(message) && sent("image_url"):
		q.dropped = append(slices.Clone(q.dropped), "image_url")
		return true
	case !q.oneSystem && systemFirst().MatchString(message):
		q.oneSystem = true
		return true
	}
	for _, field := range optional {
		if names(field) && sent(field) && !q.drops(field) && field != q.missing {
			q.dropped = append(slices.Clone(q.dropped), field)
			return true
		}
	}
	if !q.whole && noStream().MatchString(message) {
		q.whole = true
		return true
	}
	return false
}

// otherMax takes the other name of the limit; when both are refused there is none.
func (q *quirks) otherMax() bool {
	was, other := q.maxField, newMax
	if was == newMax {
		other = oldMax
	}
	q.dropped = append(slices.Clone(q.dropped), was)
	if !q.drops(other) {
		q.maxField = other
	}
	return true
}

// wordIn tells whether a text has a field's name as a word: max_tokens is not in max_completion_tokens, and
// not in my_max_tokens.
func wordIn(text, field string) bool {
	for rest := text; ; {
		i := strings.Index(rest, field)
		if i < 0 {
			return false
		}
		before, after := i == 0 || !wordByte(rest[i-1]), i+len(field) == len(rest) || !wordByte(rest[i+len(field)])
		if before && after {
			return true
		}
		rest = rest[i+len(field):]
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// merge adds what another request learned.
func (q *quirks) merge(o quirks) {
	q.maxField = o.maxField
	q.missing = cmp.Or(q.missing, o.missing)
	q.oneSystem, q.whole, q.needsMax = q.oneSystem || o.oneSystem, q.whole || o.whole, q.needsMax || o.needsMax
	all := slices.Concat(q.dropped, o.dropped)
	slices.Sort(all)
	q.dropped = slices.DeleteFunc(slices.Compact(all), func(f string) bool { return f == q.missing })
}

// sends tells whether a field is in the request as it was sent with these quirks, as a field of the body or
// of a message.
func (c *client) sends(r Request, q quirks, field string) bool {
	if q.drops(field) {
		return false
	}
	switch field {
	case oldMax, newMax:
		return field == q.maxField && (r.MaxOutput > 0 || c.most != nil || q.needsMax)
	case "stream_options":
		return !q.whole && c.provider.usage
	case "cache_control":
		return c.provider.cache
	case "image_url":
		return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
	}
	body, err := c.body(Request{Tools: r.Tools, ToolChoice: r.ToolChoice, Temperature: r.Temperature, JSON: r.JSON}, q)
	var fields map[string]json.RawMessage
	if err == nil && jsonl.Unmarshal(body, &fields) == nil {
		if _, ok := fields[field]; ok {
			return true
		}
	}
	return slices.ContainsFunc(r.Messages, func(m Message) bool { _, ok := m.Extra[field]; return ok })
}
