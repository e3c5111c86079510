// Package index is the search index on disk: it builds, updates, opens and queries it.
//
// One index covers one skill root. It is a set of immutable, memory-mapped segments and a manifest that names
// them; docs/format-index.md gives the bytes. The package knows folders, terms and scores, not what a result
// is worth to a user: ranking by name and joining with other sources is done in package search.
//
// Any number of processes may search while one updates. Damage, another version and a vanished file are found
// by checksum or by bounds check and answered by building anew, never by a wrong result or a panic.
package index
