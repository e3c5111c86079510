/*
Package cmd is the map of the suite: one directory below it for each command.

	openspace-search          queries in, hits out
	openspace-skills          the skills on this machine: list, show, validate, scan, history, diff, rollback, …
	openspace-execute         tasks in, what happens and the results out
	openspace-download-skill  ids or hits in, imported skills out; updates, pins and compares what is installed
	openspace-upload-skill    skill folders in, uploads out
	openspace-fix-skill       skill folders and what is wrong in, repaired skills out
	openspace-registry        a skill community of your own: a server, its keys, its records
	openspace-gateway         chat: people write from Feishu, Slack, Telegram, WhatsApp, tasks are run, answers and files go back
	openspace-mcp             the suite as tools for agents: search, tasks, repair and upload over stdio and HTTP

Commands exchange JSON lines, so that they and jq, grep and head form pipes:

	echo "fill a pdf form" | openspace-search --limit 3 | jq -r '.skill_dir // empty'

Each line is a record with its type first; a failed input is an error record in the place of its result, and
a summary ends a run. docs/jsonl.md is the contract, pkg/wire has it as Go types. Results go to stdout,
everything else to stderr. On a terminal the same results are a table.

# Exit status

The exit status means the same in every command:

	0    done; for a search at least one hit
	1    ran well, the answer is none: no hit, nothing to change, not found
	2    usage: a flag, an argument or a setting is wrong
	3    partly done: some inputs got error records
	4    not signed in, or refused by the other side
	5    failed: anything else
	10   a store or an index is missing or damaged
	11   a store or an index is locked by another process
	12   a format is too old or too new
	130  ended by an interrupt
	141  the reader of the output went away
	143  ended by a termination signal

The scripts in testdata/script run the real commands and are the contract by example. To run one:

	go test ./cmd -run 'TestScript/^cli_usage$' -v
*/
package cmd
