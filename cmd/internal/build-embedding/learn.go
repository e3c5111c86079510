package main

import (
	"maps"
	"math"
	"slices"
)

// contextPower flattens how often words are context, so that rare words do not get the highest scores (Levy,
// Goldberg, Dagan, "Improving distributional similarity with lessons learned from word embeddings", TACL
// 2015, §3.1).
const contextPower = 0.75

// learn makes vectors from what stands near what: positive pointwise mutual information of words within a
// window, nearer ones counting more, and the left singular vectors of that matrix, each dimension with the
// same weight (the same paper, §3.3).
func (c *corpus) learn(o options) *vectors {
	words, number := c.vocabulary(o.minSkills)
	m := ppmi(c.near(number, len(words), o.window))
	v := &vectors{words: words, at: map[string]int{}, dim: o.dim, rows: m.leftVectors(o.dim)}
	for i, w := range words {
		v.at[w] = i
		unit(v.row(i))
	}
	return v
}

// near counts for each word of the vocabulary what stands within the window, with weight 1 beside it, falling
// to 1/window at the edge.
func (c *corpus) near(number []int32, n, window int) []map[int32]float32 {
	rows := make([]map[int32]float32, n)
	for i := range rows {
		rows[i] = map[int32]float32{}
	}
	for _, seq := range c.sequences {
		for i, w := range seq {
			a := number[w]
			if a < 0 {
				continue
			}
			for j := i + 1; j < min(len(seq), i+1+window); j++ {
				b := number[seq[j]]
				if b < 0 || a == b {
					continue
				}
				weight := 1 - float32(j-i-1)/float32(window)
				rows[a][b] += weight
				rows[b][a] += weight
			}
		}
	}
	return rows
}

// ppmi turns counts into max(0, ln(p(a,b)/(p(a)·p′(b)))), p′ being flattened.
func ppmi(rows []map[int32]float32) *sparse {
	sums := make([]float64, len(rows))
	keys := make([][]int32, len(rows))
	total := 0.0
	for i, row := range rows {
		keys[i] = slices.Sorted(maps.Keys(row))
		for _, k := range keys[i] {
			sums[i] += float64(row[k])
		}
		total += math.Pow(sums[i], contextPower)
	}
	m := &sparse{n: len(rows), starts: []int{0}}
	for i, row := range rows {
		for _, k := range keys[i] {
			x := math.Log(float64(row[k]) / sums[i] / (math.Pow(sums[k], contextPower) / total))
			if x > 0 {
				m.columns = append(m.columns, k)
				m.values = append(m.values, float32(x))
			}
		}
		m.starts = append(m.starts, len(m.columns))
	}
	return m
}

// unit brings v to length 1, unless it is zero.
func unit(v []float32) {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	if s == 0 {
		return
	}
	f := 1 / math.Sqrt(s)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}
