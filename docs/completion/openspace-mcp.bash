# bash completion for openspace-mcp; generated, see scripts/gen
_openspace_mcp() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--addr-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--allow-host) return ;;
	--allow-origin) return ;;
	--auth-token-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--host) return ;;
	--max-tasks) return ;;
	--port) return ;;
	--tools) return ;;
	--transport) COMPREPLY=($(compgen -W "auto stdio sse streamable-http" -- "$cur")); return ;;
	--command) return ;;
	--env) return ;;
	esac
	words="install uninstall tools --addr-file --allow-host --allow-origin --auth-token-file --color --help -h --host --insecure --json --jsonl --max-tasks --plain --port --tools --transport --version"
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		install) verb=1 words="--color --command --dry-run --env --help -h --host --json --jsonl --plain --tools --version --yes"; break ;;
		uninstall) verb=1 words="--color --dry-run --help -h --host --json --jsonl --plain --version --yes"; break ;;
		tools) verb=1 words="--color --help -h --json --jsonl --plain --tools --version"; break ;;
		esac
	done
	if [ -z "$verb" ] || [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_mcp openspace-mcp
