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

# Where it looks

--source local, the default, looks at the skills of this machine. cloud asks a registry: the text of the query goes there, with your key (OPENSPACE_API_KEY, or
api_key in the config file, or that of a host agent). all does both and gives one list, in which scores mean the same; a skill that is here and there is
one hit. A query record may have a source of its own. With all, a registry that cannot be asked takes nothing away: the reason stands on stderr, in the
warnings of each hit and in those of the summary. With cloud it is an error.

Hits of a registry have the source cloud and no skill_dir. Their texts are somebody else's: what cannot be seen is taken out of them, and
those that the safety policy blocks are left out. --import N fetches the best N of each query by running openspace-download-skill, which is looked for beside this
program and then in $PATH; such a hit has auto_imported, local_path and skill_dir, or a warning that says why not.

The search keeps an index below $OPENSPACE_HOME/index and compares it with the skill folders each time; only what changed is read. It never
writes into a skill folder, except that --import adds new ones.

# Exit status

	0    at least one hit
	1    no hit
	2    usage: a flag, argument or setting is wrong
	3    some queries failed
	4    no key, or a key that is refused
	5    all failed
	130  ended by an interrupt
	143  ended by a termination signal

# Examples

	openspace-search "fill a pdf form" --limit 3
	openspace-search --exact csv-report --json
	openspace-search "fill a pdf form" --source all --import 1
	openspace-search --prefix acme- --plain | cut -f3
	printf 'merge pdf\nclean csv\n' | openspace-search - --skill-dirs ./skills
*/
package main
