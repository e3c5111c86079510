/*
Command cliprobe answers each input with a record, so that scripts can test what all commands share.

Usage:

	cliprobe [flags] QUERY...
	cliprobe [flags] <queries

It reads queries, one a line, or query records. The query decides what happens: "none" finds nothing,
"fail:CODE" is answered by an error record of that code, "stop:CODE" ends the run with that code, wrapped,
"panic" panics and "wait" waits for a signal.

# Examples

	echo hello | cliprobe
*/
package main
