package wire

import (
	"context"
	"errors"
	"fmt"
)

// ErrNone is returned by a command that ran well and whose answer is "none": exit status 1, no message.
var ErrNone = errors.New("none")

// Error is the error record. About one input it stands on stdout in place of the result; about the whole
// run it is the last line on stderr, with Exit. It is also the error value that commands return.
type Error struct {
	Type    string `json:"type"`            // always "error"
	ID      string `json:"id,omitempty"`    // of the input record that it answers
	Code    Code   `json:"code"`            // closed list
	Message string `json:"message"`         // for people, may change
	Hint    string `json:"hint,omitempty"`  // what to do next
	Line    int    `json:"line,omitempty"`  // of the input, from 1
	Input   string `json:"input,omitempty"` // the plain value that it is about: an argument, a query, a path
	SkillID string `json:"skill_id,omitempty"`
	Path    string `json:"path,omitempty"`
	// Of an answer of a server: what was asked, the seconds after which it may be asked again, and how its log names it.
	Endpoint   string `json:"endpoint,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"`
	RequestID  string `json:"request_id,omitempty"`
	Exit       int    `json:"exit,omitempty"` // only about a run
	Err        error  `json:"-"`              // what was wrapped
}

// Errorf returns an Error with a message made as by fmt.Errorf; %w is kept for errors.Is and errors.As.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	wrapped := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		wrapped = err
	}
	return &Error{Type: TypeError, Code: code, Message: err.Error(), Err: wrapped}
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what was wrapped.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's tree, Canceled for a cancelled context and Internal
// for any other error. It is "" for nil.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

// AsError returns err as a record of its own: a copy of the Error in its tree with the whole chain's
// message, or a new one with the code of CodeOf. It is nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	res := Error{Code: CodeOf(err), Err: err}
	var e *Error
	if errors.As(err, &e) {
		res = *e
	}
	res.Type, res.Message = TypeError, err.Error()
	return &res
}
