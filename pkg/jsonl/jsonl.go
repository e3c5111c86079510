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
// that some terminals obey. A NaN or an infinity is an error.
func Marshal(v any) ([]byte, error) {
	line, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		return nil, err
	}
	return escapeControls(line), nil
}

// escapeControls escapes U+007F to U+009F, which JSON allows as they are and which can stand only inside
// strings. Nearly always it returns line itself.
func escapeControls(line []byte) []byte {
	if bytes.IndexByte(line, 0x7f) < 0 && !hasC1(line) {
		return line
	}
	out := make([]byte, 0, len(line)+32)
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == 0x7f:
			out = append(out, `\u007f`...)
		case isC1(line[i:]):
			out = fmt.Appendf(out, `\u00%02x`, line[i+1])
			i++
		default:
			out = append(out, line[i])
		}
	}
	return out
}

// isC1 reports whether b begins with one of U+0080 to U+009F.
func isC1(b []byte) bool { return len(b) > 1 && b[0] == 0xc2 && b[1] >= 0x80 && b[1] < 0xa0 }

func hasC1(line []byte) bool {
	for {
		i := bytes.IndexByte(line, 0xc2)
		if i < 0 {
			return false
		}
		if isC1(line[i:]) {
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
