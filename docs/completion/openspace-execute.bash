# bash completion for openspace-execute; generated, see scripts/gen
_openspace_execute() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--allow-read) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--allow-write) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--api-base) return ;;
	--capture-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--command-rules) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--evolution) COMPREPLY=($(compgen -W "guarded auto propose off" -- "$cur")); return ;;
	--jobs) return ;;
	--learn) COMPREPLY=($(compgen -W "wait detach off" -- "$cur")); return ;;
	--learn-from) return ;;
	--max-cost) return ;;
	--max-iterations) return ;;
	--max-skills) return ;;
	--max-tokens) return ;;
	--model) return ;;
	--pass-env) return ;;
	--policy) return ;;
	--record) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--replay) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--sandbox) COMPREPLY=($(compgen -W "best-effort strict off" -- "$cur")); return ;;
	--search-scope) COMPREPLY=($(compgen -W "local all none" -- "$cur")); return ;;
	--skill-dirs) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--timeout) return ;;
	--workspace-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	esac
	words="--allow-private-addresses --allow-read --allow-write --api-base --capture-dir --color --command-rules --evolution --force --help -h --jobs --json --jsonl --learn --learn-from --max-cost --max-iterations --max-skills --max-tokens --model --no-recording --pass-env --plain --policy --record --replay --sandbox --search-scope --skill-dirs --timeout --version --workspace-dir"
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_execute openspace-execute
