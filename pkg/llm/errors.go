package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// words say what a kind means, for people.
var words = map[Kind]string{
	BadAuth: "the key is missing or refused", Limited: "too many requests", TooLarge: "more than the model can take in", BadRequest: "the request is refused",
	NotFound: "no such model or address", Server: "the server has a problem", Unreachable: "no connection", Late: "no answer in time",
	Broken: "the answer broke off", NoQuota: "the account has no quota left", Diverged: "the replay has no answer",
}

// Error names the model, its address without credentials, what went wrong and how often it was tried.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ask model")
	if e.Model != "" {
		fmt.Fprintf(&b, " %q", e.Model)
	}
	if e.Endpoint != "" {
		b.WriteString(" at " + e.Endpoint)
	}
	what := words[e.Kind]
	if what == "" {
		what = string(e.Kind)
	}
	b.WriteString(": " + what)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var codes = map[Kind]string{
	BadAuth: "auth", NoQuota: "auth", Limited: "rate_limited", TooLarge: "too_long", BadRequest: "invalid", NotFound: "not_found",
	Server: "network", Unreachable: "network", Late: "network", Broken: "network", Diverged: "invalid",
}

// Code returns the name of the suite's error code for an error of a model: auth, rate_limited, too_long,
// invalid, not_found, network, canceled when the context ended, version for a replay of another format,
// corrupt for one that is damaged, else internal.
func Code(err error) string {
	var e *Error
	var r *ReplayError
	switch {
	case errors.As(err, &e):
		return codes[e.Kind]
	case errors.As(err, &r):
		return r.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	}
	return "internal"
}

// Hint says what a person can do about an error of a model; "" when there is nothing.
func Hint(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Kind {
	case BadAuth:
		return "set OPENSPACE_LLM_API_KEY, or the key variable of the provider; openspace-skills doctor shows which key is used"
	case NoQuota:
		return "top up the account at the provider, or use another model with --model"
	case Limited:
		return "try later, or run fewer tasks at once with --jobs"
	case NotFound:
		return "is the model's name right, and OPENSPACE_LLM_API_BASE?"
	case TooLarge:
		return "give a smaller task, or a model with a larger window with --model"
	case Unreachable:
		return "is the address right and the server up?"
	case Late:
		return `is the server up? a slow one needs more seconds: OPENSPACE_LLM_CONFIG='{"timeout":600}'`
	case Diverged:
		return "are the files as they were when it was recorded? else record the run again with --record"
	}
	return ""
}
