# bash completion for openspace-fix-skill; generated, see scripts/gen
_openspace_fix_skill() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--direction) return ;;
	--jobs) return ;;
	--model) return ;;
	--sandbox) COMPREPLY=($(compgen -W "best-effort strict off" -- "$cur")); return ;;
	--skill-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--wait) return ;;
	esac
	words="--color --direction --dry-run --help -h --jobs --json --jsonl --model --plain --sandbox --skill-dir --version --wait"
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_fix_skill openspace-fix-skill
