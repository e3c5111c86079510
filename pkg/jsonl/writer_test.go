package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

type rec struct {
	Type string  `json:"type"`
	Text string  `json:"text,omitempty"`
	N    float64 `json:"n,omitempty"`
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := jsonl.NewWriter(&out)
	for _, v := range []any{rec{Type: "a", Text: "<"}, map[string]int{"b": 1, "a": 2}, struct{}{}} {
		if err := w.Write(v); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() != 0 {
		t.Errorf("got %q before Flush", out.String())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "{\"type\":\"a\",\"text\":\"<\"}\n{\"a\":2,\"b\":1}\n{}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A record that cannot be written is refused whole, and the writer goes on.
func TestWriterRefusesRecord(t *testing.T) {
	var out bytes.Buffer
	w := jsonl.NewWriter(&out)
	var encode *jsonl.EncodeError
	for _, v := range []any{rec{N: math.NaN()}, []int{1}, "text", nil, func() {}} {
		if err := w.Write(v); !errors.As(err, &encode) {
			t.Errorf("%T: got %v, want an EncodeError", v, err)
		}
	}
	var tooLong *jsonl.TooLongError
	overhead := len(`{"type":"","text":""}` + "\n")
	if err := w.Write(rec{Text: strings.Repeat("x", jsonl.MaxLine-overhead+1)}); !errors.As(err, &tooLong) {
		t.Errorf("got %v, want a TooLongError", err)
	}
	if err := w.Write(rec{Text: strings.Repeat("x", jsonl.MaxLine-overhead)}); err != nil {
		t.Errorf("got %v for a line of just MaxLine", err)
	}
	if err := w.Flush(); err != nil || out.Len() != jsonl.MaxLine {
		t.Errorf("got %d bytes, %v, want %d", out.Len(), err, jsonl.MaxLine)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestWriterKeepsError(t *testing.T) {
	full := errors.New("full")
	w := jsonl.NewWriter(broken{full})
	if err := w.Write(rec{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Flush(); err != full {
			t.Errorf("got %v, want %v", err, full)
		}
		if err := w.Write(rec{}); err != full {
			t.Errorf("got %v, want %v", err, full)
		}
	}
}

// Grease is valid JSON that says nothing, the same for the same seed, and the records are all there.
func TestWriterGrease(t *testing.T) {
	greased := func(seed string) string {
		var out bytes.Buffer
		w := jsonl.NewWriter(&out, jsonl.WithGrease(seed))
		for i := range 50 {
			var v any = rec{Type: "r", Text: fmt.Sprint(i)}
			if i%10 == 9 {
				v = struct{}{}
			}
			if err := w.Write(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if a, b := greased("1"), greased("1"); a != b {
		t.Error("the same seed gave other lines")
	}
	if greased("1") == greased("2") {
		t.Error("another seed gave the same lines")
	}
	if strings.Contains(greased(""), "zz") {
		t.Error("an empty seed gave grease")
	}
	types, fields, records := 0, 0, 0
	for line := range strings.Lines(greased("1")) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if typ, _ := m["type"].(string); strings.HasPrefix(typ, "zz-") {
			types++
			continue
		}
		records++
		if strings.Contains(line, `"zz_`) {
			fields++
		}
	}
	if types < 5 || fields < 10 || records != 50 {
		t.Errorf("got %d records, %d extra, %d extra fields, want 50, some, some", records, types, fields)
	}
}

func BenchmarkWriter(b *testing.B) {
	v := rec{Type: "hit", Text: strings.Repeat("text ", 60), N: 0.5}
	w := jsonl.NewWriter(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(v); err != nil {
			b.Fatal(err)
		}
	}
}
