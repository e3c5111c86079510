# bash completion for openspace-upload-skill; generated, see scripts/gen
_openspace_upload_skill() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--api-base) return ;;
	--archive) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--change-summary) return ;;
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--created-by) return ;;
	--group) return ;;
	--jobs) return ;;
	--origin) return ;;
	--parent-ids) return ;;
	--sign-key) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--skill-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--tags) return ;;
	--visibility) return ;;
	esac
	words="--allow-secret --api-base --archive --change-summary --color --created-by --dry-run --group --help -h --jobs --json --jsonl --no-write-back --origin --parent-ids --plain --sign-key --skill-dir --tags --version --visibility"
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_upload_skill openspace-upload-skill
