// Package vec keeps unit vectors in a memory-mapped file and finds the nearest of them.
//
// It owns the matrix file (docs/format-vectors.md), the kernels and the top-k. It does not know what a vector stands for, makes none, and takes no lock: one
// writer at a time is the caller's business, readers may go on meanwhile. A [Matrix] is safe for concurrent use until it is closed.
//
// Width and finiteness are checked when a vector enters; a vector of length zero, with a NaN or an infinity, or of another width is refused with an error
// and nothing is stored. No score is ever NaN. Damage is found by checksums and reported as [ErrDamaged], never as a result.
//
// # Exact and rough
//
// [Matrix.Top] is exact: it reads every float32 row, takes all rows that could be in the answer given the rounding of the kernel, and scores those again in
// float64 in a fixed order. The answer is therefore the same, bit for bit, with SIMD and without. [Matrix.TopRough] reads the int8 rows, which are a quarter of the
// bytes, takes 8·k + 64 candidates and scores those exactly; its integer arithmetic is the same everywhere, too. On 100,000 random rows and on real skills
// its ten best are those of the exact scan in more than 99 of 100 cases (TestRoughRecall holds it), so search uses it.
//
// # Speed
//
// A scan is bound by memory, not by arithmetic. vek32.Dot, row after row, is one stream of reads and one call with a horizontal sum at the end of each row;
// one core then gets about half of what it can read. The kernels here go through four distant rows at a time: four streams for the prefetcher, one read of
// the query, one horizontal sum for four rows. scripts/bench-vectors prints both beside what a loop that only reads gets in the same run. vek32.Dot scores the
// rows that are left over, and its switch (vek32.SetAcceleration) turns all kernels of this package off as well.
package vec
