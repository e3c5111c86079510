# bash completion for openspace-skills; generated, see scripts/gen
_openspace_skills() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word
	COMPREPLY=()
	case $prev in
	--color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
	--skill-dirs) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--share) return ;;
	--profile) COMPREPLY=($(compgen -W "lenient spec skills-ref gh anthropic clawhub" -- "$cur")); return ;;
	--format) COMPREPLY=($(compgen -W "records sarif" -- "$cur")); return ;;
	--policy) return ;;
	--to) return ;;
	--reason) return ;;
	--keep) return ;;
	--older-than) return ;;
	esac
	words="list duplicates show validate scan history diff rollback register pin unpin proposals approve reject doctor fsck gc dump index recordings --color --help -h --json --jsonl --plain --skill-dirs --version"
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		list) verb=1 words="--all --color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		duplicates) verb=1 words="--color --help -h --json --jsonl --plain --share --skill-dirs --version"; break ;;
		show) verb=1 words="--body --color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		validate) verb=1 words="--color --dry-run --fix --help -h --json --jsonl --plain --profile --skill-dirs --strict --version"; break ;;
		scan) verb=1 words="--color --format --help -h --json --jsonl --plain --policy --skill-dirs --version"; break ;;
		history) verb=1 words="--color --dot --graph --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		diff) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		rollback) verb=1 words="--color --dry-run --help -h --json --jsonl --plain --skill-dirs --to --version"; break ;;
		register) verb=1 words="--color --help -h --json --jsonl --no-sidecar --plain --skill-dirs --version"; break ;;
		pin) verb=1 words="--color --help -h --json --jsonl --plain --reason --skill-dirs --version"; break ;;
		unpin) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		proposals) verb=1 words="--color --diff --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		approve) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		reject) verb=1 words="--color --help -h --json --jsonl --plain --reason --skill-dirs --version"; break ;;
		doctor) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		fsck) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		gc) verb=1 words="--color --dry-run --force --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		dump) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --version"; break ;;
		index) verb=1 words="--color --help -h --json --jsonl --plain --skill-dirs --verify --version"; break ;;
		recordings) verb=1 words="--color --conversation --dry-run --help -h --json --jsonl --keep --older-than --plain --skill-dirs --version"; break ;;
		esac
	done
	if [ -z "$verb" ] || [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _openspace_skills openspace-skills
