#!/bin/sh
# csv-report.sh: turn a CSV file into a markdown report on stdout.
# Needs only sh and awk. Exit status: 0 report written, 1 nothing to report, 2 usage.
set -eu
LC_ALL=C
export LC_ALL

usage() {
	cat <<'USAGE'
usage: csv-report.sh [--title TEXT] [--delim CHAR] [--by COL[:month|:year]]... [--sum COL]... [--top N] FILE|-

  --title TEXT   heading of the report (default: the file name)
  --delim CHAR   field separator; default: whichever of , ; tab | the header line uses most
  --by COL       add a table grouped by this column; may be repeated
                 (COL:month or COL:year groups ISO dates by month or year)
  --sum COL      add up this number column in the grouped tables; may be repeated
  --top N        rows in a grouped table and values in a frequency table (default 10)

Columns are named as in the header line, in any letter case.
USAGE
}

fail() {
	printf 'csv-report: %s\n' "$1" >&2
	exit 2
}

title='' delim='' by='' sum='' top=10
sep=$(printf '\034')
while [ $# -gt 0 ]; do
	case $1 in
	--title | --delim | --by | --sum | --top) [ $# -ge 2 ] || fail "$1 wants a value" ;;
	esac
	case $1 in
	--title) title=$2 && shift 2 ;;
	--delim) delim=$2 && shift 2 ;;
	--by) by=$by${by:+$sep}$2 && shift 2 ;;
	--sum) sum=$sum${sum:+$sep}$2 && shift 2 ;;
	--top) top=$2 && shift 2 ;;
	-h | --help) usage && exit 0 ;;
	--) shift && break ;;
	-?*) fail "unknown option $1 (see --help)" ;;
	*) break ;;
	esac
done
[ $# -eq 1 ] || fail "want one FILE, or - for standard input (see --help)"
case $top in '' | *[!0-9]* | 0*) fail "--top wants a positive number, got \"$top\"" ;; esac
case $delim in
'' | ?) ;;
tab | '\t') delim=$(printf '\t') ;;
*) fail "--delim wants one character, got \"$delim\"" ;;
esac
if [ "$1" != - ]; then
	if [ ! -f "$1" ] || [ ! -r "$1" ]; then fail "cannot read file \"$1\""; fi
	[ -n "$title" ] || title=$(basename -- "$1")
	exec <"$1"
fi

# Values travel by environment: awk -v would interpret backslashes in them.
CSV_TITLE=${title:-standard input} CSV_DELIM=$delim CSV_BY=$by CSV_SUM=$sum CSV_TOP=$top
export CSV_TITLE CSV_DELIM CSV_BY CSV_SUM CSV_TOP
exec awk -f "$(dirname -- "$0")/csv-report.awk"
