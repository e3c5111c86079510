/*
Command openspace-search finds skills.

Usage:

	openspace-search [flags] WORDS…
	openspace-search [flags] - <queries

The arguments are the words of one query. With "-", or without arguments, queries are read from stdin, one a line: plain text, or {"type":"query","id":"7","query":"fill a pdf form"}.
A query may be a few words, a name, an id or the text of a whole task. No sign in it is an operator.

The answer to a query is one hit a line, best first. A hit has id (of its query), rank, skill_id, skill_dir, name, description, source and score. The score lies
between 0 and 1 and can be compared between queries: from 0.9 on the name is the query, from 0.8 on it begins with the query, and below it is the
share of the query that the skill covers. Skills that are shadowed by one of the same name in an earlier root, exact copies of a hit, and skills that
the safety policy blocks are left out and counted.

The search keeps an index below $OPENSPACE_HOME/index and compares it with the skill folders each time; only what changed is read. It never
writes into a skill folder.

# Exit status

	0  at least one hit
	1  no hit
	2  usage: a flag, argument or setting is wrong
	3  some queries failed
	5  all failed

# Examples

	openspace-search "fill a pdf form" --limit 3
	openspace-search --exact csv-report --json
	openspace-search --prefix acme- --plain | cut -f3
	printf 'merge pdf\nclean csv\n' | openspace-search - --skill-dirs ./skills
*/
package main
