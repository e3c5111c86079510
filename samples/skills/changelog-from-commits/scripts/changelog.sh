#!/bin/sh
# changelog.sh: sort the commits of a range into changelog groups, as markdown on stdout.
# usage: changelog.sh [RANGE]   RANGE as for git log; default: last tag..HEAD, or all without a tag
# Exit status: 0 written, 1 no commits in the range, 2 git does not know the range.
set -eu

case ${1-} in
-h | --help)
	sed -n '2,4s/^# //p' "$0"
	exit 0
	;;
esac
range=${1-}
if [ -z "$range" ]; then
	tag=$(git describe --tags --abbrev=0 2>/dev/null) && range=$tag..HEAD || range=HEAD
fi
git rev-list --max-count=1 "$range" -- >/dev/null || exit 2

# Records end in RS (036), fields in US (037): neither can be typed into a commit message by accident.
LC_ALL=C git log --no-merges --reverse --format='%h%x1f%s%x1f%b%x1e' "$range" -- | LC_ALL=C awk '
BEGIN {
	RS = "\036"
	FS = "\037"
	groups = split("Breaking,Security,Added,Changed,Deprecated,Removed,Fixed,Other,Probably not for readers", name, ",")
	split("feat=3,add=3,added=3,adds=3,new=3,support=3,introduce=3,allow=3", words, ","); learn()
	split("fix=7,fixed=7,fixes=7,bugfix=7,correct=7,handle=7,prevent=7,avoid=7", words, ","); learn()
	split("perf=4,change=4,changed=4,update=4,improve=4,rename=4,make=4,use=4", words, ","); learn()
	split("deprecate=5,remove=6,removed=6,drop=6,delete=6,security=2,revert=8", words, ","); learn()
	split("chore=9,ci=9,test=9,tests=9,style=9,refactor=9,docs=9,doc=9,build=9,deps=9,bump=9,merge=9", words, ","); learn()
}

{
	id = $1
	sub(/^[ \t\n]+/, "", id)
	if (id == "") next
	subject = $2
	type = subject
	rest = subject
	breaking = ($3 ~ /(^|\n)BREAKING[ -]CHANGE:/)
	if (match(subject, /^[A-Za-z]+(\([^)]*\))?!?: */)) {
		head = substr(subject, 1, RLENGTH)
		rest = substr(subject, RLENGTH + 1)
		if (head ~ /!:/) breaking = 1
		type = head
	} else if (match(subject, /^[A-Za-z0-9_.\/-]+: +/)) {
		rest = substr(subject, RLENGTH + 1)
		type = rest
	}
	match(type, /^[A-Za-z]*/)
	word = tolower(substr(type, 1, RLENGTH))
	if (!(word in group) && match(rest, /^[A-Za-z]+/)) word = tolower(substr(rest, 1, RLENGTH))
	g = breaking ? 1 : ((word in group) ? group[word] : 8)
	line[g, ++lines[g]] = "- " subject " (" id ")"
	commits++
}

END {
	if (!commits) { print "changelog: no commits in the range" > "/dev/stderr"; exit 1 }
	for (g = 1; g <= groups; g++) {
		if (!lines[g]) continue
		if (printed++) print ""
		print "### " name[g] "\n"
		for (i = 1; i <= lines[g]; i++) print line[g, i]
	}
}

# learn files the words of the list just split, each "word=group".
function learn(   i, pair) {
	for (i in words) { split(words[i], pair, "="); group[pair[1]] = pair[2] }
}'
