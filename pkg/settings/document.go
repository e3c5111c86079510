package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/titanous/json5"
)

// Problem is what is wrong with a host's file, or with a value in it.
type Problem struct {
	Path         string
	Line, Column int // from 1; 0: not known
	Message      string
	Hint         string
}

// String is the problem on one line.
func (p Problem) String() string {
	at := p.Path
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, p.Line, p.Column)
	}
	return at + ": " + p.Message
}

const (
	maxHostFile = 64 << 20 // some hosts keep their history in the file
	maxLoose    = 4 << 20  // of a file that is not strict JSON: the reader for those is recursive and slow
)

// object is one level of a document.
type object = map[string]any

// parseDocument reads a host's file: TOML by its name, everything else JSON or JSON5.
func parseDocument(path string, data []byte) (object, *Problem) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, &Problem{Path: path, Message: "not UTF-8"}
	}
	if filepath.Ext(path) == ".toml" {
		return parseTOML(path, data)
	}
	var doc any
	if json.Unmarshal(data, &doc) != nil {
		if len(data) > maxLoose {
			return nil, &Problem{Path: path, Message: fmt.Sprintf("no strict JSON, and larger than %d bytes", maxLoose)}
		}
		if err := json5.Unmarshal(data, &doc); err != nil {
			return nil, syntaxProblem(path, data, err)
		}
	}
	res, ok := doc.(object)
	if !ok {
		return nil, &Problem{Path: path, Message: "want an object"}
	}
	return res, nil
}

func syntaxProblem(path string, data []byte, err error) *Problem {
	p := &Problem{Path: path, Message: err.Error()}
	var syntax *json5.SyntaxError
	if errors.As(err, &syntax) {
		p.Line, p.Column = position(data, int(syntax.Offset))
	}
	return p
}

// position returns line and column of the character before offset, where the reader noticed.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset-1, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

func parseTOML(path string, data []byte) (object, *Problem) {
	var doc object
	err := toml.Unmarshal(data, &doc)
	if err == nil {
		return doc, nil
	}
	p := &Problem{Path: path, Message: "no valid TOML"} // the reader's own message quotes the file
	var at toml.ParseError
	if errors.As(err, &at) {
		p.Line, p.Column = at.Position.Line, at.Position.Col
	}
	return nil, p
}

// at follows keys into a document; nil when there is no such place.
func at(o object, keys ...string) object {
	for _, k := range keys {
		o, _ = o[k].(object)
	}
	return o
}

// scalarText returns a string, a number or a truth as text, without white space around it; ok is false for anything else, also for nothing.
func scalarText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		text = strings.TrimSpace(v)
	case bool:
		text = strconv.FormatBool(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", false
		}
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return text, text != ""
}
