package vec

import "unsafe"

// Adder adds int8 rows to sums of float32, as word vectors become the vector of a text. Its results are the
// same, bit for bit, with SIMD and without.
type Adder struct{ fast bool }

// NewAdder returns an adder that uses the kernels if this machine has them.
func NewAdder() Adder { return Adder{accelerated()} }

// Add adds factor times row to v. row holds one int8 in each byte and is at least as long as v.
func (a Adder) Add(v []float32, row string, factor float32) {
	row = row[:len(v)]
	i := 0
	if a.fast && len(v) >= 8 {
		i = len(v) &^ 7
		addI8(&v[0], unsafe.StringData(row), i, factor)
	}
	// The conversion of the product keeps machines with a fused multiply-add from rounding once instead of twice.
	for ; i < len(v); i++ {
		v[i] += float32(factor * float32(int8(row[i])))
	}
}
