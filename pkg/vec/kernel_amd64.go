package vec

// dot4F32 writes the scalar products of q with the four rows at a, b, c and d to out. n, the width, is a
// multiple of 16. It needs AVX2 and FMA.
//
//go:noescape
func dot4F32(q, a, b, c, d *float32, n int, out *[4]float32)

// dot4I8 is dot4F32 for int8 rows and an int16 query: exact integers. n is a multiple of 16 and at most [MaxDim].
//
//go:noescape
func dot4I8(q *int16, a, b, c, d *int8, n int, out *[4]int32)

// addI8 adds factor times the n int8 numbers at row to the numbers at v, rounding after the product and after
// the sum. n is a multiple of 8. It needs AVX2.
//
//go:noescape
func addI8(v *float32, row *byte, n int, factor float32)

const haveKernels = true
