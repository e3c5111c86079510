#!/bin/sh
# find-odd.sh: report, or with --fix replace, invisible and misleading characters in UTF-8 text.
# Report, tab-separated: file, line, column, code point, name, kind.
# Exit status: 0 nothing found, 1 found or fixed, 2 usage.
set -eu
LC_ALL=C
export LC_ALL

usage() {
	cat <<'USAGE'
usage: find-odd.sh FILE|-...
       find-odd.sh --fix KIND[,KIND] FILE|-     the cleaned text goes to stdout

kinds: danger, remove, space, quote      (report only: broken, mixed scripts)
USAGE
}

fail() {
	printf 'find-odd: %s\n' "$1" >&2
	exit 2
}

fix=''
while [ $# -gt 0 ]; do
	case $1 in
	--fix)
		[ -n "${2-}" ] || fail '--fix wants a list of kinds'
		fix=$2 && shift 2
		;;
	-h | --help) usage && exit 0 ;;
	-?*) fail "unknown option $1 (see --help)" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || fail 'want a FILE, or - for standard input (see --help)'
[ -z "$fix" ] || [ $# -eq 1 ] || fail '--fix takes one file'
for f; do
	# awk would take such a name for an assignment and read nothing
	case $f in [A-Za-z_]*=*) fail "write \"./$f\" for a file name with =" ;; esac
	[ "$f" = - ] || [ -r "$f" ] || fail "cannot read file \"$f\""
done

exec awk -v fix="$fix" '
BEGIN {
	for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
	n = split(fix, list, ",")
	for (i = 1; i <= n; i++) wanted[list[i]] = 1
	file = "-"
	name_range(8234, 8238, "danger", "bidirectional control")
	name_range(8294, 8297, "danger", "bidirectional isolate")
	name_range(917504, 917631, "danger", "tag character")
	names[8238] = "right-to-left override"
	put(8203, "remove", "zero width space"); put(8204, "remove", "zero width non-joiner")
	put(8205, "remove", "zero width joiner"); put(8288, "remove", "word joiner")
	put(65279, "remove", "byte-order mark"); put(173, "remove", "soft hyphen")
	put(8206, "danger", "left-to-right mark"); put(8207, "danger", "right-to-left mark")
	put(160, "space", "no-break space", " "); put(8239, "space", "narrow no-break space", " ")
	for (i = 8192; i <= 8202; i++) put(i, "space", "wide or thin space", " ")
	put(12288, "space", "ideographic space", " "); put(8232, "space", "line separator", " ")
	put(8216, "quote", "left single quote", "\047"); put(8217, "quote", "right single quote", "\047")
	put(8220, "quote", "left double quote", "\""); put(8221, "quote", "right double quote", "\"")
	put(8211, "quote", "en dash", "-"); put(8212, "quote", "em dash", "-"); put(8722, "quote", "minus sign", "-")
}

FNR == 1 { if (FILENAME != "") file = FILENAME }

# Lines of plain ASCII, nearly all of them in code, need no look at each character.
!/[\200-\377]/ { if (fix != "") print; next }

{
	line = $0
	out = ""
	column = 0
	scripts = ""
	for (i = 1; i <= length(line); i += size) {
		column++
		rune = decode(line, i)
		bytes = substr(line, i, size)
		if (rune < 0) { if (fix == "") report(sprintf("0x%02X", code[bytes]), "not UTF-8", "broken") }
		else if (rune in kinds) {
			if (fix == "") report(sprintf("U+%04X", rune), names[rune], kinds[rune])
			else if (kinds[rune] in wanted) { bytes = plain[rune]; found = 1 }
		} else mixed(rune)
		out = out bytes
	}
	if (fix != "") print out
}

END { exit found ? 1 : 0 }

function put(rune, kind, name, ascii) { kinds[rune] = kind; names[rune] = name; plain[rune] = ascii }

function name_range(from, to, kind, name,   r) { for (r = from; r <= to; r++) put(r, kind, name, "") }

function report(point, name, kind) {
	printf "%s\t%d\t%d\t%s\t%s\t%s\n", file, FNR, column, point, name, kind
	found = 1
}

# decode returns the code point that begins at byte i of s and sets size; -1 for a byte that is not UTF-8.
function decode(s, i,   c, n, rune) {
	size = 1
	c = code[substr(s, i, 1)]
	if (c < 128) return c
	if (c >= 194 && c < 224) { n = 1; rune = c - 192 }
	else if (c >= 224 && c < 240) { n = 2; rune = c - 224 }
	else if (c >= 240 && c < 245) { n = 3; rune = c - 240 }
	else return -1
	for (size = 1; size <= n; size++) {
		c = code[substr(s, i + size, 1)]
		if (c < 128 || c > 191) { size = 1; return -1 }
		rune = rune * 64 + c - 128
	}
	size = n + 1
	return rune
}

# mixed reports a word that joins Latin letters with Cyrillic ones, once a word.
function mixed(rune,   script) {
	if ((rune >= 65 && rune <= 90) || (rune >= 97 && rune <= 122)) script = "L"
	else if (rune >= 1024 && rune <= 1279) script = "C"
	else if (rune < 128 && rune != 95) { scripts = ""; return }
	else return
	if (scripts != "" && scripts != script && scripts != "done") {
		if (fix == "") report(sprintf("U+%04X", rune), "mixed scripts", "danger")
		scripts = "done"
	} else if (scripts == "") scripts = script
}' "$@"
