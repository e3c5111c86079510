package llm

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

// ReadAnswer reads a body as it came from an endpoint.
func ReadAnswer(body []byte, kind string) (Reply, error) {
	c := &client{o: Options{Model: "m"}}
	a := &answer{turn: 2}
	if err := a.read(bytes.NewReader(body), kind, func(string) {}); err != nil {
		return Reply{}, err
	}
	return c.reply(a, 10), nil
}

// ParseError returns the words and the kind of an error's body.
func ParseError(status int, body []byte) (string, Kind) {
	e := parseError(body)
	return e.Message, kindOf(status, e)
}

// ReadReplay reads a replay file.
func ReadReplay(data []byte) (Model, error) {
	r, err := readReplay(bytes.NewReader(data), "test")
	if err != nil {
		return nil, err
	}
	return r.Model(RecordOptions{Places: []Place{{Name: "workspace", Path: "/w"}}}), nil
}

// InOut writes and reads a text as a replay file does.
func InOut(o RecordOptions, s string) (stored, back string) {
	p := newPlaces(o)
	stored = p.out(s)
	return stored, p.in(stored)
}

// WithoutTimes makes texts comparable.
func WithoutTimes(role Role, s string) string { return withoutTimes(role, s) }

// RetryAfter reads the headers of a refusal.
func RetryAfter(h http.Header, now time.Time) time.Duration { return retryAfter(h, now) }

// Table returns what docs/models.md must name: endpoints, priced models and the day of the prices.
func Table() (out []string) {
	for _, p := range providers {
		out = append(out, "`"+p.name+"`")
	}
	for _, p := range prices {
		out = append(out, fmt.Sprintf("| `%s` | %v | %v | %v |", p.model, p.input, p.cached, p.output))
	}
	for _, k := range []Kind{BadAuth, Limited, TooLarge, BadRequest, NotFound, Server, Unreachable, Late, Broken, NoQuota, Diverged} {
		out = append(out, "`"+string(k)+"`", "`"+codes[k]+"`")
	}
	return append(out, "Looked over on "+priced)
}
