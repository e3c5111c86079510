package embed

const (
	maxLike   = 4   // words that stand for an unknown one
	minStem   = 5   // bytes that they must begin with in common
	minHalf   = 4   // bytes of each word of an unknown compound
	guessPart = 0.5 // what a guess counts, against a known word
)

// meaning looks w up. An unknown word is taken for the two known words that it consists of, or else
// for the known words that begin like it.
func (s *Static) meaning(w string) meaning {
	m := meaning{looked: true}
	at, ok := s.search(w)
	if ok {
		m.take(s, at, 1)
		return m
	}
	if a, b, ok := s.halves(w); ok {
		m.take(s, a, guessPart)
		m.take(s, b, guessPart)
		return m
	}
	like := s.alike(w, at)
	for _, i := range like {
		m.take(s, i, guessPart/float32(len(like)))
	}
	return m
}

// take adds word i to m.
func (m *meaning) take(s *Static, i int, share float32) {
	m.row[m.n], m.factor[m.n] = uint32(i), share*float32At(s.factors, i)
	m.n++
}

// halves cuts w into two known words, as evenly as possible.
func (s *Static) halves(w string) (a, b int, ok bool) {
	for d := 0; len(w)/2-d >= minHalf; d++ {
		for _, cut := range [2]int{len(w)/2 - d, (len(w)+1)/2 + d} {
			if len(w)-cut < minHalf {
				continue
			}
			a, okA := s.search(w[:cut])
			b, okB := s.search(w[cut:])
			if okA && okB {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// alike returns up to [maxLike] neighbours of place at in the sorted words that share the longest beginning
// with w: at least minStem bytes and two thirds of w.
func (s *Static) alike(w string, at int) (out []int) {
	low, high := at-1, at
	for len(out) < maxLike {
		below, above := 0, 0
		if low >= 0 {
			below = common(w, s.word(low))
		}
		if high < s.n {
			above = common(w, s.word(high))
		}
		best := max(below, above)
		if best < minStem || 3*best < 2*len(w) {
			break
		}
		if above >= below {
			out = append(out, high)
			high++
		} else {
			out = append(out, low)
			low--
		}
	}
	return out
}

// common returns how many bytes a and b begin with in common.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
