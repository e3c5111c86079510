package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"
)

// escapes are the sequences by which programs colour text and move the cursor (ECMA-48), and window titles.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|[PX^_][^\x1b\n]*(?:\x1b\\\\)?|[ -/]*[0-~])")
})

// clean turns what a program writes for a terminal into text: no colours, of a line that was written over only what
// stands there last, and of bytes that are no text their numbers. With raw only the last is done.
func clean(block []byte, raw bool) []byte {
	if plainText(block) {
		return block
	}
	if !raw {
		if bytes.IndexByte(block, 0x1b) >= 0 {
			block = escapes().ReplaceAll(block, nil)
		}
		block = settle(block)
	}
	return visible(block, raw)
}

// plainText tells whether there is nothing to clean.
func plainText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// settle does what carriage returns and backspaces do, line by line.
func settle(block []byte) []byte {
	if bytes.IndexByte(block, '\r') < 0 && bytes.IndexByte(block, '\b') < 0 {
		return block
	}
	var out []byte
	for line := range bytes.Lines(block) {
		text, end := line, []byte(nil)
		if n := len(line); n > 0 && line[n-1] == '\n' {
			text, end = line[:n-1], line[n-1:]
		}
		out = append(append(out, rubOut(lastWritten(text))...), end...)
	}
	return out
}

// lastWritten returns what a line shows that was begun anew by carriage returns.
func lastWritten(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	return line[bytes.LastIndexByte(line, '\r')+1:]
}

// rubOut takes away what backspaces do.
func rubOut(line []byte) []byte {
	if bytes.IndexByte(line, '\b') < 0 {
		return line
	}
	var out []byte
	for _, c := range line {
		if c != '\b' {
			out = append(out, c)
			continue
		}
		_, n := utf8.DecodeLastRune(out)
		out = out[:len(out)-n]
	}
	return out
}

// visible writes bytes that are no text as \xNN.
func visible(b []byte, raw bool) []byte {
	if plainText(b) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		keep := r == '\n' || r == '\t' || raw && (r == 0x1b || r == '\r' || r == '\b')
		if r == utf8.RuneError && n == 1 || !keep && (r < ' ' || r == 0x7f) {
			out = fmt.Appendf(out, `\x%02x`, b[0])
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}
