package jsonl

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
)

// Writer writes one JSON object a line, through a buffer. After an error every call returns it.
type Writer struct {
	out    *bufio.Writer
	grease *rand.Rand
	err    error
}

// Option changes how a Writer writes.
type Option func(*Writer)

// WithGrease makes the writer insert records of type zz-… and fields zz_… that mean nothing, chosen by
// seed: a peer that cannot pass over what it does not know fails at once. An empty seed inserts nothing.
func WithGrease(seed string) Option {
	return func(w *Writer) {
		if seed == "" {
			return
		}
		h := fnv.New64a()
		h.Write([]byte(seed))
		w.grease = rand.New(rand.NewPCG(h.Sum64(), 0))
	}
}

// NewWriter returns a writer to w. What it writes stays in a buffer until Flush.
func NewWriter(w io.Writer, opts ...Option) *Writer {
	res := &Writer{out: bufio.NewWriterSize(w, bufferSize)}
	for _, o := range opts {
		o(res)
	}
	return res
}

// Write writes v, which must encode as a JSON object, as one line. A record over MaxLine is refused with
// a *TooLongError, one that cannot be encoded with an *EncodeError; neither stops the writer.
func (w *Writer) Write(v any) error {
	if w.err != nil {
		return w.err
	}
	line, err := Marshal(v)
	if err != nil {
		return &EncodeError{Err: err}
	}
	if len(line) < 2 || line[0] != '{' {
		return &EncodeError{Err: fmt.Errorf("%T is not a json object", v)}
	}
	if w.grease != nil {
		line = w.greased(line)
	}
	if len(line)+1 > MaxLine {
		return &TooLongError{}
	}
	w.put(line)
	return w.err
}

func (w *Writer) put(line []byte) {
	if _, w.err = w.out.Write(line); w.err == nil {
		w.err = w.out.WriteByte('\n')
	}
}

// Flush writes what is in the buffer.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// greased writes a meaningless record before one line in three and returns the line, every second time
// with a meaningless field.
func (w *Writer) greased(line []byte) []byte {
	if w.grease.IntN(3) == 0 {
		w.put(fmt.Appendf(nil, `{"type":"zz-%06x","id":"zz","zz_%04x":[{"a":[1,"}"]}]}`, w.grease.IntN(1<<24), w.grease.IntN(1<<16)))
	}
	if w.grease.IntN(2) == 0 {
		return line
	}
	sep := ","
	if bytes.Equal(line, []byte("{}")) {
		sep = ""
	}
	return fmt.Appendf(line[:len(line)-1:len(line)-1], `%s"zz_%04x":{"b":[true,"\n"]}}`, sep, w.grease.IntN(1<<16))
}
