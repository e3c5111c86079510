#!/bin/sh
# bisect-step.sh: one step of "git bisect run". Judges the commit that is checked out.
# Exit status as git wants it: 0 good, 1 bad, 125 cannot be tested (skip), 128 stop the run.
set -u

usage() {
	cat <<'USAGE'
usage: git bisect run sh bisect-step.sh [--build COMMAND] [--tries N] [--invert] -- TEST [ARG]...

  --build COMMAND  run first, by sh -c; when it fails the commit is skipped
  --tries N        a commit is good as soon as one of N runs passes (default 1)
  --invert         swap good and bad: find the commit that mended something
USAGE
}

stop() {
	printf 'bisect-step: %s\n' "$1" >&2
	exit 128
}

build='' tries=1 invert=0
while [ $# -gt 0 ]; do
	case $1 in
	--build | --tries) [ $# -ge 2 ] || stop "$1 wants a value" ;;
	esac
	case $1 in
	--build) build=$2 && shift 2 ;;
	--tries) tries=$2 && shift 2 ;;
	--invert) invert=1 && shift ;;
	-h | --help) usage && exit 0 ;;
	--) shift && break ;;
	*) stop "unexpected argument \"$1\"; the test goes after --" ;;
	esac
done
[ $# -gt 0 ] || stop 'no test command after --'
case $tries in '' | *[!0-9]* | 0*) stop "--tries wants a positive number, got \"$tries\"" ;; esac

if [ -n "$build" ] && ! sh -c "$build" >&2; then
	echo 'bisect-step: the build fails here; skipping this commit' >&2
	exit 125
fi

n=0 verdict=1
while [ "$n" -lt "$tries" ] && [ "$verdict" -eq 1 ]; do
	n=$((n + 1))
	"$@" >&2
	case $? in
	0) verdict=0 ;;
	125) exit 125 ;;
	126 | 127) stop "cannot run the test command \"$1\"" ;;
	esac
done
[ "$invert" -eq 0 ] || verdict=$((1 - verdict))
exit "$verdict"
