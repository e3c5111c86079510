package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A sparse matrix of known rank: the left vectors are orthonormal and span its columns.
func TestLeftVectors(t *testing.T) {
	const n, rank = 60, 5
	r := rand.New(rand.NewPCG(1, 2))
	var left, right [rank][n]float64
	for k := range rank {
		for i := range n {
			left[k][i], right[k][i] = r.NormFloat64(), r.NormFloat64()
		}
	}
	m := &sparse{n: n, starts: []int{0}}
	for i := range n {
		for j := range n {
			x := 0.0
			for k := range rank {
				x += float64(10-k) * left[k][i] * right[k][j]
			}
			m.columns, m.values = append(m.columns, int32(j)), append(m.values, float32(x))
		}
		m.starts = append(m.starts, len(m.columns))
	}
	u := m.leftVectors(rank)
	for a := range rank {
		for b := range rank {
			s := 0.0
			for i := range n {
				s += float64(u[i*rank+a]) * float64(u[i*rank+b])
			}
			want := 0.0
			if a == b {
				want = 1
			}
			if math.Abs(s-want) > 1e-4 {
				t.Errorf("u%d·u%d: got %v, want %v", a, b, s, want)
			}
		}
	}
	for j := range n { // what is left of a column when its part in the span is taken away
		var column, rest, size float64
		for i := range n {
			column = float64(m.values[i*n+j])
			p := 0.0
			for a := range rank {
				c := 0.0
				for l := range n {
					c += float64(u[l*rank+a]) * float64(m.values[l*n+j])
				}
				p += c * float64(u[i*rank+a])
			}
			rest += (column - p) * (column - p)
			size += column * column
		}
		if rest > 1e-6*size {
			t.Errorf("column %d is not in the span: %v of %v", j, rest, size)
		}
	}
}

func TestSolve(t *testing.T) {
	a := []float64{4, 1, 0, 1, 3, 1, 0, 1, 2}
	x := []float64{1, -2, 3, 0.5, -1, 4}
	b := make([]float64, 6)
	for i := range 3 {
		for j := range 2 {
			for k := range 3 {
				b[i*2+j] += a[i*3+k] * x[k*2+j]
			}
		}
	}
	solve(a, b, 3, 2)
	for i := range x {
		if math.Abs(b[i]-x[i]) > 1e-12 {
			t.Errorf("%d: got %v, want %v", i, b[i], x[i])
		}
	}
}

// Two words that stand in the same places get like vectors, others do not.
func TestLearn(t *testing.T) {
	c := &corpus{words: []string{"sheet", "table", "cell", "column", "dog", "cat", "fur", "tail"}, skills: []int{9, 9, 9, 9, 9, 9, 9, 9}}
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		topic := int32(r.IntN(2))
		var seq []int32
		for range 12 {
			seq = append(seq, 4*topic+int32(r.IntN(4)))
		}
		c.sequences = append(c.sequences, seq)
	}
	v := c.learn(options{dim: 2, minSkills: 3, window: 4})
	like := func(a, b string) float64 { return dot(v.row(v.at[a]), v.row(v.at[b])) }
	if like("sheet", "table") < 0.9 || like("dog", "fur") < 0.9 || like("sheet", "dog") > 0.1 {
		t.Errorf("sheet~table %v, dog~fur %v, sheet~dog %v", like("sheet", "table"), like("dog", "fur"), like("sheet", "dog"))
	}
}

func TestWordlike(t *testing.T) {
	for w, want := range map[string]bool{
		"pdf": true, "s3": true, "utf8": true, "k8s": true, "über": true, "数据": true, "": false, "2026": false, "deadbeef0123": false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa": false,
	} {
		if got := wordlike(w); got != want {
			t.Errorf("%q: got %v, want %v", w, got, want)
		}
	}
}
