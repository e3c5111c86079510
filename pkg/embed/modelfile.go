package embed

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// The file of a static model, little-endian:
//
//	0   8    magic "OSSTATIC"
//	8   4    format version
//	12  4    width, d
//	16  4    words, n
//	20  4    bytes of all words, t
//	24  4    CRC-32C of all that follows
//	28  4    CRC-32C of bytes 0–27
//	32  4·d  float32: the common component, taken off every vector
//	    4·n  float32: what one step of a word's row counts: scale times weight of the word
//	    4·n  uint32: where each word ends in the text
//	    t    the words in byte order, one after the other
//	    d·n  int8 rows
const (
	staticMagic   = "OSSTATIC"
	staticVersion = 1
	staticHeader  = 32
	maxStatic     = 1 << 30
)

//go:embed model.bin
var builtin string

// Word is a word of a static model: its direction, and how much it counts in a text.
type Word struct {
	Text   string
	Weight float32
	Vector []float32 // any length but zero
}

// EncodeStatic returns the file of a model with the given words; it sorts them.
func EncodeStatic(words []Word, common []float32) ([]byte, error) {
	slices.SortFunc(words, func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
	var text, ends, factors, rows bytes.Buffer
	for i, w := range words {
		if w.Text == "" || len(w.Vector) != len(common) || i > 0 && w.Text == words[i-1].Text {
			return nil, fmt.Errorf("word %d, %q: empty, twice or of another width", i, w.Text)
		}
		text.WriteString(w.Text)
		put32(&ends, uint32(text.Len()))
		put32(&factors, math.Float32bits(w.Weight*quantized(&rows, w.Vector)))
	}
	h := []byte(staticMagic)
	for _, x := range []int{staticVersion, len(common), len(words), text.Len()} {
		h = binary.LittleEndian.AppendUint32(h, uint32(x))
	}
	var body bytes.Buffer
	for _, x := range common {
		put32(&body, math.Float32bits(x))
	}
	for _, b := range []*bytes.Buffer{&factors, &ends, &text, &rows} {
		body.Write(b.Bytes())
	}
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(body.Bytes(), castagnoli))
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	return append(h, body.Bytes()...), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func put32(b *bytes.Buffer, x uint32) { b.Write(binary.LittleEndian.AppendUint32(nil, x)) }

// quantized writes v at length 1 as int8 and returns what one step is.
func quantized(b *bytes.Buffer, v []float32) (scale float32) {
	norm, top := 0.0, 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
		top = max(top, math.Abs(float64(x)))
	}
	if top == 0 {
		b.Write(make([]byte, len(v)))
		return 0
	}
	for _, x := range v {
		b.WriteByte(byte(int8(math.RoundToEven(float64(x) / top * 127))))
	}
	return float32(top / 127 / math.Sqrt(norm))
}

// Static is a static word-embedding model: a text is the weighted sum of its words.
type Static struct {
	name    string
	dim, n  int
	common  string // the sections of the file, in place
	factors string
	ends    string
	text    string
	rows    string
}

// Builtin opens the model that is part of the program.
func Builtin() (*Static, error) { return OpenStatic(builtin) }

var errStatic = errors.New("not a static model of this version")

// OpenStatic opens the file of a static model, in place. Only the header is checked; see [Static.Verify].
func OpenStatic(data string) (*Static, error) {
	if len(data) < staticHeader || data[:8] != staticMagic || at32(data, 2) != staticVersion ||
		crc32.Checksum([]byte(data[:28]), castagnoli) != at32(data, 7) {
		return nil, errStatic
	}
	d, n, t := uint64(at32(data, 3)), uint64(at32(data, 4)), uint64(at32(data, 5))
	if d == 0 || n > maxStatic || d > 1<<14 || staticHeader+4*d+8*n+t+d*n != uint64(len(data)) {
		return nil, errStatic
	}
	s := &Static{dim: int(d), n: int(n), name: fmt.Sprintf("builtin-%d-%d-%08x", algorithm, d, at32(data, 6))}
	rest := data[staticHeader:]
	for _, part := range []struct {
		to   *string
		size uint64
	}{{&s.common, 4 * d}, {&s.factors, 4 * n}, {&s.ends, 4 * n}, {&s.text, t}, {&s.rows, d * n}} {
		*part.to, rest = rest[:part.size], rest[part.size:]
	}
	return s, nil
}

// at32 returns the i-th number of four bytes in s.
func at32(s string, i int) uint32 {
	return uint32(s[4*i]) | uint32(s[4*i+1])<<8 | uint32(s[4*i+2])<<16 | uint32(s[4*i+3])<<24
}

func float32At(s string, i int) float32 { return math.Float32frombits(at32(s, i)) }

// Verify checks the whole file: sum, order of the words, weights.
func (s *Static) Verify(data string) error {
	if crc32.Checksum([]byte(data[staticHeader:]), castagnoli) != at32(data, 6) {
		return errStatic
	}
	end, last := uint32(0), ""
	for i := range s.n {
		e := at32(s.ends, i)
		if e <= end || int(e) > len(s.text) || s.text[end:e] <= last {
			return fmt.Errorf("%w: word %d", errStatic, i)
		}
		if f := float32At(s.factors, i); !(f >= 0 && f < 1e6) {
			return fmt.Errorf("%w: weight of word %d", errStatic, i)
		}
		end, last = e, s.text[end:e]
	}
	return nil
}

// word returns word i. Offsets that a damaged file may hold give an empty word.
func (s *Static) word(i int) string {
	from := uint32(0)
	if i > 0 {
		from = at32(s.ends, i-1)
	}
	to := at32(s.ends, i)
	if from > to || int(to) > len(s.text) {
		return ""
	}
	return s.text[from:to]
}

// search returns the number of the first word that is not before w, and whether it is w.
func (s *Static) search(w string) (int, bool) {
	lo, hi := 0, s.n
	for lo < hi {
		mid := (lo + hi) / 2
		if s.word(mid) < w {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < s.n && s.word(lo) == w
}

// Len returns the number of words.
func (s *Static) Len() int { return s.n }

// Words calls f with each word in byte order.
func (s *Static) Words(f func(word string)) {
	for i := range s.n {
		f(s.word(i))
	}
}
