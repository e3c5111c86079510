// Package wire is the contract between the commands: record types, error codes and exit statuses.
//
// It owns the names and shapes of everything that travels as a JSON line, and the columns that the same
// records have in a table. It does not read or write: lines are in package jsonl, the process boundary is
// in package cli. docs/jsonl.md describes the same contract for people, testdata/records.jsonl has one
// example of each record.
//
// Promises: fields and types may be added; nothing is renamed and no type changes its meaning. Field names
// are snake_case, absent means default and nothing is null, times are RFC 3339 in UTC, durations end in
// _ms and sizes in _bytes, ids are strings, paths are absolute.
package wire
