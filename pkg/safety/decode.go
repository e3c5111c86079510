package safety

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"golang.org/x/text/encoding/unicode"
)

const (
	minBlob    = 16      // characters of a base64 or hex run worth decoding
	maxBlobs   = 10000   // runs decoded in one text
	maxDecoded = 4 << 20 // bytes decoded from one text, in all
	maxLine    = 8000    // bytes of a line that are put together
	maxDepth   = 3       // encodings within encodings
)

// cipher is one way to write a text so that a search does not find it. Where
// none of its signs was seen there is nothing to decode.
type cipher struct {
	signs []string
	read  func(v view, emit emitter)
}

// ciphers are the ways that the scan undoes. Base64 and hex have no signs.
var ciphers = [...]cipher{
	{nil, baseRuns},
	{[]string{`\x`, `\u`, `\14`, `\15`, `\16`, `\17`}, func(v view, emit emitter) { escapeRuns(v.data, '\\', "escapes", emit) }},
	{[]string{"%2", "%6", "%7"}, func(v view, emit emitter) { escapeRuns(v.data, '%', "percent signs", emit) }},
	{[]string{"fromcharcode(", "fromcodepoint(", "bytes([", "bytearray([", "chr(", "buffer.from(["}, codeLists},
	{[]string{"\xf3\xa0\x80", "\xf3\xa0\x81"}, tagRuns},
	{[]string{"[::-1]", ".reverse()", "reversed(", "| rev", "strrev("}, backwards},
	{[]string{"''", `""`, `' +`, `'+`, `" +`, `"+`}, func(v view, emit emitter) { pieces(v, '+', emit) }},
	{[]string{`.join('')`, `.join("")`, `''.join(`, `"".join(`}, func(v view, emit emitter) { pieces(v, ',', emit) }},
}

// emitter takes what was decoded, where it started, and from what.
type emitter = func(start int, plain []byte, via string)

// decode scans what is written in a view in other ways, and what is written in
// that. seen tells which ciphers' signs the view has.
func (s *scanner) decode(v view, seen uint32) {
	if v.depth >= maxDepth {
		return
	}
	for i := range ciphers {
		if ciphers[i].signs == nil || seen>>i&1 == 1 {
			ciphers[i].read(v, func(start int, plain []byte, via string) { s.decoded(v, start, plain, via) })
		}
	}
}

// decoded scans one decoded text.
func (s *scanner) decoded(v view, start int, plain []byte, via string) {
	if !readable(plain) {
		return
	}
	if s.blobs >= maxBlobs || s.unpacked+len(plain) > maxDecoded {
		s.overfull = true
		return
	}
	s.blobs++
	s.unpacked += len(plain)
	next := view{data: plain, base: v.origin(start), fixed: true, depth: v.depth + 1, via: via}
	if v.via != "" {
		next.via = via + " within " + v.via
	}
	s.decode(next, s.view(next))
}

// readable reports whether bytes look like text rather than like an image, a
// digest or a key.
func readable(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	odd := 0
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			odd++
		}
	}
	return odd*20 <= len(b)
}

// baseClass tells the alphabets of base64 and hex apart: 2 for a hex digit, 1
// for another base64 character, 0 for anything else.
var baseClass = func() (class [256]uint8) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/-_") {
		class[c] = 1
	}
	for _, c := range []byte("0123456789abcdefABCDEF") {
		class[c] = 2
	}
	return class
}()

// baseRuns finds runs of base64 and hex. It looks at every minBlob-th byte
// only: a run of that length cannot lie between two of them.
func baseRuns(v view, emit emitter) {
	text := v.data
	for i := minBlob - 1; i < len(text); i += minBlob {
		if baseClass[text[i]] == 0 {
			continue
		}
		start, end := i, i+1
		for start > 0 && baseClass[text[start-1]] != 0 && i-start < minBlob {
			start--
		}
		for end < len(text) && baseClass[text[end]] != 0 {
			end++
		}
		if end-start >= minBlob {
			run(text[start:end], start, emit)
		}
		i = max(i, end-1)
	}
}

// run decodes one run in the ways that its characters allow.
func run(text []byte, start int, emit emitter) {
	if plain, err := hex.DecodeString(string(text[:len(text)&^1])); err == nil {
		emit(start, plain, "hex")
		return
	}
	text = bytes.Clone(text)
	for i, c := range text {
		switch c {
		case '-':
			text[i] = '+'
		case '_':
			text[i] = '/'
		}
	}
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, err := base64.RawStdEncoding.Decode(plain, text)
	if err != nil && n == 0 {
		return
	}
	emit(start, plain[:n], "base64")
}

// escapeRuns reads the lines that have four or more of \x68, \u0068, \150 or, by
// another sign, %68.
func escapeRuns(text []byte, sign byte, via string, emit emitter) {
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], sign)
		if n < 0 {
			return
		}
		start := bytes.LastIndexByte(text[:i+n], '\n') + 1
		start = max(start, i, i+n-maxLine)
		plain, escapes := text[start:i+n:i+n], 0
		for i += n; i < len(text) && text[i] != '\n' && i-start < maxLine; {
			c, width := text[i], 0
			if c == sign {
				c, width = escape(text[i:])
			}
			if width == 0 {
				c, width = text[i], 1
			} else {
				escapes++
			}
			plain = append(plain, c)
			i += width
		}
		if escapes >= 4 {
			emit(start, plain, via)
		}
	}
}

// escape reads one escape at the start of text; width 0 means there is none.
func escape(text []byte) (c byte, width int) {
	number := func(from, to, base int) (byte, int) {
		if len(text) < to {
			return 0, 0
		}
		n, err := strconv.ParseUint(string(text[from:to]), base, 8)
		if err != nil {
			return 0, 0
		}
		return byte(n), to
	}
	switch {
	case text[0] == '%':
		return number(1, 3, 16)
	case len(text) < 2:
		return 0, 0
	case text[1] == 'x':
		return number(2, 4, 16)
	case text[1] == 'u':
		return number(2, 6, 16)
	case text[1] >= '0' && text[1] <= '3':
		return number(1, 4, 8)
	}
	return 0, 0
}

// codeLists finds ten or more character codes in a row, as in
// fromCharCode(104, 116, …), bytes([104, …]) and chr(104) + chr(116) + ….
func codeLists(v view, emit emitter) {
	for i := 0; i < len(v.data); i++ {
		n := bytes.IndexByte(v.data[i:], '(')
		if n < 0 {
			return
		}
		start := i + n
		i = start + 1
		if i < len(v.data) && v.data[i] == '[' {
			i++
		}
		if i == len(v.data) || v.data[i] < '0' || v.data[i] > '9' {
			i--
			continue
		}
		plain, end := codes(v.data, i)
		if len(plain) >= 10 {
			emit(start, plain, "character codes")
		}
		i = max(i, end) - 1
	}
}

// codes reads character codes separated by little from text[i:].
func codes(text []byte, i int) (plain []byte, end int) {
	for i < len(text) {
		start := i
		for i < len(text) && (text[i] >= '0' && text[i] <= '9' || i == start+1 && text[i] == 'x' || i > start+1 && text[start+1] == 'x' && baseClass[text[i]] == 2) {
			i++
		}
		n, err := strconv.ParseUint(string(text[start:i]), 0, 8)
		if err != nil {
			break
		}
		plain = append(plain, byte(n))
		end = i
		gap := i
		for i < len(text) && i-gap < 12 && bytes.IndexByte([]byte(", \n\t)+.chr("), text[i]) >= 0 {
			i++
		}
	}
	return plain, end
}

// tagRuns reads the invisible tag characters U+E0020 to U+E007E as ASCII.
func tagRuns(v view, emit emitter) {
	prefix := []byte("\xf3\xa0") // U+E0000 … U+E0FFF
	for i := 0; i < len(v.data); {
		n := bytes.Index(v.data[i:], prefix)
		if n < 0 {
			return
		}
		i += n
		start := i
		var plain []byte
		for i+3 < len(v.data) && bytes.HasPrefix(v.data[i:], prefix) {
			plain = append(plain, v.data[i+2]&1<<6|v.data[i+3]&0x3f)
			i += 4
		}
		emit(start, plain, "tag characters")
		i = max(i, start+1)
	}
}

// backwards reads the strings of a line that turns something around.
func backwards(v view, emit emitter) {
	for _, sign := range []string{"[::-1]", ".reverse()", "reversed(", "| rev", "strrev("} {
		for from := 0; ; {
			n := bytes.Index(v.data[from:], []byte(sign))
			if n < 0 {
				break
			}
			at := from + n
			start := bytes.LastIndexByte(v.data[:at], '\n') + 1
			start = max(start, at-2000)
			line := v.data[start:min(len(v.data), at+200)]
			if end := bytes.IndexByte(line[at-start:], '\n'); end >= 0 {
				line = line[:at-start+end]
			}
			turned := bytes.Clone(line)
			for i, j := 0, len(turned)-1; i < j; i, j = i+1, j-1 {
				turned[i], turned[j] = turned[j], turned[i]
			}
			emit(start, turned, "text written backwards")
			from = at + len(sign)
		}
	}
}

// pieces puts together what quotation marks and a glue keep apart: 'ev' + 'al',
// ['ev', 'al'].join(”) and cu”rl. It takes the lines that have such a seam.
func pieces(v view, glue byte, emit emitter) {
	text := v.data
	for i := 1; i < len(text); i++ {
		end := seam(text, i, glue)
		if end == 0 {
			continue
		}
		start := bytes.LastIndexByte(text[:i], '\n') + 1
		start = max(start, i-maxLine)
		out := bytes.Clone(text[start:i])
		for i = end; i < len(text) && text[i] != '\n' && i-start < maxLine; {
			if end = seam(text, i, glue); end > 0 {
				i = end
				continue
			}
			out = append(out, text[i])
			i++
		}
		emit(start, out, "pieces")
	}
}

// seam is the end of a seam between two pieces that starts at text[i], i > 0;
// 0 when none does. The glue is what a seam has between its quotation marks.
func seam(text []byte, i int, glue byte) int {
	q := text[i]
	if q != '\'' && q != '"' {
		return 0
	}
	if i+2 < len(text) && text[i+1] == q && isWord(text[i-1]) && isWord(text[i+2]) {
		return i + 2
	}
	j := i + 1
	glued := false
	for j < len(text) && j-i < 40 && (isSpace(text[j]) || text[j] == glue || text[j] == '\\') {
		glued = glued || text[j] == glue
		j++
	}
	if j < len(text) && glued && (text[j] == '\'' || text[j] == '"') {
		return j + 1
	}
	return 0
}

func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}

// utf8Text turns UTF-16 with a byte-order mark into UTF-8, which has the same
// lines; any other text stays as it is.
func utf8Text(data []byte) []byte {
	if !isUTF16(data) {
		return data
	}
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(data)
	if err != nil {
		return data
	}
	return out
}
