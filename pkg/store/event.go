package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/goccy/go-json"
)

const (
	eventVersion = 1
	// maxLine bounds one journal line, its LF among it.
	maxLine = 4 << 20

	crcKey = `,"crc":"` // then eight hex digits, `"}`
	crcLen = len(crcKey) + 8 + 2
)

// Names of the operations; what they carry stands in docs/format-store.md.
const (
	opCommit    = "commit"
	opAnalysis  = "analysis"
	opProcessed = "processed"
	opMark      = "mark"
	opTool      = "tool"
	opAttempt   = "attempt"

	opPut        = "put"
	opActivate   = "activate"
	opDeactivate = "deactivate"
	opDelete     = "delete"
)

// event is one journal line.
type event struct {
	V   int       `json:"v"`
	T   time.Time `json:"t"`
	Seq uint64    `json:"seq"`
	Op  string    `json:"op"`
	PID int       `json:"pid"`

	Commit    *commit     `json:"commit,omitempty"`
	Analysis  *Analysis   `json:"analysis,omitempty"`
	Processed *Processed  `json:"processed,omitempty"`
	Mark      *Mark       `json:"mark,omitempty"`
	Tool      *ToolSample `json:"tool,omitempty"`
	Attempt   *Attempt    `json:"attempt,omitempty"`
}

// commit is the payload of a commit line.
type commit struct {
	Ops    []Op   `json:"ops"`
	Expect Expect `json:"expect,omitempty"`
}

// Expect maps a canonical folder to the id of the active record that must be
// there when a commit is made; "" means none.
type Expect map[string]string

// Op is one change of a commit; see Put, Activate, Deactivate and Delete.
type Op struct {
	Op     string  `json:"op"`
	ID     string  `json:"id,omitempty"`
	Record *Record `json:"record,omitempty"`
}

// Put stores a new record, or a new state of the record with that id.
func Put(r Record) Op { return Op{Op: opPut, Record: &r} }

// Activate makes a record the head of its folder.
func Activate(id string) Op { return Op{Op: opActivate, ID: id} }

// Deactivate ends a record's being the head of its folder.
func Deactivate(id string) Op { return Op{Op: opDeactivate, ID: id} }

// Delete forgets a record. Its analyses stay in the journal.
func Delete(id string) Op { return Op{Op: opDelete, ID: id} }

func (o Op) id() string {
	if o.Record != nil {
		return o.Record.SkillID
	}
	return o.ID
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the line of an event, its LF included.
func (e *event) encode() ([]byte, error) {
	line, err := json.MarshalWithOption(e, json.DisableHTMLEscape())
	if err != nil {
		return nil, fmt.Errorf("encode %s event: %w", e.Op, err)
	}
	line = append(appendSum(line), '\n')
	if len(line) > maxLine {
		return nil, fmt.Errorf("%w: a %s event of %d bytes, at most %d are allowed", ErrInvalid, e.Op, len(line), maxLine)
	}
	return line, nil
}

// appendSum adds the checksum of a JSON object as its last key.
func appendSum(object []byte) []byte {
	sum := crc32.Checksum(object, castagnoli)
	return fmt.Appendf(object[:len(object)-1], "%s%08x\"}", crcKey, sum)
}

var errBadLine = errors.New("damaged line")

// lineSum returns the checksum that ends a line (without its LF).
func lineSum(line []byte) (uint32, bool) {
	cut := len(line) - crcLen
	if cut < 1 || !bytes.HasPrefix(line[cut:], []byte(crcKey)) || string(line[len(line)-2:]) != `"}` {
		return 0, false
	}
	var sum uint32
	for _, c := range line[cut+len(crcKey) : len(line)-2] {
		switch {
		case c >= '0' && c <= '9':
			sum = sum<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			sum = sum<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return sum, true
}

// checkLine reports whether a line (without its LF) carries its own checksum.
func checkLine(line []byte) bool {
	want, ok := lineSum(line)
	if !ok {
		return false
	}
	sum := crc32.Checksum(line[:len(line)-crcLen], castagnoli)
	return crc32.Update(sum, castagnoli, []byte{'}'}) == want
}

// decode reads one line without its LF. Every error matches errBadLine.
func decode(line []byte, e *event) error {
	if !checkLine(line) {
		return fmt.Errorf("%w: checksum", errBadLine)
	}
	if err := json.Unmarshal(line, e); err != nil {
		return fmt.Errorf("%w: %w", errBadLine, err)
	}
	return nil
}
