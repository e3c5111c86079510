package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Format is an output format.
type Format string

// The formats. Table is for terminals and has no flag.
const (
	JSONL Format = "jsonl"
	JSON  Format = "json"
	Plain Format = "plain"
	Table Format = "table"
)

// Printer writes results in the format that was asked for. It is safe for concurrent use.
type Printer struct {
	format   Format
	name     string
	out      *bufio.Writer
	lines    *jsonl.Writer
	stderr   io.Writer
	table    table
	width    int
	colour   bool
	start    time.Time
	timeless bool // write no measured times
	asJSON   bool // warnings are records

	mu                        sync.Mutex
	in, done, errors, skipped int
	missed, exit              int // inputs whose own records tell of failure, and the status of the first
	first                     *wire.Error
	err                       error
	warnings                  []byte // to be written at the end
	index                     string
	notes                     []string // warnings that are also in the summary
}

// Format returns the format in use.
func (p *Printer) Format() Format { return p.format }

// Colour tells whether what is written for people may be coloured.
func (p *Printer) Colour() bool { return p.colour }

// Emit writes a record. Its error is that of the output and stays; the command may end with it. A record
// that cannot be written as JSON, or that is too long, becomes an error record in its place.
func (p *Printer) Emit(rec wire.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	err := p.write(rec.Typed())
	var tooLong *jsonl.TooLongError
	var encode *jsonl.EncodeError
	switch {
	case errors.As(err, &tooLong):
		return p.fail(wire.Errorf(wire.TooLong, "%w", err))
	case errors.As(err, &encode):
		return p.fail(wire.Errorf(wire.Internal, "%w", err))
	}
	p.done++
	p.err = err
	return err
}

// write writes a record in the chosen format.
func (p *Printer) write(rec wire.Record) error {
	switch p.format {
	case JSONL:
		return p.lines.Write(rec)
	case JSON:
		return p.element(rec)
	case document:
		return nil
	}
	text, ok := rec.(wire.Texter)
	switch {
	case ok && (p.format == Table || rec.Columns() == nil):
		return p.text(text.Text())
	case p.format == Table:
		return p.table.add(p, rec)
	}
	cells := rec.Cells()
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	_, err := p.out.WriteString(strings.Join(cells, "\t") + "\n")
	return err
}

// text writes what is more than a row.
func (p *Printer) text(s string) error {
	if err := p.table.flush(p); err != nil {
		return err
	}
	p.table.any = true
	_, err := p.out.WriteString(strings.TrimSuffix(printable(s), "\n") + "\n")
	return err
}

// element writes one element of the JSON array.
func (p *Printer) element(rec any) error {
	line, err := jsonl.Marshal(rec)
	if err != nil {
		return &jsonl.EncodeError{Err: err}
	}
	var buf bytes.Buffer
	buf.WriteString(p.separator())
	if err := json.Indent(&buf, line, "  ", "  "); err != nil {
		return &jsonl.EncodeError{Err: err}
	}
	_, err = p.out.Write(buf.Bytes())
	return err
}

func (p *Printer) separator() string {
	if p.done+p.errors == 0 {
		return "[\n  "
	}
	return ",\n  "
}

// Fail writes an error about one input in the place of its result: a record on stdout, or a line on stderr
// in a format for people. The run goes on and ends with a status that tells of it.
func (p *Printer) Fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	return p.fail(wire.AsError(err))
}

// Miss notes that the record of an input, which is written or will be, tells that it did not come out well. When all inputs end so, the run ends
// with the status of the first, else with partly done.
func (p *Printer) Miss(exit int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missed++; p.missed == 1 {
		p.exit = exit
	}
}

// maxText bounds what an error says, so that its record always fits on a line.
const maxText = 4 << 10

func (p *Printer) fail(e *wire.Error) error {
	e.Message, e.Hint, e.Input, e.Path = short(e.Message), short(e.Hint), short(e.Input), short(e.Path)
	if p.first == nil {
		p.first = e
	}
	switch p.format {
	case JSONL:
		p.err = p.lines.Write(e)
	case JSON:
		p.err = p.element(e)
	default:
		p.sayFailure(e)
	}
	p.errors++
	return p.err
}

// short cuts text at maxText, between characters.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// sayFailure tells people which input it was, unless the message does.
func (p *Printer) sayFailure(e *wire.Error) {
	message := e.Message
	place := e.Input
	if place == "" && e.Line > 0 {
		place = fmt.Sprintf("line %d", e.Line)
	}
	if place != "" && !strings.Contains(message, place) {
		message = place + ": " + message
	}
	sayError(p.stderr, p.name, message, e.Hint)
}

// Warn writes a line to stderr: for people, or as a problem record when errors are records too. Beside a
// JSON array it waits for the end, so that both streams together are still JSON (CL-05).
func (p *Printer) Warn(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	p.warn(wire.Problem{Code: "warning", Severity: "warning", Message: message}, message)
}

// WarnOf writes a problem to stderr as Warn does, on one line without its hint; as a record it keeps its code and place.
func (p *Printer) WarnOf(rec wire.Problem) {
	brief := rec
	brief.Hint = ""
	p.warn(rec, brief.Text())
}

func (p *Printer) warn(rec wire.Problem, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.warning(rec, text)
	if p.format == JSON {
		p.warnings = append(p.warnings, line...)
		return
	}
	p.stderr.Write(line)
}

// WarnOnce is Warn for what makes the answers of the whole run less than they could be: it is said once, and also
// stands in the summary.
func (p *Printer) WarnOnce(message string) {
	p.mu.Lock()
	known := slices.Contains(p.notes, message)
	if !known {
		p.notes = append(p.notes, message)
	}
	p.mu.Unlock()
	if !known {
		p.Warn("%s", message)
	}
}

func (p *Printer) warning(rec wire.Problem, text string) []byte {
	if p.asJSON {
		if line, err := jsonl.Marshal(rec.Typed()); err == nil {
			return append(line, '\n')
		}
	}
	return fmt.Appendf(nil, "%s: %s\n", p.name, oneLine(text))
}

// Flush hands everything written so far to the reader.
func (p *Printer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flush()
}

func (p *Printer) flush() error {
	if p.err == nil {
		p.err = p.table.flush(p)
	}
	if p.err == nil {
		p.err = p.lines.Flush()
	}
	if p.err == nil {
		p.err = p.out.Flush()
	}
	return p.err
}

// count adds one to a counter.
func (p *Printer) count(n *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n++
}

// Skip adds n results to what the summary counts as passed over.
func (p *Printer) Skip(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skipped += n
}

// SetIndex puts the state of the search index into the summary.
func (p *Printer) SetIndex(state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index = state
}

// failed reports whether output is impossible.
func (p *Printer) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// close writes what ends the output: after a good run the summary, and the end of the JSON array.
func (p *Printer) close(good bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.stderr.Write(p.warnings) }()
	if p.err != nil {
		return p.err
	}
	switch {
	case p.format == JSONL && good:
		p.err = p.lines.Write(p.summary())
	case p.format == JSON && p.done+p.errors > 0:
		_, p.err = p.out.WriteString("\n]\n")
	case p.format == JSON && good:
		_, p.err = p.out.WriteString("[]\n")
	}
	return p.flush()
}

func (p *Printer) summary() wire.Record {
	s := wire.Summary{In: p.in, Out: p.done, Errors: p.errors, Skipped: p.skipped, Index: p.index, Warnings: p.notes}
	if !p.timeless {
		s.ElapsedMS = time.Since(p.start).Milliseconds()
	}
	return s.Typed()
}

// outcome returns what a run that ended with err (nil or ErrNone) has come to: errors about some inputs
// mean partly done, errors about all mean failed in the way of the first.
func (p *Printer) outcome(err error) error {
	switch {
	case p.errors+p.missed == 0:
		return err
	case p.missed > 0 && p.errors+p.missed < p.in:
		return status(wire.StatusPartly)
	case p.missed > 0 && p.errors > 0:
		return status(p.first.Code.Exit())
	case p.missed > 0:
		return status(p.exit)
	case p.done == 0 && p.errors >= p.in:
		return status(p.first.Code.Exit())
	}
	return status(wire.StatusPartly)
}
