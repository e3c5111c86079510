package jsonl

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/goccy/go-json"
)

// mismatch is a value of another type than its field has, told in words of JSON: whoever wrote the line need not know
// the types of this program.
type mismatch struct{ *json.UnmarshalTypeError }

func (e mismatch) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s in place of %s", e.Value, kind(e.Type))
	}
	return fmt.Sprintf("field %q: %s in place of %s", e.Field, e.Value, kind(e.Type))
}

func (e mismatch) Unwrap() error { return e.UnmarshalTypeError }

func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Type != nil {
		return mismatch{wrong}
	}
	return err
}

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kind(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}
