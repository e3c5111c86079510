/*
Command openspace-download-skill imports skills from a registry and keeps them up to date.

Usage:

	openspace-download-skill [flags] ID…
	openspace-download-skill [flags] FILE.zip…
	openspace-download-skill [flags] - <ids

The arguments are record ids, or archives on disk. With "-", or without arguments, they are read from stdin, one a line: plain ids, or records with a
skill_id such as the hits of openspace-search. Results come in the order of the inputs, one imported record each.

A skill is unpacked aside, checked, scanned and moved in whole. One that the safety policy blocks goes to $OPENSPACE_HOME/quarantine. A skill is known by its
id, not by the name of its folder: one that is there already is left alone, another one of the same name stays beside it. Local edits
are never lost: --force and --update keep them as a version in the store, where openspace-skills rollback finds them.

The key is that of OPENSPACE_API_KEY, or api_key in the config file.

# Modes

With one of these flags the arguments name skills that are installed, by id or by folder:

	--update    bring them to their newest version of the same publisher; --any-owner takes versions of others too
	--diff      show what an update would change; nothing is changed
	--pin       let --update pass over them
	--unpin     end that

# Files

Skills go to $OPENSPACE_HOME/skills, to the first folder of OPENSPACE_HOST_SKILL_DIRS with --into host, or to the folder that --into names. The
store, $OPENSPACE_HOME/store, gets a record of each. docs/transfer.md has all rules and limits.

# Exit status

	0    done
	1    no such skill
	2    usage: a flag, argument or setting is wrong
	3    some of the skills have error records
	4    no key, a key that is refused, or too many requests
	5    failed: blocked by the safety policy, damaged, changed here, no network
	11   the store is locked by another process
	130  ended by an interrupt
	143  ended by a termination signal

# Examples

	openspace-search "fill a pdf form" --source cloud --limit 3 | openspace-download-skill
	openspace-download-skill pdf-forms__clo_1b2c3d4e --into ./skills
	openspace-download-skill --update ./skills/pdf-forms --dry-run
	openspace-skills list | openspace-download-skill --update
	openspace-download-skill --diff pdf-forms__clo_1b2c3d4e --plain
*/
package main
