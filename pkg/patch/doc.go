// Package patch owns the three edit formats FULL, DIFF and PATCH: it tells
// them apart, reads them out of a model's reply and applies them to the files
// of one folder, in memory. The formats are written down in
// docs/edit-formats.md.
//
// It does not read or write the file system, does not know what a valid skill
// is, and does not judge what an edit does. Paths are checked here; links are
// the caller's.
//
// An edit is applied whole or not at all, and never to text that it did not
// show: a place that is not found, or found several times, is an *Error that
// names the nearest places. What an edit does not concern keeps its bytes.
// Neither the edit nor the given files are ever changed, so both may be shared
// between goroutines. Time is near linear in the size of the file and the
// number of hunks, and bounded for hostile input.
package patch
