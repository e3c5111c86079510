// Package journal keeps an append-only list of JSON lines in segment files.
//
// It owns what is between a line's content and the disk: segments, checksums, the one write and sync of an append, torn ends, and reading
// a line again by its place. It does not know what lines mean, and it takes no lock: whoever appends holds one that all writers of the folder
// share, and has read to the end under it.
//
// Guarantees: Append returns after its lines are synced; when it fails, the file has its old length. A line that a crash tore is ended by the next writer
// and reported as bad, never joined with another. Readers see whole lines only. A Journal is safe for concurrent use, Append for one caller at
// a time.
package journal
