package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// providerError is the error object of an endpoint, in whatever of its shapes.
type providerError struct {
	Message string
	Type    string
	Param   string
	Code    string
}

func (e *providerError) Error() string { return e.Message }

// parseError reads the body of an error: {"error": {…}}, {"error": "…"}, {"message": "…"}, {"detail": …}, or
// plain text.
func parseError(body []byte) *providerError {
	var doc map[string]json.RawMessage
	if jsonl.Unmarshal(body, &doc) != nil {
		var list []json.RawMessage
		if jsonl.Unmarshal(body, &list) == nil && len(list) > 0 { // Gemini's stream
			return parseError(list[0])
		}
		return &providerError{Message: plain(string(body))}
	}
	e := &providerError{}
	for _, name := range []string{"error", "detail", "errors"} {
		if raw, ok := doc[name]; ok && string(raw) != "null" {
			e.fill(raw)
			break
		}
	}
	if e.Message == "" {
		e.fillObject(doc)
	}
	if e.Message == "" {
		e.Message = plain(string(body))
	}
	return e
}

func (e *providerError) fill(raw json.RawMessage) {
	var inner map[string]json.RawMessage
	if jsonl.Unmarshal(raw, &inner) == nil {
		e.fillObject(inner)
	}
	if e.Message == "" {
		e.Message = plain(text(raw))
	}
}

func (e *providerError) fillObject(o map[string]json.RawMessage) {
	e.Message, e.Type, e.Param = text(o["message"]), text(o["type"]), text(o["param"])
	if e.Code = text(o["code"]); e.Code == "" {
		e.Code = text(o["status"])
	}
	// OpenRouter hides what the provider behind it said.
	var meta struct {
		Raw json.RawMessage `json:"raw"`
	}
	if jsonl.Unmarshal(o["metadata"], &meta) == nil && len(meta.Raw) > 0 {
		if behind := parseError([]byte(text(meta.Raw))); behind.Message != "" && !strings.Contains(e.Message, behind.Message) {
			e.Message += ": " + behind.Message
		}
	}
	e.Message = plain(e.Message)
}

// text returns a JSON text, a number or anything else as text; "" for null.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if jsonl.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// plain makes one short line of a text, also of a web page.
func plain(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = markup().ReplaceAllString(s, " ")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	const most = 600
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

var markup = lazy(`(?s)<(script|style)\b.*?</(script|style)>|<[^>]*>`)

// status returns the HTTP status that stands in an error object, else 0.
func (e *providerError) status() int {
	n, err := strconv.Atoi(e.Code)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}

var (
	tooLarge = lazy(`(?i)context[ _]length|context window|maximum context|too many (input )?tokens|prompt is too long|input is too long|` +
		`exceeds the (maximum|model'?s)[^.]*(tokens|context|length)|(input|prompt)[^.]{0,40}token (count|limit)|reduce the length`)
	noQuota   = lazy(`(?i)insufficient[_ ](quota|balance|funds|credits?)|exceeded your current quota|quota (used up|exhausted)|out of credits|billing`)
	overload  = lazy(`(?i)overloaded|temporarily|try again|unavailable|rate.?limit|too many requests`)
	wrongKey  = lazy(`(?i)(invalid|incorrect|missing|no) (api[ _-]?key|auth|credentials)|unauthorized|authentication`)
	noModel   = lazy(`(?i)(no such|unknown|invalid|not a valid) model|model[^.]{0,80}(not found|does not exist|not exist)`)
	malformed = lazy(`(?i)malformed`)
)

// kind classes an error by its status, and by its own words where the status does not tell.
func (e *providerError) kind() Kind { return kindOf(e.status(), e) }

func kindOf(status int, e *providerError) Kind {
	all := e.Message + " " + e.Type + " " + e.Code
	switch {
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && noQuota().MatchString(all):
		return NoQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return BadAuth
	case status == http.StatusRequestEntityTooLarge:
		return TooLarge
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return Server
	case status == http.StatusTooManyRequests:
		return Limited
	case status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return Server
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return NotFound
	}
	return kindByWords(all)
}

// kindByWords classes a refusal without a status that tells more: 400, or an error inside an answer with 200.
func kindByWords(all string) Kind {
	for _, c := range []struct {
		words func() *regexp.Regexp
		kind  Kind
	}{{tooLarge, TooLarge}, {noQuota, NoQuota}, {wrongKey, BadAuth}, {noModel, NotFound}, {overload, Server}, {malformed, Broken}} {
		if c.words().MatchString(all) {
			return c.kind
		}
	}
	return BadRequest
}

// refused is the error for a response that is no success.
func (c *client) refused(resp *http.Response) error {
	if resp.StatusCode < 400 {
		to := "elsewhere"
		if u, err := resp.Location(); err == nil {
			to = u.Scheme + "://" + u.Host + u.EscapedPath()
		}
		return c.failure(NotFound, resp.StatusCode, "the endpoint redirects to "+to+", which is not followed; give that address as the base if you trust it", nil)
	}
	body, err := io.ReadAll(resp.Body)
	said := parseError(body)
	if said.Message == "" {
		said.Message = http.StatusText(resp.StatusCode)
	}
	e := c.failure(kindOf(resp.StatusCode, said), resp.StatusCode, said.Message, err)
	e.param, e.RequestID, e.RetryAfter = said.Param, requestID(resp.Header), retryAfter(resp.Header, time.Now())
	if resp.Header.Get("X-Should-Retry") == "false" && e.Kind == Server {
		e.final = true
	}
	return e
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Cf-Ray"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// maxRetryAfter bounds what a server may ask for; a longer wait ends the call at once, by the limit on its time.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns how long a server wants to be left alone: milliseconds, seconds or a date; 0 when it
// does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, maxRetryAfter.Seconds()*1000) * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return min(t.Sub(now), maxRetryAfter)
	}
	return 0
}

// failure makes an error of this model. Secrets are taken out of its text.
func (c *client) failure(kind Kind, status int, message string, err error) *Error {
	return &Error{Kind: kind, Model: c.o.Model, Message: c.mask(message), Endpoint: c.endpoint(), Status: status, Err: c.harmless(err)}
}

// keyLike matches what looks like a key, also one that the provider has half masked.
var keyLike = lazy(`\b(sk|rk|pk|gsk|xai|AIza|nvapi)[-_]?[A-Za-z0-9_*-]{12,}`)

// mask takes secrets out of a text.
func (c *client) mask(s string) string {
	for _, secret := range c.secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, "********")
		}
	}
	return keyLike().ReplaceAllString(s, "********")
}

// harmless keeps of a cause what errors.Is can find, without a text that could have a secret in it.
func (c *client) harmless(err error) error {
	if err == nil {
		return nil
	}
	return masked{err, c.mask(err.Error())}
}

type masked struct {
	err  error
	text string
}

func (m masked) Error() string { return m.text }
func (m masked) Unwrap() error {
	if u, ok := m.err.(*url.Error); ok {
		return u.Err
	}
	return m.err
}
