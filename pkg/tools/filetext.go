package tools

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// coding is how the characters of a file are written.
type coding string

// The codings.
const (
	plainUTF8  coding = "UTF-8"
	markedUTF8 coding = "UTF-8 with a byte-order mark"
	littleUTF  coding = "UTF-16, little-endian"
	bigUTF     coding = "UTF-16, big-endian"
	western    coding = "not UTF-8 (read as Windows-1252)"
	noText     coding = "" // it is not text
)

// marks are the bytes at the beginning of a file by which a coding is known.
var marks = map[coding]string{markedUTF8: "\xEF\xBB\xBF", littleUTF: "\xFF\xFE", bigUTF: "\xFE\xFF"}

// codingOf tells how a file is written.
func codingOf(data []byte) coding {
	const looked = 8 << 10
	head := data[:min(looked, len(data))]
	for c, mark := range marks {
		if bytes.HasPrefix(data, []byte(mark)) {
			return c
		}
	}
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return noText
	case utf8.Valid(data):
		return plainUTF8
	case mostlyPrintable(head):
		return western
	}
	return noText
}

// mostlyPrintable tells whether control characters are rare, as in a text of an old coding.
func mostlyPrintable(head []byte) bool {
	odd := 0
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B {
			odd++
		}
	}
	return odd*100 <= len(head)
}

// charset returns how the coding is decoded and encoded; nil for UTF-8.
func (c coding) charset() encoding.Encoding {
	switch c {
	case littleUTF:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bigUTF:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case western:
		return charmap.Windows1252
	}
	return nil
}

// decode returns the text of a file, without a mark. What is not a character in it becomes U+FFFD.
func decode(data []byte) (string, coding) {
	c := codingOf(data)
	data = bytes.TrimPrefix(data, []byte(marks[c]))
	if set := c.charset(); set != nil {
		if plain, err := set.NewDecoder().Bytes(data); err == nil {
			data = plain
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), c
}

// errLossy is the error for a file whose bytes would not be the same after reading and writing it.
var errLossy = errors.New("it is not UTF-8, so that it cannot be edited as text without harm")

// decodeExact is decode for a file that is written back. It is an error when encode would not give the same bytes.
func decodeExact(data []byte) (string, coding, error) {
	text, c := decode(data)
	if c == noText {
		return "", c, errors.New("it is not text")
	}
	if c == western {
		return "", c, errLossy
	}
	back, err := encode(text, c)
	if err != nil || !bytes.Equal(back, data) {
		return "", c, errLossy
	}
	return text, c, nil
}

// encode writes a text in a coding, with its mark.
func encode(text string, c coding) ([]byte, error) {
	data := []byte(text)
	if set := c.charset(); set != nil {
		coded, err := set.NewEncoder().Bytes(data)
		if err != nil {
			return nil, err
		}
		data = coded
	}
	return append([]byte(marks[c]), data...), nil
}

// mediaType tells what a file that is not text seems to be.
func mediaType(data []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return kind
}

// lines cuts a text into its lines, without their ends. A text that ends in a line end has no empty line behind it.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range all {
		all[i] = strings.TrimSuffix(l, "\r")
	}
	return all
}

// line is one line of a file as it is shown.
type line struct {
	number int // from 1
	text   string
}

// numbered returns the lines of a text with secrets taken out. All of the text is masked at once, because a secret may
// have several lines; where that leaves fewer lines, the numbers are still those of the file.
func numbered(text string, m *Mask) []line {
	raw, shown := lines(text), lines(m.Text(text))
	out := make([]line, 0, len(shown))
	if len(raw) == len(shown) {
		for i, l := range shown {
			out = append(out, line{i + 1, l})
		}
		return out
	}
	at := 0 // in raw
	for i, l := range shown {
		out = append(out, line{at + 1, l})
		step := 1
		if l != raw[at] && i+1 < len(shown) {
			step += max(0, slices.Index(raw[at+1:], shown[i+1]))
		}
		at = min(at+step, len(raw)-1)
	}
	return out
}
