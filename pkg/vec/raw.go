package vec

import "unsafe"

// number is what a section holds.
type number interface {
	int8 | uint32 | uint64 | float32
}

// rawBytes returns the memory of v.
func rawBytes[T number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// rawSlice returns n numbers of b from off on, in place. The caller has checked that they are there; off is a
// multiple of the size of T, and b begins at a multiple of 8, as mapped files and the memory of alignedCopy
// do.
func rawSlice[T number](b []byte, off, n uint64) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[off])), n)
}

// alignedCopy copies b into memory that begins at a multiple of 8.
func alignedCopy(b []byte) []byte {
	out := rawBytes(make([]uint64, (len(b)+7)/8))[:len(b)]
	copy(out, b)
	return out
}

// littleEndian reports whether the machine stores numbers as the file does.
func littleEndian() bool {
	x := uint32(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}
