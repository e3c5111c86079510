# bash completion for openspace-registry; generated, see scripts/gen
_openspace_registry() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--data) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--addr-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--listen) return ;;
	--log-level) COMPREPLY=($(compgen -W "info error debug" -- "$cur")); return ;;
	--max-bytes) return ;;
	--max-files) return ;;
	--policy) return ;;
	--rate) return ;;
	--tls-cert) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--tls-key) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--group) return ;;
	--scope) COMPREPLY=($(compgen -W "write read admin" -- "$cur")); return ;;
	--owner) return ;;
	--keep) return ;;
	esac
	words="serve keys records gc verify --color --data --help -h --json --jsonl --plain --version"
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		serve) verb=1 words="--addr-file --color --data --help -h --insecure --json --jsonl --listen --log-level --max-bytes --max-files --no-discovery --plain --policy --rate --require-signature --tls-cert --tls-key --version"; break ;;
		keys) verb=1 words="--color --data --group --help -h --json --jsonl --plain --scope --version"; break ;;
		records) verb=1 words="--color --data --help -h --json --jsonl --owner --plain --version"; break ;;
		gc) verb=1 words="--color --data --dry-run --force --help -h --json --jsonl --keep --plain --version"; break ;;
		verify) verb=1 words="--color --data --help -h --json --jsonl --plain --version"; break ;;
		esac
	done
	if [ -z "$verb" ] || [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_registry openspace-registry
