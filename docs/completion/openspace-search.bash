# bash completion for openspace-search; generated, see scripts/gen
_openspace_search() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--api-base) return ;;
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--embedding) COMPREPLY=($(compgen -W "auto builtin openai none" -- "$cur")); return ;;
	--import) return ;;
	--limit) return ;;
	--min-score) return ;;
	--policy) return ;;
	--skill-dirs) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--source) COMPREPLY=($(compgen -W "local cloud all" -- "$cur")); return ;;
	esac
	words="--api-base --color --embedding --exact --explain --help -h --import --json --jsonl --limit --min-score --no-refresh --plain --policy --prefix --skill-dirs --source --version"
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_search openspace-search
