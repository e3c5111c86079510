package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Env is what a command's Run works with.
type Env struct {
	Args     []string // without flags
	Stdin    io.Reader
	Stdout   *bufio.Writer // for output that is no record; flushed at the end
	Stderr   io.Writer
	Settings *settings.Settings
	Out      *Printer
	Dir      string   // the working directory
	Environ  []string // for children

	StdinTerminal, StdoutTerminal, StderrTerminal bool

	ctx context.Context
	cmd *Command
}

// Warn writes a line for people to stderr.
func (e *Env) Warn(format string, args ...any) { e.Out.Warn(format, args...) }

// WarnOf writes a problem to stderr: a line for people, or the record itself when errors are records.
func (e *Env) WarnOf(rec wire.Problem) { e.Out.WarnOf(rec) }

// Abs returns a path as seen from the working directory, absolute and clean.
func (e *Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// maxID bounds the id of a record: it is repeated in every answer.
const maxID = 1024

// Input is one input of a command: an argument, a plain line or a record.
type Input struct {
	ID    string // of the record; else the number of the line or argument, from 1
	Line  int    // of stdin, from 1; 0 for an argument
	Value string // of an argument or a plain line; "" for a record
	Type  string // of a record; may be "" for a record without a type
	Data  []byte // the record, the input's own; nil for an argument or a plain line
}

// Decode decodes a record into a fresh value that is stored in what v points to. Its error is for Fail.
func (in Input) Decode(v any) error {
	if err := jsonl.Unmarshal(in.Data, v); err != nil {
		return in.Errorf(wire.Invalid, "%w", err)
	}
	return nil
}

// Errorf returns an error about this input, for Fail.
func (in Input) Errorf(code wire.Code, format string, args ...any) *wire.Error {
	return in.About(wire.Errorf(code, format, args...))
}

// About returns err as an error about this input, for Fail.
func (in Input) About(err error) *wire.Error {
	e := wire.AsError(err)
	e.ID, e.Line = in.ID, in.Line
	if e.Input == "" {
		e.Input = in.Value
	}
	return e
}

// Inputs returns the inputs of the command one by one: its arguments or, without any or with "-", the
// lines of stdin. A line that is a JSON object is a record; any other line is a plain value. Records of
// types that are not in accept are passed over and counted, except errors of the command before in the
// pipe, which are passed on. A line that cannot be read becomes an error record. Output is flushed before
// a read that may block. The iteration ends early when the run is canceled or output fails.
func (e *Env) Inputs(accept ...string) iter.Seq[Input] {
	return func(yield func(Input) bool) {
		if len(e.Args) > 0 && !slices.Equal(e.Args, []string{"-"}) {
			e.arguments(yield)
			return
		}
		e.lines(accept, yield)
	}
}

func (e *Env) arguments(yield func(Input) bool) {
	for i, arg := range e.Args {
		in := Input{ID: strconv.Itoa(i + 1), Value: arg}
		e.Out.count(&e.Out.in)
		if e.ctx.Err() != nil || e.Out.failed() {
			return
		}
		switch {
		case arg == "-":
			e.Out.Fail(in.Errorf(wire.Usage, "\"-\" stands for stdin and cannot stand beside other arguments"))
		case !utf8.ValidString(arg):
			e.Out.Fail(in.Errorf(wire.Invalid, "argument %d is not valid utf-8", i+1))
		case !yield(in):
			return
		}
	}
}

func (e *Env) lines(accept []string, yield func(Input) bool) {
	if e.StdinTerminal {
		what := e.cmd.Stdin
		if what == "" {
			what = "input, one a line"
		}
		e.Warn("waiting for %s; ctrl-d ends it", what)
	}
	next := e.reader()
	for {
		line, err := next()
		var tooLong *jsonl.TooLongError
		switch {
		case err == io.EOF, err != nil && e.ctx.Err() != nil, e.Out.failed():
			return
		case errors.As(err, &tooLong):
			e.Out.count(&e.Out.in)
			in := Input{ID: strconv.Itoa(tooLong.Line), Line: tooLong.Line}
			e.Out.Fail(in.Errorf(wire.TooLong, "%w", err))
			continue
		case err != nil:
			e.Out.count(&e.Out.in)
			e.Out.Fail(wire.Errorf(wire.Internal, "read stdin: %w", err))
			return
		}
		if in, ok := e.input(line, accept); ok && !yield(in) {
			return
		}
	}
}

// reader returns a function that reads the next line. A command that handles signals must not be stuck in
// a read, which no signal ends: there a goroutine reads and is left behind at the end.
func (e *Env) reader() func() (jsonl.Line, error) {
	in := jsonl.NewReader(e.Stdin)
	in.BeforeBlock(e.Out.Flush)
	if !e.cmd.Signals {
		return in.Next
	}
	type read struct {
		line jsonl.Line
		err  error
	}
	ask, answer := make(chan struct{}), make(chan read, 1)
	go func() {
		for range ask {
			line, err := in.Next()
			answer <- read{line, err}
		}
	}()
	return func() (jsonl.Line, error) {
		select {
		case ask <- struct{}{}:
		case <-e.ctx.Done():
			return jsonl.Line{}, e.ctx.Err()
		}
		select {
		case r := <-answer:
			return r.line, r.err
		case <-e.ctx.Done():
			return jsonl.Line{}, e.ctx.Err()
		}
	}
}

// input makes an input of a line; ok is false for one that was dealt with.
func (e *Env) input(line jsonl.Line, accept []string) (in Input, ok bool) {
	in = Input{ID: strconv.Itoa(line.Num), Line: line.Num}
	if !utf8.Valid(line.Data) {
		e.Out.count(&e.Out.in)
		e.Out.Fail(in.Errorf(wire.Invalid, "line %d is not valid utf-8", line.Num))
		return in, false
	}
	if line.Data[0] != '{' {
		e.Out.count(&e.Out.in)
		in.Value = string(line.Data)
		return in, true
	}
	var head struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	if err := jsonl.Unmarshal(line.Data, &head); err != nil {
		e.Out.count(&e.Out.in)
		e.Out.Fail(in.Errorf(wire.Invalid, "line %d: %w", line.Num, err))
		return in, false
	}
	return e.record(in, head.Type, head.ID, line.Data, accept)
}

func (e *Env) record(in Input, typ, id string, data []byte, accept []string) (Input, bool) {
	switch {
	case typ == wire.TypeError:
		e.Out.count(&e.Out.in)
		e.passOn(in, data)
		return in, false
	case typ != "" && !slices.Contains(accept, typ):
		e.Out.count(&e.Out.skipped)
		return in, false
	}
	e.Out.count(&e.Out.in)
	if len(id) > maxID {
		e.Out.Fail(in.Errorf(wire.TooLong, "line %d: id is longer than %d bytes", in.Line, maxID))
		return in, false
	}
	if id != "" {
		in.ID = id
	}
	in.Type, in.Data = typ, bytes.Clone(data) // the reader uses its buffer again while others still work on the input
	return in, true
}

// passOn writes an error of the command before as one of ours, so that it reaches the end of the pipe.
func (e *Env) passOn(in Input, data []byte) {
	var rec wire.Error
	if err := in.decodeInto(data, &rec); err != nil {
		e.Out.Fail(err)
		return
	}
	rec.Exit, rec.ID = 0, short(rec.ID)
	e.Out.Fail(&rec)
}

func (in Input) decodeInto(data []byte, v any) error {
	in.Data = data
	return in.Decode(v)
}

// Single returns the only argument; what names it in the usage error when there is none or more.
func (e *Env) Single(what string) (string, error) {
	if len(e.Args) != 1 {
		return "", usagef("want one %s, got %s", what, plural(len(e.Args), "argument"))
	}
	return e.Args[0], nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
