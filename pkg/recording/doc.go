// Package recording keeps what happened in a task: one folder per task, made of JSON files that jq can read.
//
// It owns the files and their format, which docs/recordings.md describes, the names of the folders, and
// reading them again. It does not know what agents, models or tools are: it is told.
//
// Guarantees: a folder belongs to one run, whatever its id; nothing is written outside of it; every line is
// written by one call as soon as it is known, so that a killed process leaves all up to then; secrets that
// the mask knows are not written. A Recording is safe for concurrent use. Readers pass over damaged lines and
// count them.
package recording
