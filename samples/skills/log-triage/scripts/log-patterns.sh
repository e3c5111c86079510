#!/bin/sh
# log-patterns.sh: fold a log into patterns and count them, most frequent first.
# Output, tab-separated with a heading: count, first line, last line, pattern.
# Exit status: 0 patterns printed, 1 no line matched, 2 usage.
set -eu
LC_ALL=C
export LC_ALL

usage() {
	cat <<'USAGE'
usage: log-patterns.sh [--only error] [--top N] FILE|-

  --only error  keep lines that speak of errors, warnings, failures, crashes, timeouts or kills
  --top N       print the N most frequent patterns (default: all)
USAGE
}

fail() {
	printf 'log-patterns: %s\n' "$1" >&2
	exit 2
}

only=0 top=0
while [ $# -gt 0 ]; do
	case $1 in
	--only)
		[ "${2-}" = error ] || fail '--only knows "error"'
		only=1 && shift 2
		;;
	--top)
		case ${2-} in '' | *[!0-9]* | 0*) fail '--top wants a positive number' ;; esac
		top=$2 && shift 2
		;;
	-h | --help) usage && exit 0 ;;
	-?*) fail "unknown option $1 (see --help)" ;;
	*) break ;;
	esac
done
[ $# -eq 1 ] || fail 'want one FILE, or - for standard input (see --help)'
if [ "$1" != - ]; then
	[ -r "$1" ] || fail "cannot read file \"$1\""
	exec <"$1"
fi

tab=$(printf '\t')
awk -v only="$only" '
only && tolower($0) !~ /error|warn|fail|fatal|panic|exception|crash|timeout|timed out|refused|denied|kill|oom|abort|corrupt/ { next }
/^[ \t]*$/ { next }
{
	s = $0
	sub(/\r$/, "", s)
	gsub(/\t/, " ", s)
	gsub(/\033\[[0-9;]*m/, "", s)
	gsub(/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9]:[0-9][0-9]([.,][0-9]+)?(Z|[-+][0-9][0-9]:?[0-9][0-9])?/, "<time>", s)
	gsub(/(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +[0-9]+ [0-9][0-9]:[0-9][0-9]:[0-9][0-9]/, "<time>", s)
	gsub(/[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+(:[0-9]+)?/, "<addr>", s)
	gsub(/"[^"]*"/, "<text>", s)
	n = split(s, word, / /)
	s = ""
	for (i = 1; i <= n; i++) s = s (i > 1 ? " " : "") fold(word[i])
	sub(/^(<time>|\[<time>\]) */, "", s)
	if (!(s in count)) first[s] = NR
	count[s]++
	last[s] = NR
}
END { for (s in count) printf "%d\t%d\t%d\t%s\n", count[s], first[s], last[s], s }

# fold replaces ids and numbers in one word: mixed hexadecimal of eight and more, then every number.
function fold(w,   head) {
	head = ""
	while (match(w, /[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F-]*[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/)) {
		id = substr(w, RSTART, RLENGTH)
		head = head substr(w, 1, RSTART - 1) (id ~ /[0-9]/ ? "<id>" : id)
		w = substr(w, RSTART + RLENGTH)
	}
	w = head w
	gsub(/[0-9]+(\.[0-9]+)?/, "<n>", w)
	return w
}' | sort -t "$tab" -k1,1nr -k2,2n | awk -v top="$top" '
NR == 1 { printf "count\tfirst\tlast\tpattern\n" }
!top || NR <= top { print }
END { exit NR == 0 }'
