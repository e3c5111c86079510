# bash completion for openspace-download-skill; generated, see scripts/gen
_openspace_download_skill() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--api-base) return ;;
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--output-dir|--into) return ;;
	--jobs) return ;;
	--policy) return ;;
	--signed-by) return ;;
	--skill-id) return ;;
	esac
	words="--any-owner --api-base --color --diff --dry-run --force --help -h --output-dir --into --jobs --json --jsonl --pin --plain --policy --require-signature --signed-by --skill-id --unpin --update --version"
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_download_skill openspace-download-skill
