/*
Command openspace-fix-skill repairs a skill: a model reads it and what went wrong, and answers with an edit.

Usage:

	openspace-fix-skill [flags] --direction TEXT DIR…
	openspace-fix-skill [flags] - <lines

The arguments are skill folders, or their SKILL.md. With "-", or without arguments, they are read from stdin, one a line: paths, or records with a skill_dir, or a skill_id that the
store knows, and perhaps a direction of their own. A folder that the store does not know is recorded first, and so is a hand edit. Results come in the order of the inputs: one
result record each, with the new version in new_skill.

The edit is applied to a copy. It has to keep the name, change something, follow the format, pass the safety scan and the checks that the skill carries in tests/, which run confined; otherwise
the model is told why and answers again, at most three times. Only then the folder is swapped for the copy, in one step. docs/evolution.md has the rules.
openspace-skills rollback puts the version before back; openspace-skills history shows what was changed and by whom.

With --dry-run the change is shown as a diff and nothing is written. A skill that is pinned (openspace-skills pin) is not changed. If the model finds nothing to repair the status is
unchanged. Two changes of one folder at once: one goes on, the other is locked; --wait lets it wait.

# What leaves the machine

The text of the skill, the direction, and notes about earlier runs go to the model, secrets masked.

# Files

Changes the skill folder, with .skill_id and .upload_meta.json in it, and $OPENSPACE_HOME/store.

# Exit status

	0    done, or shown
	1    nothing to repair, no such folder, or no skill in it
	2    usage: a flag, a setting or the model's account
	3    some of the skills were repaired and others not
	4    the model's endpoint refuses the key, or too many requests
	5    failed: no edit passed the checks, the skill is pinned, no network
	10   the store is damaged
	11   somebody else changes the skill
	12   the store's format is too new
	130  ended by an interrupt
	143  ended by a termination signal

# Examples

	openspace-fix-skill ./skills/pdf-forms --direction "the script is now called fill.py" --dry-run
	openspace-fix-skill ./skills/pdf-forms --direction "the script is now called fill.py" --model openai/gpt-5
	echo '{"skill_dir":"./skills/pdf-forms","direction":"say what to do without a network"}' | openspace-fix-skill | openspace-upload-skill --visibility private
	openspace-skills list --jsonl | openspace-fix-skill --direction "name the license" --jobs 4
*/
package main
