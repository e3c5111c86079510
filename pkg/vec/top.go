package vec

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
)

// Hit is a row and its cosine with the query, −1 to 1.
type Hit struct {
	Row   int
	Score float32
}

// Top returns the k live rows with the highest cosines with q, highest first, equal ones in the order of
// rows. The scan is exact; see the package comment.
func (m *Matrix) Top(q []float32, k int) ([]Hit, error) { return m.top(q, k, m.exactCandidates) }

// TopRough is [Matrix.Top] by way of the int8 rows: a quarter of the reading, exact scores, and nearly always
// the same rows.
func (m *Matrix) TopRough(q []float32, k int) ([]Hit, error) { return m.top(q, k, m.roughCandidates) }

// top scores candidates exactly and cuts.
func (m *Matrix) top(q []float32, k int, candidates func(q []float32, k int) ([]int, error)) (hits []Hit, err error) {
	defer guard(&err)()
	q, err = m.query(q)
	if err != nil || k <= 0 || m.live == 0 {
		return nil, err
	}
	type scored struct {
		row   int
		score float64
	}
	rows, err := candidates(q, k)
	if err != nil {
		return nil, err
	}
	var all []scored
	for _, i := range rows {
		r, err := m.row(i)
		if err != nil {
			return nil, err
		}
		all = append(all, scored{i, dotExact(q, r)})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row))
	})
	for _, s := range all[:min(k, len(all))] {
		hits = append(hits, Hit{s.row, clamp(float32(s.score))})
	}
	return hits, nil
}

// clamp takes the last bit of rounding off a cosine.
func clamp(x float32) float32 { return max(-1, min(1, x)) }

// query returns q at length 1 and padded.
func (m *Matrix) query(q []float32) ([]float32, error) {
	if len(q) != m.dim {
		return nil, fmt.Errorf("%w: query of %d numbers, matrix of %d", ErrWidth, len(q), m.dim)
	}
	out := make([]float32, m.width)
	return out, Unit(q, out)
}

// exactCandidates returns all rows that may be among the k best.
func (m *Matrix) exactCandidates(q []float32, k int) ([]int, error) {
	scores := make([]float32, m.rows)
	fast := accelerated()
	for _, b := range m.blocks {
		out := scores[b.base : b.base+len(b.keys)]
		err := parallel(len(out), 4*m.width, func(lo, hi int) {
			scanF32(q, b.exact[lo*m.width:hi*m.width], m.width, out[lo:hi], fast)
		})
		if err != nil {
			return nil, err
		}
	}
	return m.above(scores, k, 2*slack(m.width)), nil
}

// roughCandidates returns the rows with the best rough scores: 8·k + 64 of them.
func (m *Matrix) roughCandidates(q []float32, k int) ([]int, error) {
	scores := make([]float32, m.rows)
	if err := m.rough(q, scores); err != nil {
		return nil, err
	}
	return m.above(scores, 8*k+64, 0), nil
}

// above returns the live rows whose score is not more than slack below the k-th highest.
func (m *Matrix) above(scores []float32, k int, slack float32) (rows []int) {
	limit := m.kth(scores, k) - slack
	for i, s := range scores {
		if !(s < limit) && !m.Deleted(i) { // a NaN, from a damaged row, goes on to be found out by its sum
			rows = append(rows, i)
		}
	}
	return rows
}

// kth returns the k-th highest score of the live rows, or the lowest possible one when there are not so many.
func (m *Matrix) kth(scores []float32, k int) float32 {
	if k >= m.live {
		return float32(math.Inf(-1))
	}
	heap := make([]float32, 0, k) // the lowest of the k highest is first
	for i, s := range scores {
		if len(heap) == k && !(s > heap[0]) || m.Deleted(i) {
			continue
		}
		if len(heap) == k {
			heap[0] = s
			sink(heap)
			continue
		}
		heap = append(heap, s)
		for c := len(heap) - 1; c > 0 && heap[c] < heap[(c-1)/2]; c = (c - 1) / 2 {
			heap[c], heap[(c-1)/2] = heap[(c-1)/2], heap[c]
		}
	}
	return heap[0]
}

// sink restores the heap after its first element was replaced.
func sink(heap []float32) {
	for c := 0; ; {
		least := c
		for _, child := range [2]int{2*c + 1, 2*c + 2} {
			if child < len(heap) && heap[child] < heap[least] {
				least = child
			}
		}
		if least == c {
			return
		}
		heap[c], heap[least] = heap[least], heap[c]
		c = least
	}
}

// Rough writes the approximate cosine of q with every row to out, which has [Matrix.Len] elements. It reads
// only the int8 rows. The error is at most 1/127 of the largest number of the query plus as much of the row,
// times the square root of the width over 12; 0.01 is typical. The values of deleted rows mean nothing.
func (m *Matrix) Rough(q, out []float32) (err error) {
	defer guard(&err)()
	q, err = m.query(q)
	if err != nil {
		return err
	}
	return m.rough(q, out[:m.rows])
}

// rough is Rough for a padded unit query.
func (m *Matrix) rough(q, out []float32) error {
	codes := make([]int8, m.width)
	scale := quantize(q, codes)
	wide := make([]int16, m.width)
	for i, c := range codes {
		wide[i] = int16(c)
	}
	fast := accelerated()
	for _, b := range m.blocks {
		out := out[b.base : b.base+len(b.keys)]
		err := parallel(len(out), m.width, func(lo, hi int) {
			scanI8(wide, b.rough[lo*m.width:hi*m.width], b.scales[lo:hi], m.width, out[lo:hi], fast)
			for i := lo; i < hi; i++ {
				out[i] = clean(out[i] * scale)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clean turns what a damaged scale may have made into a score that no answer contains.
func clean(x float32) float32 {
	if !(x >= -2 && x <= 2) {
		return -2
	}
	return x
}

// Scores returns the exact cosines of q with the given rows; 0 for a row of −1, as [Matrix.Find] gives for a
// key without a vector.
func (m *Matrix) Scores(q []float32, rows []int32) (scores []float32, err error) {
	defer guard(&err)()
	q, err = m.query(q)
	if err != nil {
		return nil, err
	}
	scores = make([]float32, len(rows))
	for i, r := range rows {
		if r < 0 {
			continue
		}
		row, err := m.row(int(r))
		if err != nil {
			return nil, err
		}
		scores[i] = clamp(float32(dotExact(q, row)))
	}
	return scores, nil
}

// guard turns a fault in mapped memory, as when somebody cut the file short, into [ErrDamaged].
func guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			*err = fmt.Errorf("%w: %w", ErrDamaged, e)
		}
	}
}
