// Package jsonl reads and writes lines: one JSON object, or one plain value, a line.
//
// It owns the cap on a line's length, line numbers, the rule when output is flushed, and how values
// become JSON text. It knows nothing of record types: those are in package wire.
//
// Guarantees: a reader never holds more than one line, reports a line that is too long and goes on
// after it, and tolerates a byte-order mark, CR LF and a last line without an end. A writer writes
// whole lines or reports an error. Readers and writers are not safe for concurrent use.
package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/goccy/go-json"
)

// MaxLine is the longest line in bytes, its newline included, that is read or written: 16 MiB.
const MaxLine = 16 << 20

// bufferSize is what one read or write call moves: larger buffers were not faster.
const bufferSize = 64 << 10

// TooLongError reports a line over MaxLine.
type TooLongError struct {
	Line int // the line's number, from 1; 0 for a line that was to be written
}

func (e *TooLongError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("record is longer than %d bytes", MaxLine)
	}
	return fmt.Sprintf("line %d is longer than %d bytes", e.Line, MaxLine)
}

// EncodeError reports a record that has no JSON form, such as one that holds a NaN.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "encode record: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }

// errTarget reports a programming mistake in a call of Unmarshal.
var errTarget = errors.New("decode json: target is not a pointer")

// Marshal returns v as JSON on one line, without a newline: struct fields in their order, map keys
// sorted, and <, > and & as they are. Every control character is escaped, also those from U+007F to U+009F
// that some terminals obey and those that turn the direction of text. A NaN or an infinity is an error.
func Marshal(v any) ([]byte, error) {
	line, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		return nil, err
	}
	return escapeControls(line), nil
}

// escapeControls escapes U+007F to U+009F and the controls of text direction, which JSON allows as they are and which
// can stand only inside strings. Nearly always it returns line itself.
func escapeControls(line []byte) []byte {
	if bytes.IndexByte(line, 0x7f) < 0 && !hasControl(line, 0xc2) && !hasControl(line, 0xe2) && !hasControl(line, 0xd8) {
		return line
	}
	out := make([]byte, 0, len(line)+32)
	for len(line) > 0 {
		n := 1
		if c := control(line); c > 0 {
			n = utf8.RuneLen(c)
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = append(out, line[0])
		}
		line = line[n:]
	}
	return out
}

// control returns the control character that b begins with, or 0. Those that JSON has to escape are not looked for.
func control(b []byte) rune {
	switch {
	case b[0] == 0x7f:
		return 0x7f
	case b[0] != 0xc2 && b[0] != 0xd8 && b[0] != 0xe2:
		return 0
	}
	r, _ := utf8.DecodeRune(b)
	switch {
	case r >= 0x80 && r < 0xa0, r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return r
	}
	return 0
}

// hasControl looks for control characters whose first byte is lead.
func hasControl(line []byte, lead byte) bool {
	for {
		i := bytes.IndexByte(line, lead)
		if i < 0 {
			return false
		}
		if control(line[i:]) > 0 {
			return true
		}
		line = line[i+1:]
	}
}

// Unmarshal decodes one JSON value into a fresh value and stores it in what v points to. What was
// there before does not shine through, and after an error it is unchanged.
func Unmarshal(b []byte, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errTarget
	}
	fresh := reflect.New(target.Type().Elem())
	if err := json.Unmarshal(b, fresh.Interface()); err != nil {
		return fmt.Errorf("decode json: %w", inWords(err))
	}
	target.Elem().Set(fresh.Elem())
	return nil
}
