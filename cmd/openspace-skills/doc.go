/*
Command openspace-skills looks after the skills on this machine: it lists, shows and checks them, and keeps, compares and restores their versions.

Usage:

	openspace-skills COMMAND [flags] [ID|NAME|DIR…]

A skill is a folder with a SKILL.md. Skill folders are looked for below --skill-dirs, or else below $OPENSPACE_HOST_SKILL_DIRS, the skill_dirs of the config
file and $OPENSPACE_HOME/skills, in this order; docs/roots.md has the rules. Of two skills with one name in different places the earlier one counts.

	list [DIR…]            skills, and every folder that was passed over and why
	duplicates [DIR…]      pairs of skills whose texts are much the same
	show ID|NAME|DIR…      all that is known of a skill or of an old version
	validate DIR…          check against the rules of a --profile; --fix mends what is safe to mend
	scan DIR…              look for what is unsafe
	register DIR…          record skills as they are now, so that they have a history
	history ID|NAME|DIR…   versions and how they did, newest first; --graph or --dot: all that is related
	diff A [B]             what a version changed, what was edited since the last version, or how A and B differ
	rollback DIR|ID|NAME…  put an earlier version back, as a new version; --dry-run shows the change
	pin, unpin DIR|ID|…    keep a skill as it is, whatever runs teach; let it change again
	proposals [ID…]        changes that wait for a yes; --diff shows them
	approve, reject ID…    put a proposed change in place, or drop it
	doctor                 settings and where they come from; health of roots, store and index
	fsck                   check the whole store against its checksums
	gc                     what of the store nobody needs; --force removes it
	dump                   the whole store as lines
	index status|rebuild   the search index
	recordings list        what tasks were done, newest first
	recordings show ID…    one task: its summary, its steps, its answer; --conversation adds all that was said
	recordings prune       remove recordings beyond --keep N or --older-than AGE; --dry-run shows them

A word is taken as an id that the store knows, else as a skill folder, else as an id or a name below the skill roots. A name that several skills have is
refused, with their ids. Without arguments, or with "-", the words come from stdin, one a line; records with skill_id or skill_dir (skills, hits, versions,
results) work as well. Results come in the order of the input, and an input that fails has an error record in its place.

approve and reject take the ids of proposals, or their records, in the same way.

On a terminal the results are tables and text, else one JSON object a line: skill, problem, result, finding, version, diff, duplicate, lineage, proposal,
setting and recording records.
Problems with skills are part of their records, and are told on stderr too.

# Files

Only register, rollback, approve and validate --fix write into skill folders: register the id file .skill_id, rollback and approve the files of the
version, validate --fix the SKILL.md. These but validate, and pin, unpin and reject, write the store, $OPENSPACE_HOME/store; gc --force removes from it, and
what killed tasks left in the folder for temporary files;
approve and reject remove from $OPENSPACE_HOME/proposals; index rebuild writes $OPENSPACE_HOME/index; recordings prune
removes from $OPENSPACE_HOME/recordings. The other commands write nothing at all.

# JSON format

docs/jsonl.md has the records. show adds to its skill records: active (false for an old version), status of the folder (clean, dirty after an edit by hand, missing
or unregistered), pinned and pin_reason, frontmatter (all keys, texts as typed), files and left_out (with the reason), and for skills that the store knows lineage and counters. dump
writes the store's own records: record, analysis, processed, mark, tool and attempt, as docs/format-store.md describes them.

history adds to its version records how often a version was offered (selections), applied, completed and fell back, effective_rate (completed of offered), the
means of its latest 50 runs (runs, mean_tokens, mean_iterations, mean_ms), and in before the same of the version that it was made from.

# Exit status

	0    done
	1    what was named does not exist, or nothing of it is recorded
	2    usage: a flag, an argument or a setting is wrong
	3    partly done: some inputs have error records; a skill is not valid, or is blocked
	5    failed: anything else
	10   the store is damaged
	11   the store is locked by another process
	12   the store's format is too old or too new
	130  ended by an interrupt
	141  the reader of the output went away
	143  ended by a termination signal

# Examples

	openspace-skills list
	openspace-skills list ./skills --json
	openspace-skills show csv-report --body
	openspace-skills validate ./skills --strict
	openspace-skills validate ./skills/csv-report --fix --dry-run
	openspace-skills scan ./downloads --format sarif >scan.sarif
	openspace-search "fill a pdf form" | openspace-skills show
	openspace-skills diff ./skills/csv-report --plain | patch -R -p1 -d ./skills/csv-report
	openspace-skills rollback csv-report --dry-run
	openspace-skills history csv-report --dot | dot -Tsvg >csv-report.svg
	openspace-skills pin csv-report --reason "checked by the lab"
	openspace-skills proposals --diff
*/
package main
