package vec

import (
	"errors"
	"math"
	"runtime"
	"sync"

	"github.com/viterin/vek/vek32"
)

// accelerated reports whether the kernels are used: what vek found out about the machine, or was told.
func accelerated() bool { return haveKernels && vek32.Info().Acceleration }

// scanF32 writes the scores of rows lo to hi of the exact rows, padded to w numbers each, to out. They are
// within [slack] of the true ones.
func scanF32(q, rows []float32, w int, out []float32, fast bool) {
	n := len(out)
	i, quarter := 0, n/4
	if fast {
		var got [4]float32
		for ; i < quarter; i++ {
			a, b, c, d := i, i+quarter, i+2*quarter, i+3*quarter
			dot4F32(&q[0], &rows[a*w], &rows[b*w], &rows[c*w], &rows[d*w], w, &got)
			out[a], out[b], out[c], out[d] = got[0], got[1], got[2], got[3]
		}
		i *= 4
	}
	for ; i < n; i++ {
		out[i] = vek32.Dot(q, rows[i*w:(i+1)*w])
	}
}

// scanI8 writes the scores of int8 rows, times their scales, to out.
func scanI8(q []int16, rows []int8, scales []float32, w int, out []float32, fast bool) {
	n := len(out)
	i, quarter := 0, n/4
	if fast {
		var got [4]int32
		for ; i < quarter; i++ {
			a, b, c, d := i, i+quarter, i+2*quarter, i+3*quarter
			dot4I8(&q[0], &rows[a*w], &rows[b*w], &rows[c*w], &rows[d*w], w, &got)
			out[a], out[b] = float32(got[0])*scales[a], float32(got[1])*scales[b]
			out[c], out[d] = float32(got[2])*scales[c], float32(got[3])*scales[d]
		}
		i *= 4
	}
	for ; i < n; i++ {
		out[i] = float32(dotI8(q, rows[i*w:(i+1)*w])) * scales[i]
	}
}

// dotI8 is the plain loop that dot4I8 must agree with, four numbers at a time. The width is a multiple of four.
func dotI8(q []int16, row []int8) int32 {
	var a, b, c, d int32
	q = q[:len(row)]
	for i := 0; i+3 < len(row); i += 4 {
		a += int32(row[i]) * int32(q[i])
		b += int32(row[i+1]) * int32(q[i+1])
		c += int32(row[i+2]) * int32(q[i+2])
		d += int32(row[i+3]) * int32(q[i+3])
	}
	return a + b + c + d
}

// dotExact is the scalar product in float64, in the order of the numbers. A product of two float32 is exact
// in float64, so that the result does not depend on whether the machine multiplies and adds in one step.
func dotExact(a, b []float32) (s float64) {
	b = b[:len(a)]
	for i, x := range a {
		s += float64(x) * float64(b[i])
	}
	return s
}

// slack bounds how far a float32 score of two unit vectors of w numbers can be from the true one: γ = w·u/(1
// − w·u) times Σ|x·y| ≤ 1, with u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms, §3.1; it
// holds for any order of the sum), and a little for lengths that are not quite 1.
func slack(w int) float32 {
	wu := float64(w) * 0x1p-24
	return float32(1.01 * wu / (1 - wu))
}

// grain is how many bytes of rows are worth another goroutine.
const grain = 1 << 20

// parallel cuts n rows of size bytes each into one stretch a core and calls f for each. A fault in f becomes
// an error.
func parallel(n, size int, f func(lo, hi int)) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), n*size/grain))
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for p := 1; p < parts; p++ {
		wg.Go(func() { errs[p] = guarded(f, n*p/parts, n*(p+1)/parts) })
	}
	errs[0] = guarded(f, 0, n/parts)
	wg.Wait()
	return errors.Join(errs...)
}

func guarded(f func(lo, hi int), lo, hi int) (err error) {
	defer guard(&err)()
	f(lo, hi)
	return nil
}

// quantize writes round(v/scale) to out and returns the scale, the largest number of v over 127. v is not zero.
func quantize(v []float32, out []int8) (scale float32) {
	for _, x := range v {
		scale = max(scale, float32(math.Abs(float64(x))))
	}
	scale /= 127
	for i, x := range v {
		out[i] = int8(math.RoundToEven(float64(x) / float64(scale)))
	}
	return scale
}

// Unit writes v at length 1 to out, which may be v. It reports [ErrValue] when v has no direction: zero, NaN
// or infinite numbers. Lengths are summed in float64, where neither 1e30 nor 1e-30 is lost.
func Unit(v, out []float32) error {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	if !(s > 0) || math.IsInf(s, 0) {
		return ErrValue
	}
	f := 1 / math.Sqrt(s)
	for i, x := range v {
		out[i] = float32(float64(x) * f)
	}
	return nil
}
