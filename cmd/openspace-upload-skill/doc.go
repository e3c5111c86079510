/*
Command openspace-upload-skill publishes skill folders in a registry.

Usage:

	openspace-upload-skill [flags] --visibility public|private DIR…
	openspace-upload-skill [flags] --visibility public|private - <folders

The arguments are skill folders, or their SKILL.md. With "-", or without arguments, they are read from stdin, one a line: plain paths, or records with a skill_dir such as
imported and evolved skills. Results come in the order of the inputs, one upload record each.

Nothing is public unless somebody said so: --visibility, a visibility in the record or the setting decides. Only files that belong to the skill go up; --dry-run
lists them, and what stays here and why. A folder with what looks like a live key or a password is refused, with file and line. What is there already
with the same content is not sent again, so a run that was interrupted is simply repeated. The id that the registry gives is written
into .skill_id and the store.

What flags do not say about a skill is taken from .upload_meta.json, if it was written for this version, else from the store; docs/transfer.md
has the rules. The key is that of OPENSPACE_API_KEY, or api_key in the config file.

# Files

Reads the folders and writes the id file .skill_id into them, and $OPENSPACE_HOME/store; --no-write-back leaves both alone.

# Exit status

	0    done; also when the content was there already
	1    no such folder, or no skill in it
	2    usage: a flag, argument or setting is wrong, or nobody said who may see it
	3    some of the folders have error records
	4    no key, a key that is refused, or too many requests
	5    failed: a secret, a rule that is broken, no network
	11   the store is locked by another process
	130  ended by an interrupt
	143  ended by a termination signal

# Examples

	openspace-upload-skill ./skills/pdf-forms --dry-run --plain
	openspace-upload-skill ./skills/pdf-forms --visibility private
	openspace-upload-skill ./skills/pdf-forms --visibility public --origin fixed --parent-ids pdf-forms__clo_1b2c3d4e
	find ./skills -name SKILL.md -printf '%h\n' | openspace-upload-skill --visibility public --jobs 8
	openspace-upload-skill ./skills/pdf-forms --archive pdf-forms.zip
*/
package main
