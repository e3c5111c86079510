//go:build unix

package index

import "golang.org/x/sys/unix"

// release tells the system that the pages of a mapped file are not needed in this process for now. They come
// back when they are touched.
func release(mapped []byte) { _ = unix.Madvise(mapped, unix.MADV_DONTNEED) } // advice: it does not matter when it is not taken
