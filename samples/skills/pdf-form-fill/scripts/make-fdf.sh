#!/bin/sh
# make-fdf.sh: turn "field<TAB>value" lines into an FDF file on stdout, for pdftk or another form filler.
# Values are written as UTF-16BE hexadecimal strings, so any character is safe. \n in a value is a line break.
# usage: make-fdf.sh FILE|-      Exit status: 0 written, 1 no fields, 2 usage or bad input.
set -eu
LC_ALL=C
export LC_ALL

case ${1-} in
-h | --help)
	echo 'usage: make-fdf.sh FILE|-    lines: field name, a TAB, the value'
	exit 0
	;;
esac
if [ $# -ne 1 ]; then
	echo 'make-fdf: want one FILE, or - for standard input' >&2
	exit 2
fi
if [ "$1" != - ]; then
	if [ ! -r "$1" ]; then
		printf 'make-fdf: cannot read file "%s"\n' "$1" >&2
		exit 2
	fi
	exec <"$1"
fi

# The fields are collected first, so that bad input writes nothing.
exec awk '
BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }

{
	sub(/\r$/, "")
	if (NR == 1) sub(/^\357\273\277/, "")
	if ($0 == "" || substr($0, 1, 1) == "#") next
	tab = index($0, "\t")
	if (tab < 2) bad("want a field name, a TAB and a value")
	field[++fields] = "<< /T " text(substr($0, 1, tab - 1)) " /V " text(substr($0, tab + 1)) " >>"
}

END {
	if (status) exit status
	if (!fields) { print "make-fdf: no fields" > "/dev/stderr"; exit 1 }
	print "%FDF-1.2\n1 0 obj\n<< /FDF << /Fields ["
	for (i = 1; i <= fields; i++) print field[i]
	print "] >> >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF"
}

function bad(what) {
	print "make-fdf: line " NR ": " what > "/dev/stderr"
	status = 2
	exit status
}

# text is a PDF string: plain words as they are, anything else as UTF-16BE in hexadecimal.
function text(s,   i, c, n, rune, out) {
	gsub(/\\n/, "\r", s)
	if (s ~ /^[A-Za-z0-9 _.,:;@+\/-]*$/) return "(" s ")"
	out = "FEFF"
	for (i = 1; i <= length(s); ) {
		c = code[substr(s, i++, 1)]
		if (c < 128) { n = 0; rune = c }
		else if (c >= 194 && c < 224) { n = 1; rune = c - 192 }
		else if (c >= 224 && c < 240) { n = 2; rune = c - 224 }
		else if (c >= 240 && c < 245) { n = 3; rune = c - 240 }
		else bad("not UTF-8")
		for (; n > 0; n--) {
			c = code[substr(s, i++, 1)]
			if (c < 128 || c > 191) bad("not UTF-8")
			rune = rune * 64 + c - 128
		}
		if (rune < 65536) out = out sprintf("%04X", rune)
		else out = out sprintf("%04X%04X", 55296 + int((rune - 65536) / 1024), 56320 + rune % 1024)
	}
	return "<" out ">"
}'
