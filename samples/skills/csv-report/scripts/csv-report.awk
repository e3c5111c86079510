# csv-report.awk: the reading and counting behind csv-report.sh, which sets the CSV_* variables.
# Fields follow RFC 4180: quotes around a field, "" for a quote, line breaks inside quotes.

BEGIN {
	FS = "\n"
	delim = ENVIRON["CSV_DELIM"]
	top = ENVIRON["CSV_TOP"] + 0
	groups = names(ENVIRON["CSV_BY"], by)
	sums = names(ENVIRON["CSV_SUM"], sum)
}

{
	line = $0
	sub(/\r$/, "", line)
	if (NR == 1) {
		sub(/^\357\273\277/, "", line)
		if (delim == "") delim = guess(line)
	}
	if (open) record = record "\n" line
	else { record = line; start = NR }
	if (record == "") next
	n = fields(record, cell)
	if (open && NR - start >= 1000) stop("line " start ": a quoted field is not closed within 1000 lines", 1)
	if (open) next
	if (!columns) header(n)
	else row(n)
}

END {
	if (dead) exit dead
	if (open) stop("line " start ": a quoted field is never closed", 1)
	if (!columns) stop("no header line", 1)
	if (!rows) stop("a header line but no rows", 1)
	print "# " ENVIRON["CSV_TITLE"] "\n"
	print count(rows, "row") ", " count(columns, "column") ".\n"
	print_columns()
	for (g = 1; g <= groups; g++) print_group(g)
	print_frequent()
	print_notes()
}

# names splits a list of column names; returns how many there are.
function names(list, out) { return list == "" ? 0 : split(list, out, "\034") }

function stop(message, status) {
	print "csv-report: " message > "/dev/stderr"
	dead = status
	exit status
}

function count(n, word) { return n " " word (n == 1 ? "" : "s") }

# header reads the column names and finds the columns that options name.
function header(n,   i) {
	columns = n
	for (i = 1; i <= columns; i++) {
		title[i] = trim(cell[i])
		if (title[i] == "") title[i] = "column " i
		if (tolower(title[i]) in place) note("line 1: two columns are named `" title[i] "`; options mean the first")
		else place[tolower(title[i])] = i
	}
	for (i = 1; i <= groups; i++) {
		if (match(by[i], /:(month|year)$/)) {
			period[i] = substr(by[i], RSTART + 1)
			by[i] = substr(by[i], 1, RSTART - 1)
		}
		by_column[i] = find(by[i], "--by")
	}
	for (i = 1; i <= sums; i++) sum_column[i] = find(sum[i], "--sum")
}

# guess picks the separator that the header line uses most; quoted text does not count.
function guess(s,   i, c, n, best, most) {
	gsub(/"[^"]*"/, "", s)
	best = ","
	for (i = 1; i <= 4; i++) {
		c = substr(",;\t|", i, 1)
		n = split(s, scratch, c) - 1
		if (n > most) { most = n; best = c }
	}
	return best
}

function find(name, option,   i, list) {
	if (tolower(name) in place) return place[tolower(name)]
	for (i = 1; i <= columns; i++) list = list (i > 1 ? ", " : "") title[i]
	stop(option " names no column: \"" name "\"; there are: " list, 2)
}

# fields splits one record into out[1..n] and returns n; open tells whether a quote is still open at its end.
# A quote in the middle of an unquoted field is an ordinary character.
function fields(s, out,   n, p, text) {
	open = 0
	if (index(s, "\"") == 0) return split(s, out, delim)
	n = 0
	for (;;) {
		if (substr(s, 1, 1) == "\"") {
			text = ""
			s = substr(s, 2)
			while ((p = index(s, "\"")) > 0) {
				text = text substr(s, 1, p - 1)
				s = substr(s, p + 1)
				if (substr(s, 1, 1) != "\"") break
				text = text "\""
				s = substr(s, 2)
			}
			if (!p) { open = 1; return n }
			p = index(s, delim)
			out[++n] = text (p ? substr(s, 1, p - 1) : s)
		} else {
			p = index(s, delim)
			out[++n] = p ? substr(s, 1, p - 1) : s
		}
		if (!p) return n
		s = substr(s, p + 1)
	}
}

function trim(s) { gsub(/^[ \t\n]+|[ \t\n]+$/, "", s); return s }

function row(n,   i, v) {
	rows++
	if (n != columns) note("line " start ": " count(n, "field") " where the header has " columns)
	for (i = n + 1; i <= columns; i++) cell[i] = ""
	if (record in seen) note("line " start ": the same as line " seen[record])
	else seen[record] = start
	for (i = 1; i <= columns; i++) {
		v = trim(cell[i])
		if (v != "") value(i, v)
	}
	for (i = 1; i <= groups; i++) add(i)
}

# value counts one filled cell of column i.
function value(i, v) {
	filled[i]++
	if (!((i, v) in seen_value)) distinct[i]++
	seen_value[i, v]++
	if (number(v)) {
		numbers[i]++
		total[i] += num
		if (numbers[i] == 1 || num < least[i]) least[i] = num
		if (numbers[i] == 1 || num > most_of[i]) most_of[i] = num
		if (places > decimals[i]) decimals[i] = places
	} else {
		if (++texts[i] <= 5) { odd_line[i, texts[i]] = start; odd[i, texts[i]] = v }
		if (v ~ /^[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]/) {
			dates[i]++
			if (first[i] == "" || v < first[i]) first[i] = v
			if (v > last[i]) last[i] = v
		}
	}
}

# number tells whether v is a number, and sets num and places. 1,234.50 is one; with ; as
# separator so are 1234,50 and 1.234,50. A leading zero (00123, a code) makes it text.
function number(v,   p) {
	if (v ~ /^[-+]?0[0-9]/) return 0
	if (delim == ";" && v ~ /^[-+]?[0-9]+(\.[0-9][0-9][0-9])*,[0-9]+$/) {
		gsub(/\./, "", v)
		sub(/,/, ".", v)
	} else if (v ~ /^[-+]?[0-9]+(,[0-9][0-9][0-9])+(\.[0-9]+)?$/) gsub(/,/, "", v)
	if (v !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) return 0
	num = v + 0
	p = index(v, ".")
	places = (p && v !~ /[eE]/) ? length(v) - p : 0
	return 1
}

# add puts the current row into its group of grouped table g.
function add(g,   key, i) {
	key = trim(cell[by_column[g]])
	if (period[g] == "month") key = substr(key, 1, 7)
	if (period[g] == "year") key = substr(key, 1, 4)
	if (key == "") key = "(empty)"
	if (!((g, key) in group_rows)) group_key[g, ++group_count[g]] = key
	group_rows[g, key]++
	for (i = 1; i <= sums; i++)
		if (number(trim(cell[sum_column[i]]))) group_sum[g, key, i] += num
}

function kind(i) {
	if (!filled[i]) return "empty"
	if (numbers[i] >= 0.9 * filled[i]) return "number"
	if (dates[i] >= 0.9 * filled[i]) return "date"
	return "text"
}

function show(x, i) { return sprintf("%." (decimals[i] > 6 ? 6 : decimals[i] + 0) "f", x) }

function share(x, whole) { return whole ? sprintf("%.1f %%", 100 * x / whole) : "-" }

# cell_text makes a value safe inside a markdown table.
function cell_text(s) {
	gsub(/[\r\n\t]+/, " ", s)
	gsub(/\|/, "\\|", s)
	return s
}

function print_columns(   i, j, k) {
	print "## Columns\n"
	print "| column | type | filled | distinct | min | max | mean | sum |"
	print "|---|---|---:|---:|---:|---:|---:|---:|"
	for (i = 1; i <= columns; i++) {
		k = kind(i)
		printf "| %s | %s | %s | %d ", cell_text(title[i]), k, share(filled[i], rows), distinct[i]
		if (k == "number") {
			printf "| %s | %s | %s | %s |\n", show(least[i], i), show(most_of[i], i), sprintf("%.2f", total[i] / numbers[i]), show(total[i], i)
			for (j = 1; j <= texts[i] && j <= 5; j++) note("line " odd_line[i, j] ": `" title[i] "` is \"" odd[i, j] "\", not a number")
		} else if (k == "date") printf "| %s | %s | - | - |\n", cell_text(first[i]), cell_text(last[i])
		else print "| - | - | - | - |"
		if (filled[i] < rows) note("`" title[i] "` is empty in " count(rows - filled[i], "row") " (" share(rows - filled[i], rows) ")")
	}
	print ""
}

# before orders groups: biggest first sum (or most rows) first, then by key; months and years in time order.
function before(g, a, b,   x, y) {
	if (period[g] != "") return (a "") < (b "")
	x = sums ? group_sum[g, a, 1] + 0 : group_rows[g, a]
	y = sums ? group_sum[g, b, 1] + 0 : group_rows[g, b]
	return x != y ? x > y : (a "") < (b "")
}

function print_group(g,   i, j, n, key, heading, rest) {
	n = group_count[g]
	for (i = 2; i <= n; i++) {
		key = group_key[g, i]
		for (j = i - 1; j >= 1 && before(g, key, group_key[g, j]); j--) group_key[g, j + 1] = group_key[g, j]
		group_key[g, j + 1] = key
	}
	heading = title[by_column[g]] (period[g] == "" ? "" : ", each " period[g])
	print "## By " heading "\n"
	printf "| %s | rows | share of rows ", cell_text(title[by_column[g]])
	for (i = 1; i <= sums; i++) printf "| %s | share ", cell_text(title[sum_column[i]])
	printf "|\n|---|---:|---:"
	for (i = 1; i <= sums; i++) printf "|---:|---:"
	print "|"
	rest = (period[g] == "" && n > top) ? top : n
	for (i = 1; i <= rest; i++) group_line(g, group_key[g, i], group_key[g, i])
	for (i = rest + 1; i <= n; i++) {
		group_rows[g, "\034rest"] += group_rows[g, group_key[g, i]]
		for (j = 1; j <= sums; j++) group_sum[g, "\034rest", j] += group_sum[g, group_key[g, i], j]
	}
	if (n > rest) group_line(g, "\034rest", "(" n - rest " more)")
	print ""
}

function group_line(g, key, label,   i) {
	printf "| %s | %d | %s ", cell_text(label), group_rows[g, key], share(group_rows[g, key], rows)
	for (i = 1; i <= sums; i++)
		printf "| %s | %s ", show(group_sum[g, key, i], sum_column[i]), share(group_sum[g, key, i], total[sum_column[i]])
	print "|"
}

# print_frequent lists the common values of the columns that repeat themselves.
function print_frequent(   i, k, v, n, best, pair, shown) {
	for (i = 1; i <= columns; i++) {
		if (kind(i) != "text" || distinct[i] > filled[i] / 2 || distinct[i] > 50) continue
		if (!shown++) print "## Most frequent values\n"
		print "| " cell_text(title[i]) " | rows | share |\n|---|---:|---:|"
		split("", done)
		for (n = 1; n <= top && n <= distinct[i]; n++) {
			best = ""
			for (k in seen_value) {
				split(k, pair, SUBSEP)
				if (pair[1] != i) continue
				v = substr(k, length(pair[1]) + 2)
				if (!(v in done) && (best == "" || seen_value[k] > seen_value[i, best] || (seen_value[k] == seen_value[i, best] && v < best))) best = v
			}
			done[best] = 1
			printf "| %s | %d | %s |\n", cell_text(best), seen_value[i, best], share(seen_value[i, best], rows)
		}
		print ""
	}
}

function note(s) { notes[++noted] = s }

function print_notes(   i) {
	print "## Things to look at\n"
	for (i = 1; i <= noted && i <= 40; i++) print "- " cell_text(notes[i])
	if (noted > 40) print "- and " noted - 40 " more of this kind"
	if (!noted) print "Nothing: every row has all its fields, no row comes twice, no number column holds text."
}
