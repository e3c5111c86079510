package main

import (
	"runtime"
	"sync"

	"github.com/viterin/vek/vek32"
)

// split calls f for one stretch of rows a core.
func split(rows int, f func(lo, hi int)) {
	var wg sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for c := range cores {
		wg.Go(func() { f(rows*c/cores, rows*(c+1)/cores) })
	}
	wg.Wait()
}

// read sums all rows, each core reading from the given number of places in turn: as fast as memory gives them.
func read(data []float32, streams int) {
	const piece = 1024 // numbers: long enough that the call costs nothing, short enough that the streams stay side by side
	split(len(data)/piece, func(lo, hi int) {
		n := (hi - lo) / streams
		for i := range n {
			for s := range streams {
				at := (lo + s*n + i) * piece
				vek32.Sum(data[at : at+piece])
			}
		}
	})
}
