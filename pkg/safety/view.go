package safety

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is one reading of a text: as it stands, with look-alike characters
// resolved, or with something in it decoded.
type view struct {
	data  []byte
	steps []step // empty: offsets are those of the original
	base  int    // added to an offset after steps; a decoded text is at one place
	fixed bool   // every offset is base
	depth int    // how many decodings lie between the original and data
	via   string // what was decoded, for people
}

// step says that from offset at on, data continues at offset from of the text.
type step struct{ at, from int }

// origin maps an offset of the view to one of the original text.
func (v view) origin(off int) int {
	if v.fixed {
		return v.base
	}
	i := sort.Search(len(v.steps), func(i int) bool { return v.steps[i].at > off })
	if i == 0 {
		return v.base + off
	}
	return v.base + v.steps[i-1].from + off - v.steps[i-1].at
}

// joined is the text with shell lines put together: a line that ends in a
// backslash, and a line that starts with a pipe, continue the one before. The
// newline becomes a blank, so that no offset changes. Most texts are returned
// as they are.
func joined(text []byte, k kind) []byte {
	out := text
	edit := func(from, to int) {
		if &out[0] == &text[0] {
			out = bytes.Clone(text)
		}
		for i := from; i < to; i++ {
			out[i] = ' '
		}
	}
	for pos := 0; ; {
		i := bytes.IndexByte(text[pos:], '\n')
		if i < 0 {
			return out
		}
		at := pos + i
		pos = at + 1
		end := at
		if end > 0 && text[end-1] == '\r' {
			end--
		}
		switch {
		case end > 0 && text[end-1] == '\\':
			edit(end-1, at+1)
		case startsPipe(text[pos:], k):
			edit(end, at+1)
		}
	}
}

// startsPipe reports whether a line goes on with a pipe into a command. A row
// of a table, which ends with a bar as well, does not.
func startsPipe(rest []byte, k kind) bool {
	i := 0
	for i < len(rest) && (rest[i] == ' ' || rest[i] == '\t') {
		i++
	}
	if i == len(rest) || rest[i] != '|' {
		return false
	}
	line := rest[i:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return k == code || !bytes.HasSuffix(bytes.TrimSpace(line[1:]), []byte("|"))
}

// normalised resolves what looks like ASCII but is not: full-width and styled
// letters (NFKC), Cyrillic and Greek twins inside Latin words; it drops
// characters without width. steps is nil when there is nothing to resolve.
func normalised(text []byte) (data []byte, steps []step) {
	copied := 0
	for i := nextWide(text, 0); i < len(text); i = nextWide(text, i) {
		r, n := utf8.DecodeRune(text[i:])
		if twin, ok := lookAlike(r, text, i, n); ok {
			data = append(data, text[copied:i]...)
			data = append(data, twin...)
			copied = i + n
			steps = append(steps, step{len(data), copied})
		}
		i += n
	}
	if steps == nil {
		return nil, nil
	}
	return append(data, text[copied:]...), steps
}

// nextWide is the first byte at or behind i that is not ASCII.
func nextWide(text []byte, i int) int {
	for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 == 0 {
		i += 8
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// lookAlike is what a reader takes the rune at text[i:i+n] for.
func lookAlike(r rune, text []byte, i, n int) (string, bool) {
	switch {
	case isZeroWidth(r):
		return "", true
	case r >= 0xFF01 && r <= 0xFF5E, r >= 0x1D400 && r <= 0x1D7FF, r >= 0x2460 && r <= 0x24FF, r >= 0x2100 && r <= 0x214F:
		return norm.NFKC.String(string(r)), true
	case r >= 0x0370 && r <= 0x0458:
		if at := strings.IndexRune(twins, r); at >= 0 && latinBeside(text, i, n) {
			return twinned[at/2 : at/2+1], true
		}
	}
	return "", false
}

// isZeroWidth reports whether a rune takes no room and says nothing.
func isZeroWidth(r rune) bool {
	return r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2069 ||
		r == 0x00AD || r == 0xFEFF || r == 0x034F || r == 0x180E || r >= 0xE0000 && r <= 0xE007F
}

// Cyrillic and Greek letters that look like Latin ones, and those, in the same
// order. Every one of them takes two bytes.
const (
	twins   = "асеорхуіјѕАВСЕНІКМОРТХοανιρΑΒΕΙΚΟΡΤ"
	twinned = "aceopxyijsABCEHIKMOPTXoavipABEIKOPT"
)

// latinBeside reports whether an ASCII letter touches text[i:i+n].
func latinBeside(text []byte, i, n int) bool {
	isLetter := func(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
	return i > 0 && isLetter(text[i-1]) || i+n < len(text) && isLetter(text[i+n])
}
