/*
Command openspace-execute runs tasks end to end.

Usage:

	openspace-execute [flags] WORDS…
	openspace-execute [flags] - <tasks

The arguments are the words of one task, as in openspace-search. With "-", or without arguments, tasks are read from stdin, one a line: plain text, or
{"type":"task","id":"7","task":"summarise ./report.pdf"}. A record may have its own workspace_dir, skill_dirs, search_scope, model, max_iterations, max_tokens,
max_cost, timeout_ms, task_id, history and channel.

For each task it looks for skills that fit, lets the model choose among them, and then runs the model with tools (a shell, files, the web) in a workspace until the
task is done or a limit is reached. A run that a skill led astray is repeated without it; nothing that is in the workspace is removed for that.

In a pipe it writes what happens while it happens: step, tool, text and usage records, then answer, and last the result, which has everything together:
status, response, files, tokens, cost, recording_dir. --plain writes the answers alone. On a terminal it shows the run as it goes.

# The model

--model names provider and model, such as anthropic/claude-sonnet-4.5 or ollama/llama3.2. Keys are never flags: OPENSPACE_LLM_API_KEY and OPENSPACE_LLM_API_BASE, else the key
variable of the provider, such as OPENAI_API_KEY, else what a host agent has set up. docs/models.md has the order.

--record writes every exchange with the model to a file, --replay answers from such a file and needs no key and no network: the same task with the same input takes the
same course, also on another machine. What earlier tasks say of skills plays no part in both, and a replay teaches nothing. A conversation that takes another
course than the recorded one is an error that shows where.

# What a task may touch

It works in --workspace-dir, else in $OPENSPACE_WORKSPACE, else in a new folder below $OPENSPACE_HOME/workspaces, which stays when there is something in it. It may write
there and below --allow-write, read there, in skill folders and below --allow-read, and not in the rest of your home. Its commands run confined by the kernel where that
is possible; with --sandbox strict they do not run where it is not. They get a small environment without keys; --pass-env adds variables by name, and
--command-rules has rules of your own for commands (docs/policy.md).
fetch_url does not reach this machine and private networks unless --allow-private-addresses says so. Records on stdin can name another workspace, and change nothing else of this. A
workspace with your home and more in it is refused.

Each task is recorded below $OPENSPACE_HOME/recordings, secrets masked, unless --no-recording or OPENSPACE_ENABLE_RECORDING=false says otherwise.

Which skills there are says openspace-search, which is looked for beside this program and then in $PATH; with --search-scope all it asks the registry, too, and what
the model chooses there is fetched by openspace-download-skill. Without these commands tasks run without skills, and a warning says so.

# Learning

After the answer the run is looked at once more: which skills helped, what is worth keeping. Skills are repaired, derived or captured by that, after checks, as versions that can be rolled
back; the result tells of them in evolved_skills. docs/evolution.md has the rules. --learn detach does it in a process of its own after the result, --learn off not at
all. In folders under version control changes wait for openspace-skills approve; --evolution propose lets all of them wait, auto none, off only counts. A pinned skill (openspace-skills pin) stays as it is. Runs without a recording,
with --record or with --replay teach nothing. --learn-from learns from a recording, such as that of a run with --learn off.

# Limits

--max-iterations, --max-tokens, --max-cost and --timeout are for each task with all that belongs to it, learning too (not with --learn detach). Near a limit the model is asked for its answer; such a task is
incomplete and has a warning.

# Exit status

	0    all tasks succeeded
	1    all are incomplete: out of budget, or the agent says that it cannot be done
	2    usage: a flag, argument or setting is wrong, or no model is set up
	3    some tasks did not succeed
	4    the model refuses the key, or says: later
	5    all failed
	10   the file of --replay, or the store, is damaged
	130  ended by an interrupt
	141  the reader of the output went away
	143  ended by a termination signal

When tasks did not succeed in different ways, the first one's status counts. A canceled task has a result with the status canceled, and what it started is ended.

# Examples

	openspace-execute "write a report about sales.csv to report.md" --workspace-dir .
	openspace-execute --plain --max-iterations 5 what is in this folder --workspace-dir .
	printf 'count the lines of a.txt\ncount the lines of b.txt\n' | openspace-execute --jobs 2 --workspace-dir . | jq -c 'select(.type=="result")'
	openspace-execute "tidy up notes.txt" --workspace-dir . --learn detach
	openspace-execute --replay run.jsonl "write a report about sales.csv to report.md" --workspace-dir .
*/
package main
