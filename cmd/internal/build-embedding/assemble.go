package main

import (
	"slices"

	"github.com/openspace-dev/openspace/pkg/embed"
)

const (
	ridge    = 10      // of the map between the spaces
	mapWords = 100_000 // most frequent general words that the map is fitted on
	smooth   = 1e-3    // a of Arora's weight a/(a + p(w))
	zipfSum  = 13      // Σ 1/rank over the general words: p(w) is about 1/(rank·zipfSum)
)

// assemble joins learned words, which keep their vectors, and the most frequent general words, whose vectors
// are brought into the learned space by a linear map.
func assemble(o options, general *vectors, c *corpus, learned *vectors) []embed.Word {
	inSkills := map[string]int{}
	for i, n := range c.skills {
		inSkills[c.words[i]] = n
	}
	weight := func(w string) float32 {
		x := c.idf(inSkills[w])
		if rank, ok := general.at[w]; ok {
			x *= smooth / (smooth + 1/(float64(rank+1)*zipfSum))
		}
		return float32(x)
	}
	var out []embed.Word
	for i, w := range learned.words {
		out = append(out, embed.Word{Text: w, Weight: weight(w), Vector: learned.row(i)})
	}
	m := fit(general, learned)
	for i, w := range general.words {
		if len(out) >= o.words {
			break
		}
		if _, ok := learned.at[w]; ok || !wordlike(w) {
			continue
		}
		out = append(out, embed.Word{Text: w, Weight: float32(o.general) * weight(w), Vector: m.apply(general.row(i))})
	}
	return out
}

// linear is a linear map from rows of width from to rows of width to.
type linear struct {
	from, to int
	m        []float64
}

// fit finds the map that brings the general vectors of words nearest to their learned ones: ridge regression
// over the words that both have.
func fit(general, learned *vectors) *linear {
	l := &linear{general.dim, learned.dim, make([]float64, general.dim*learned.dim)}
	a := make([]float64, l.from*l.from)
	for i := range l.from {
		a[i*l.from+i] = ridge
	}
	for i, w := range learned.words {
		g, ok := general.at[w]
		if !ok || g >= mapWords {
			continue
		}
		x, y := slices.Clone(general.row(g)), learned.row(i)
		unit(x)
		for p, xp := range x {
			for q, xq := range x {
				a[p*l.from+q] += float64(xp) * float64(xq)
			}
			for q, yq := range y {
				l.m[p*l.to+q] += float64(xp) * float64(yq)
			}
		}
	}
	solve(a, l.m, l.from, l.to)
	return l
}

// solve replaces the n × k matrix b by a⁻¹·b for a positive definite n × n matrix a, by elimination.
func solve(a, b []float64, n, k int) {
	for p := range n {
		for r := p + 1; r < n; r++ {
			f := a[r*n+p] / a[p*n+p]
			for q := p; q < n; q++ {
				a[r*n+q] -= f * a[p*n+q]
			}
			for q := range k {
				b[r*k+q] -= f * b[p*k+q]
			}
		}
	}
	for p := n - 1; p >= 0; p-- {
		for q := range k {
			s := b[p*k+q]
			for r := p + 1; r < n; r++ {
				s -= a[p*n+r] * b[r*k+q]
			}
			b[p*k+q] = s / a[p*n+p]
		}
	}
}

// apply maps one row; the length does not matter.
func (l *linear) apply(x []float32) []float32 {
	sum := make([]float64, l.to)
	for p, xp := range x {
		for q := range sum {
			sum[q] += float64(xp) * l.m[p*l.to+q]
		}
	}
	out := make([]float32, l.to)
	for q, s := range sum {
		out[q] = float32(s)
	}
	return out
}
