// Package similar tells how much of the text of one skill stands in another.
//
// It compares runs of three words of description and instructions, without
// regard to case and punctuation. It does not read folders and knows nothing of
// meaning: that is what the search index is for. Texts are values that never
// change, safe for concurrent use.
package similar

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/openspace-dev/openspace/pkg/skill"
)

const (
	runLength = 3
	// fewest is how many runs a text must have to be like another: a few words prove nothing.
	fewest = 8
	// mostTexts is in how many texts a run may stand to say that two of them may be alike. What stands in more is boilerplate.
	mostTexts = 64
)

// Text is what is compared of a skill: the different runs of words, as hashes, sorted.
type Text []uint64

// Of returns the text of a skill.
func Of(s *skill.Skill) Text {
	words := strings.FieldsFunc(strings.ToLower(s.Description+" "+string(s.Body)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	t := make(Text, 0, len(words))
	for i := 0; i+runLength <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+runLength] {
			_, _ = io.WriteString(h, w)
			_, _ = h.Write([]byte{' '})
		}
		t = append(t, h.Sum64())
	}
	slices.Sort(t)
	return slices.Clip(slices.Compact(t))
}

// Share returns how much of the shorter text stands in the other: 0 for nothing, 1 for all. A text of less than ten words is
// like none.
func Share(a, b Text) float64 {
	n := min(len(a), len(b))
	if n < fewest {
		return 0
	}
	shared := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			shared++
			a, b = a[1:], b[1:]
		}
	}
	return float64(shared) / float64(n)
}

// Pair is two texts that are alike, by their places in a list; A is before B.
type Pair struct {
	A, B  int
	Share float64
}

// Pairs returns all pairs of texts with at least that share, most alike first. Only pairs with a run of words that few others
// have are looked at, so that it takes little more than linear time, and only the first million texts.
func Pairs(texts []Text, least float64) []Pair {
	shared := map[[2]int]int{}        // runs of which few others have any
	common := make([]int, len(texts)) // runs that many have
	for places := postings(texts); len(places) > 0; {
		n := 1
		for n < len(places) && places[n]>>textBits == places[0]>>textBits {
			n++
		}
		for i, a := range places[:n] {
			if n > mostTexts {
				common[a&textMask]++
				continue
			}
			for _, b := range places[i+1 : n] {
				shared[[2]int{int(a & textMask), int(b & textMask)}]++
			}
		}
		places = places[n:]
	}
	var pairs []Pair
	for c, n := range shared {
		a, b := texts[c[0]], texts[c[1]]
		if float64(n+min(common[c[0]], common[c[1]])) < least*float64(min(len(a), len(b))) {
			continue // they cannot have more
		}
		if share := Share(a, b); share >= least {
			pairs = append(pairs, Pair{c[0], c[1], share})
		}
	}
	slices.SortFunc(pairs, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return pairs
}

// A posting is the upper bits of a run, and in the lower ones the number of the text that it stands in. Runs that only differ
// in what is cut off count as one, and may make a pair of texts a candidate in vain.
const (
	textBits = 20
	textMask = 1<<textBits - 1
)

// postings lists all runs of all texts that can be like another, sorted.
func postings(texts []Text) []uint64 {
	var places []uint64
	for i, t := range texts[:min(len(texts), textMask)] {
		if len(t) < fewest {
			continue
		}
		for _, run := range t {
			places = append(places, run&^textMask|uint64(i))
		}
	}
	slices.Sort(places)
	return places
}
