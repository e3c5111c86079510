// Package vec keeps unit vectors in a memory-mapped file and finds the nearest of them.
//
// It owns the matrix file (docs/format-vectors.md), the kernels and the top-k. It does not know what a vector
// stands for, makes none, and takes no lock: one writer at a time is the caller's business, readers may go on
// meanwhile. A [Matrix] is safe for concurrent use until it is closed.
//
// Width and finiteness are checked when a vector enters; a vector of length zero, with a NaN or an infinity,
// or of another width is refused with an error and nothing is stored. No score is ever NaN. Damage is found
// by checksums and reported as [ErrDamaged], never as a result.
//
// # Exact and rough
//
// [Matrix.Top] is exact: it reads every float32 row, takes all rows that could be in the answer given the
// rounding of the kernel, and scores those again in float64 in a fixed order. The answer is therefore the
// same, bit for bit, with SIMD and without. [Matrix.TopRough] reads the int8 rows, which are a quarter of the
// bytes, takes 8·k + 64 candidates and scores those exactly; its integer arithmetic is the same everywhere,
// too. More than 99 of 100 of its ten best are those of the exact scan (TestRoughRecall on random rows,
// scripts/bench-vectors on clustered ones), at a third of the time or less.
//
// # Speed
//
// A scan is bound by memory, not by arithmetic. vek32.Dot, row after row, is one stream of reads and one call
// with a horizontal sum at the end of each row, and gets about half of what a core can read. The kernels here
// go through four distant rows at a time: four streams for the prefetcher, one read of the query, one
// horizontal sum for four rows. What is missing to the full bandwidth is the choice of the best from the
// scores, which are written and read once more. vek32.Dot scores the rows that are left over, and its switch
// (vek32.SetAcceleration) turns all kernels of this package off as well.
//
// One run of scripts/bench-vectors on two cores of a Xeon, 100,000 × 256, ms on one core and on two: reading
// alone with one stream 7.6 and 3.2, with four streams 4.2 and 2.2; vek32.Dot row by row 7.6 and 3.7; Top 4.9
// and 2.5; TopRough 1.4 and 1.0. Opening takes 0.1 ms.
//
// An approximate graph (HNSW) answers in 0.2 ms at 10,000 × 256, but takes 4 s to build and has to be kept
// up. At 5 ms a query by TopRough, where a person would begin to notice that a search has become slower,
// stand about a million rows of 256 numbers on two cores: below that it would not pay.
package vec
