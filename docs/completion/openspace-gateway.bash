# bash completion for openspace-gateway; generated, see scripts/gen
_openspace_gateway() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--addr-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--log-level) COMPREPLY=($(compgen -W "info error debug" -- "$cur")); return ;;
	--phone) return ;;
	esac
	words="run status health stop doctor pair --color --config --help -h --json --jsonl --plain --version"
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		run) verb=1 words="--addr-file --color --config --help -h --json --jsonl --log-level --plain --version"; break ;;
		status) verb=1 words="--color --config --help -h --json --jsonl --plain --version"; break ;;
		health) verb=1 words="--color --config --help -h --json --jsonl --plain --version"; break ;;
		stop) verb=1 words="--color --config --help -h --json --jsonl --plain --version"; break ;;
		doctor) verb=1 words="--color --config --help -h --json --jsonl --plain --version"; break ;;
		pair) verb=1 words="--color --config --help -h --json --jsonl --phone --plain --unlink --version"; break ;;
		esac
	done
	if [ -z "$verb" ] || [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_gateway openspace-gateway
