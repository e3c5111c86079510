package safety

// hit is one occurrence of a literal: where it lies, and its number.
type hit struct {
	start, end int32
	lit        uint16
}

// finder finds many literals in one pass. Every literal stands in a hash table
// under its first bytes, four or, for shorter ones, two; two small bitmaps say
// for nearly every place of a text that no literal starts there. ASCII letters
// are folded, white space of any kind counts as a blank, and a blank stands for
// one or more of them.
//
// This needs a thousandth of the memory of an Aho–Corasick table of the same
// literals and no time to build, which matters to a program that scans twenty
// short texts and ends.
type finder struct {
	literals []string
	quads    [1 << 11]uint32 // bitmap by hash of four bytes
	pairs    [1 << 11]uint32 // bitmap by two bytes
	first    [1 << 12]uint16 // hash → first literal, plus one
	next     []uint16        // literal → next of the same hash, plus one
	keys     []uint32        // literal → its first bytes
}

// fold maps a byte to the one that it is compared as.
var fold = func() (f [256]byte) {
	for i := range f {
		f[i] = byte(i)
	}
	for c := byte('A'); c <= 'Z'; c++ {
		f[c] = c + 'a' - 'A'
	}
	f['\n'], f['\r'], f['\t'] = ' ', ' ', ' '
	return f
}()

// newFinder prepares literals, which must be folded and of two bytes or more.
func newFinder(literals []string) *finder {
	f := &finder{literals: literals, next: make([]uint16, len(literals)), keys: make([]uint32, len(literals))}
	for i, l := range literals {
		pair := uint32(l[0]) | uint32(l[1])<<8
		key := pair
		if len(l) >= 4 {
			quad := pair | uint32(l[2])<<16 | uint32(l[3])<<24
			f.quads[quadHash(quad)>>5] |= 1 << (quadHash(quad) & 31)
			key = quad
		} else {
			f.pairs[pair>>5] |= 1 << (pair & 31)
		}
		f.keys[i], f.next[i] = key, f.first[bucket(key)]
		f.first[bucket(key)] = uint16(i + 1)
	}
	return f
}

func quadHash(q uint32) uint32 { return q * 2654435761 >> 16 }
func bucket(q uint32) uint32   { return q * 2654435761 >> 20 }

// find appends every occurrence of every literal in data to hits, in order of
// their starts.
func (f *finder) find(data []byte, hits []hit) []hit {
	if len(data) < 4 {
		return f.tail(data, 0, hits)
	}
	q := uint32(fold[data[0]])<<8 | uint32(fold[data[1]])<<16 | uint32(fold[data[2]])<<24
	for i, b := range data[3:] {
		q = q>>8 | uint32(fold[b])<<24
		h := quadHash(q)
		if f.quads[h>>5]&(1<<(h&31)) != 0 {
			hits = f.verify(data, i, q, hits)
		}
		if p := q & 0xffff; f.pairs[p>>5]&(1<<(p&31)) != 0 {
			hits = f.verify(data, i, p, hits)
		}
	}
	return f.tail(data, len(data)-3, hits)
}

// tail finds the short literals in the last bytes, from i on.
func (f *finder) tail(data []byte, i int, hits []hit) []hit {
	for ; i+1 < len(data); i++ {
		p := uint32(fold[data[i]]) | uint32(fold[data[i+1]])<<8
		hits = f.verify(data, i, p, hits)
	}
	return hits
}

// verify appends the literals of one hash that really start at data[i].
func (f *finder) verify(data []byte, i int, key uint32, hits []hit) []hit {
	for n := f.first[bucket(key)]; n != 0; n = f.next[n-1] {
		if f.keys[n-1] != key {
			continue
		}
		if end := matches(data, i, f.literals[n-1]); end > 0 {
			hits = append(hits, hit{int32(i), int32(end), n - 1})
		}
	}
	return hits
}

// matches returns the end of literal in data[i:], or 0.
func matches(data []byte, i int, literal string) int {
	for j := range len(literal) {
		if i >= len(data) || fold[data[i]] != literal[j] {
			return 0
		}
		i++
		if literal[j] == ' ' && j+1 < len(literal) && literal[j+1] != ' ' {
			for i < len(data) && fold[data[i]] == ' ' {
				i++
			}
		}
	}
	return i
}
