package vec_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/openspace-dev/openspace/pkg/vec"
)

// both runs f with the kernels and without.
func both(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	was := vek32.Info().Acceleration
	defer vek32.SetAcceleration(was)
	for _, on := range []bool{was, false} {
		vek32.SetAcceleration(on)
		t.Run(fmt.Sprintf("simd=%v", on), f)
	}
}

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// Every width up to 256 in steps of a lane, every number of rows up to nine (none, left over, several fours),
// and rows that begin at any offset.
func TestKernelsAgreeWithPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	memory, codes := random(r, 16+9*256), make([]int8, 16+9*256)
	for i := range codes {
		codes[i] = int8(r.IntN(255) - 127)
	}
	both(t, func(t *testing.T) {
		for w := 16; w <= 256; w += 16 {
			for n := 0; n <= 9; n++ {
				for off := range 16 {
					checkF32(t, memory[off:off+n*w], w, n)
					checkI8(t, codes[off:off+n*w], w, n)
				}
			}
		}
	})
}

// checkF32 compares scores with those in float64: the error of a sum in any order is at most slack·Σ|x·y|.
func checkF32(t *testing.T, rows []float32, w, n int) {
	t.Helper()
	q := random(rand.New(rand.NewPCG(3, uint64(w))), w)
	out := make([]float32, n)
	vec.ScanF32(q, rows, w, out, vec.Fast())
	for i := range out {
		want, size := 0.0, 0.0
		for j, x := range rows[i*w : (i+1)*w] {
			p := float64(x) * float64(q[j])
			want += p
			size += math.Abs(p)
		}
		if math.Abs(float64(out[i])-want) > float64(vec.Slack(w))*size+1e-40 {
			t.Fatalf("width %d row %d of %d: got %v, want %v", w, i, n, out[i], want)
		}
	}
}

// checkI8 compares integer scores: they must be equal.
func checkI8(t *testing.T, rows []int8, w, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, uint64(w)))
	q, scales := make([]int16, w), make([]float32, n)
	for i := range q {
		q[i] = int16(r.IntN(255) - 127)
	}
	for i := range scales {
		scales[i] = r.Float32()
	}
	out := make([]float32, n)
	vec.ScanI8(q, rows, scales, w, out, vec.Fast())
	for i := range out {
		sum := 0
		for j, x := range rows[i*w : (i+1)*w] {
			sum += int(x) * int(q[j])
		}
		if want := float32(int32(sum)) * scales[i]; out[i] != want {
			t.Fatalf("width %d row %d of %d: got %v, want %v", w, i, n, out[i], want)
		}
	}
}

// The largest sums: all numbers at the end of their range, at the greatest width.
func TestIntegerKernelDoesNotOverflow(t *testing.T) {
	both(t, func(t *testing.T) {
		q, rows := make([]int16, vec.MaxDim), make([]int8, 4*vec.MaxDim)
		for i := range q {
			q[i] = -127
		}
		for i := range rows {
			rows[i] = -127
		}
		out := make([]float32, 4)
		vec.ScanI8(q, rows, []float32{1, 1, 1, 1}, vec.MaxDim, out, vec.Fast())
		for _, x := range out {
			if want := float32(127 * 127 * vec.MaxDim); x != want {
				t.Errorf("got %v, want %v", x, want)
			}
		}
	})
}

// Every length, every offset: the sums are equal with the kernel and without, and nothing beyond the length
// is touched.
func TestAdder(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	row := make([]byte, 300)
	for i := range row {
		row[i] = byte(r.Uint32())
	}
	start := random(r, 300)
	both(t, func(t *testing.T) {
		a := vec.NewAdder()
		for n := range 257 {
			off := n % 16
			v := append([]float32(nil), start...)
			a.Add(v[off:off+n], string(row[off:]), 0.37)
			for i, x := range v {
				want := start[i]
				if i >= off && i < off+n {
					want += float32(0.37 * float32(int8(row[i])))
				}
				if x != want {
					t.Fatalf("length %d at %d: got %v, want %v", n, i, x, want)
				}
			}
		}
	})
}

func FuzzKernels(f *testing.F) {
	f.Add([]byte("some bytes that become numbers, some bytes that become numbers.."), uint8(1))
	f.Add([]byte{}, uint8(0))
	f.Add(binary.LittleEndian.AppendUint32(nil, math.Float32bits(3e38)), uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, lanes uint8) {
		w := 16 * (1 + int(lanes)%8)
		floats, codes := make([]float32, 5*w), make([]int8, 5*w)
		for i := 0; i < min(len(codes), len(data)); i++ {
			codes[i] = int8(max(data[i], 1) ^ 0x80) // −127 to 127, as quantize gives
		}
		for i := 0; i < min(len(floats), len(data)/4); i++ {
			x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			if x > -1e15 && x < 1e15 { // stored rows are unit rows: no infinity can come up
				floats[i] = x
			}
		}
		on := vek32.Info().Acceleration
		defer vek32.SetAcceleration(on)
		for _, a := range []bool{on, false} {
			vek32.SetAcceleration(a)
			checkF32(t, floats, w, 5)
			checkI8(t, codes, w, 5)
		}
	})
}

// The claim of the package comment is a ratio within one run: scripts/bench-vectors prints it with the
// bandwidth of the machine beside it.
func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dim := range []int{256, 1536} {
		n := 1 << 24 / dim
		rows, q, out := random(r, n*dim), random(r, dim), make([]float32, n)
		codes, wide, scales := make([]int8, n*dim), make([]int16, dim), make([]float32, n)
		b.Run(fmt.Sprintf("dim=%d/impl=vek", dim), func(b *testing.B) {
			b.SetBytes(int64(4 * n * dim))
			for b.Loop() {
				for i := range out {
					out[i] = vek32.Dot(q, rows[i*dim:(i+1)*dim])
				}
			}
		})
		for _, fast := range []bool{true, false} {
			if fast && !vec.Fast() {
				continue
			}
			b.Run(fmt.Sprintf("dim=%d/impl=f32 fast=%v", dim, fast), func(b *testing.B) {
				b.SetBytes(int64(4 * n * dim))
				for b.Loop() {
					vec.ScanF32(q, rows, dim, out, fast)
				}
			})
			b.Run(fmt.Sprintf("dim=%d/impl=i8 fast=%v", dim, fast), func(b *testing.B) {
				b.SetBytes(int64(n * dim))
				for b.Loop() {
					vec.ScanI8(wide, codes, scales, dim, out, fast)
				}
			})
		}
	}
}
