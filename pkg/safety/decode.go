package safety

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"golang.org/x/text/encoding/unicode"
)

const (
	minBlob    = 24      // characters of a base64 or hex run worth decoding
	maxBlobs   = 400     // runs decoded in one text
	maxDecoded = 1 << 20 // bytes decoded from one text, in all
	maxDepth   = 3       // encodings within encodings
)

// decoder walks the encoded parts of a text and of what it decodes.
type decoder struct {
	yield func(view) bool
	blobs int
	bytes int
	done  bool
}

// decoded yields what is written in a text in base64, hex, escapes, character
// codes, percent signs, tag characters, backwards or in pieces.
func decoded(text []byte, yield func(view) bool) {
	d := decoder{yield: yield}
	d.walk(view{data: text})
}

// walk decodes everything in one view, and what comes out of it.
func (d *decoder) walk(v view) {
	if v.depth >= maxDepth {
		return
	}
	for _, find := range []func(view, func(start int, plain []byte, via string)){
		baseRuns, escapeRuns, codeLists, tagRuns, backwards,
	} {
		find(v, func(start int, plain []byte, via string) { d.emit(v, start, plain, via) })
	}
	if v.depth == 0 {
		d.pieces(v)
	}
}

// emit yields one decoded text and looks into it.
func (d *decoder) emit(v view, start int, plain []byte, via string) {
	if d.done || d.blobs >= maxBlobs || d.bytes+len(plain) > maxDecoded || !readable(plain) {
		return
	}
	d.blobs++
	d.bytes += len(plain)
	next := view{data: plain, base: v.origin(start), fixed: true, depth: v.depth + 1, via: via}
	if v.via != "" {
		next.via = via + " within " + v.via
	}
	d.done = !d.yield(next)
	if !d.done {
		d.walk(next)
	}
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
func baseRuns(v view, emit func(int, []byte, string)) {
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
func run(text []byte, start int, emit func(int, []byte, string)) {
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

// escapeRuns finds eight or more of \x68, \u0068, \150 or %68 in a row.
func escapeRuns(v view, emit func(int, []byte, string)) {
	for i := 0; i < len(v.data); {
		n := bytes.IndexAny(v.data[i:], `\%`)
		if n < 0 {
			return
		}
		i += n
		start, via := i, "escapes"
		if v.data[i] == '%' {
			via = "percent signs"
		}
		var plain []byte
		escapes := 0
		for i < len(v.data) {
			c, width := escape(v.data[i:])
			if width == 0 {
				break
			}
			plain = append(plain, c)
			escapes++
			i += width
		}
		if escapes >= 8 {
			emit(start, plain, via)
		}
		if escapes == 0 {
			i++
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
func codeLists(v view, emit func(int, []byte, string)) {
	for _, opener := range []string{"fromCharCode(", "fromCodePoint(", "bytes([", "bytearray([", "chr(", "Buffer.from(["} {
		for from := 0; ; {
			n := bytes.Index(v.data[from:], []byte(opener))
			if n < 0 {
				break
			}
			start := from + n
			plain, end := codes(v.data, start+len(opener))
			if len(plain) >= 10 {
				emit(start, plain, "character codes")
			}
			from = max(end, start+len(opener))
		}
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
func tagRuns(v view, emit func(int, []byte, string)) {
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
func backwards(v view, emit func(int, []byte, string)) {
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

// pieces puts together what quotation marks and plus signs keep apart:
// 'ev' + 'al' and cu”rl.
func (d *decoder) pieces(v view) {
	var out []byte
	var steps []step
	copied := 0
	for i := 1; i < len(v.data); i++ {
		if v.data[i] != '\'' && v.data[i] != '"' {
			continue
		}
		end := seam(v.data, i)
		if end == 0 {
			continue
		}
		out = append(out, v.data[copied:i]...)
		copied = end
		steps = append(steps, step{len(out), end})
		i = end - 1
	}
	if steps != nil && !d.done && d.bytes+len(v.data) <= maxDecoded {
		d.bytes += len(v.data)
		d.done = !d.yield(view{data: append(out, v.data[copied:]...), steps: steps, via: "pieces"})
	}
}

// seam is the end of a seam between two pieces that starts at text[i], a
// quotation mark; 0 when there is none.
func seam(text []byte, i int) int {
	q := text[i]
	if i+2 < len(text) && text[i+1] == q && isWord(text[i-1]) && isWord(text[i+2]) {
		return i + 2
	}
	j := i + 1
	plus := false
	for j < len(text) && j-i < 12 && (isSpace(text[j]) || text[j] == '+' || text[j] == '\\') {
		plus = plus || text[j] == '+'
		j++
	}
	if j < len(text) && j > i+1 && plus && (text[j] == '\'' || text[j] == '"') {
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
