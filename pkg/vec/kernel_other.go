//go:build !amd64

package vec

const haveKernels = false

func dot4F32(q, a, b, c, d *float32, n int, out *[4]float32) { panic("vec: no kernel") }

func dot4I8(q *int16, a, b, c, d *int8, n int, out *[4]int32) { panic("vec: no kernel") }

func addI8(v *float32, row *byte, n int, factor float32) { panic("vec: no kernel") }
