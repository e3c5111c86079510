package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// sparse is a square matrix, row by row.
type sparse struct {
	n       int
	starts  []int // of each row in columns and values
	columns []int32
	values  []float32
}

const (
	oversample = 20 // vectors beyond those wanted, which make the others accurate
	rounds     = 3  // of power iteration
)

// leftVectors returns the left singular vectors of the k largest singular values as an n × k matrix (Halko,
// Martinsson, Tropp, "Finding structure with randomness", SIAM Review 2011, algorithms 4.4 and 5.1). The
// random start is fixed.
func (m *sparse) leftVectors(k int) []float32 {
	wide := k + oversample
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, m.n*wide)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	t := m.transposed()
	q := orthonormal(m.times(x, wide), m.n, wide)
	for range rounds {
		q = orthonormal(m.times(t.times(q, wide), wide), m.n, wide)
	}
	b := t.times(q, wide) // (Qᵀ·M)ᵀ; its Gram matrix has the left vectors of Qᵀ·M
	values, vectors := eigen(gram(b, m.n, wide), wide)
	order := make([]int, wide)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	out := make([]float32, m.n*k)
	each(m.n, func(i int) {
		for j := range k {
			s := 0.0
			for l := range wide {
				s += float64(q[i*wide+l]) * vectors[l*wide+order[j]]
			}
			out[i*k+j] = float32(s)
		}
	})
	return out
}

// times returns m·x for an n × k matrix x.
func (m *sparse) times(x []float32, k int) []float32 {
	y := make([]float32, m.n*k)
	each(m.n, func(i int) {
		row := y[i*k : (i+1)*k]
		for p := m.starts[i]; p < m.starts[i+1]; p++ {
			v, from := m.values[p], x[int(m.columns[p])*k:int(m.columns[p]+1)*k]
			for j := range row {
				row[j] += v * from[j]
			}
		}
	})
	return y
}

func (m *sparse) transposed() *sparse {
	t := &sparse{n: m.n, starts: make([]int, m.n+1), columns: make([]int32, len(m.columns)), values: make([]float32, len(m.values))}
	for _, c := range m.columns {
		t.starts[c+1]++
	}
	for i := range m.n {
		t.starts[i+1] += t.starts[i]
	}
	next := slices.Clone(t.starts)
	for i := range m.n {
		for p := m.starts[i]; p < m.starts[i+1]; p++ {
			c := m.columns[p]
			t.columns[next[c]], t.values[next[c]] = int32(i), m.values[p]
			next[c]++
		}
	}
	return t
}

// orthonormal makes the columns of an n × k matrix orthonormal by Gram and Schmidt, twice, for accuracy.
func orthonormal(y []float32, n, k int) []float32 {
	columns := flip(y, n, k)
	for j := range k {
		a := columns[j*n : (j+1)*n]
		for range 2 {
			for i := range j {
				b := columns[i*n : (i+1)*n]
				s := float32(dot(a, b))
				for l := range a {
					a[l] -= s * b[l]
				}
			}
		}
		unit(a)
	}
	return flip(columns, k, n)
}

// flip transposes an n × k matrix.
func flip(y []float32, n, k int) []float32 {
	t := make([]float32, n*k)
	for i := range n {
		for j := range k {
			t[j*n+i] = y[i*k+j]
		}
	}
	return t
}

func dot(a, b []float32) (s float64) {
	for i, x := range a {
		s += float64(x) * float64(b[i])
	}
	return s
}

// gram returns bᵀ·b for an n × k matrix b.
func gram(b []float32, n, k int) []float64 {
	columns := flip(b, n, k)
	g := make([]float64, k*k)
	each(k, func(i int) {
		for j := range k {
			g[i*k+j] = dot(columns[i*n:(i+1)*n], columns[j*n:(j+1)*n])
		}
	})
	return g
}

// eigen returns the eigenvalues of a symmetric k × k matrix and its eigenvectors as columns, by Jacobi
// rotations (Golub, Van Loan, Matrix Computations, §8.5).
func eigen(a []float64, k int) (values, vectors []float64) {
	vectors = make([]float64, k*k)
	for i := range k {
		vectors[i*k+i] = 1
	}
	for range 12 {
		for p := range k {
			for q := p + 1; q < k; q++ {
				rotate(a, vectors, k, p, q)
			}
		}
	}
	for i := range k {
		values = append(values, a[i*k+i])
	}
	return values, vectors
}

// rotate turns a so that a[p,q] becomes 0.
func rotate(a, vectors []float64, k, p, q int) {
	x := a[p*k+q]
	if math.Abs(x) <= 1e-14*math.Sqrt(math.Abs(a[p*k+p]*a[q*k+q])) {
		return
	}
	theta := (a[q*k+q] - a[p*k+p]) / (2 * x)
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for i := range k {
		a[i*k+p], a[i*k+q] = c*a[i*k+p]-s*a[i*k+q], s*a[i*k+p]+c*a[i*k+q]
	}
	for i := range k {
		a[p*k+i], a[q*k+i] = c*a[p*k+i]-s*a[q*k+i], s*a[p*k+i]+c*a[q*k+i]
		vectors[i*k+p], vectors[i*k+q] = c*vectors[i*k+p]-s*vectors[i*k+q], s*vectors[i*k+p]+c*vectors[i*k+q]
	}
}

// each calls f for 0 to n − 1 on all cores.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for c := range cores {
		wg.Go(func() {
			for i := c; i < n; i += cores {
				f(i)
			}
		})
	}
	wg.Wait()
}
