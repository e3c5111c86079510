package patch

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Levels at which two lines count as equal, from strict to loose.
const (
	exact       = iota
	trailing    // without blanks at the end
	indentation // without blanks at both ends
	characters  // and with typographic characters as plain ones
	blanks      // and with each run of blanks as one
	levels
)

// loosely says for a note what a level does not look at.
var loosely = [levels]string{
	trailing:    "blanks at line ends",
	indentation: "indentation",
	characters:  "typographic characters",
	blanks:      "the number of blanks",
}

// normal returns what a line is compared by at a level.
func normal(level int, s string) string {
	switch level {
	case exact:
		return s
	case trailing:
		return strings.TrimRight(s, " \t\r")
	case indentation:
		return strings.TrimSpace(s)
	case characters:
		return strings.TrimSpace(plain(s))
	}
	return strings.Join(strings.Fields(plain(s)), " ")
}

// plain writes typographic characters as those of a keyboard, in NFC.
func plain(s string) string {
	if isASCII(s) {
		return s
	}
	return plainly.Replace(norm.NFC.String(s))
}

var plainly = strings.NewReplacer(
	"‘", "'", "’", "'", "‚", "'", "‛", "'",
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"…", "...", "\u00a0", " ", "\u2007", " ", "\u202f", " ", "\u200b", "", "\ufeff", "",
)

// intern returns the number that stands for a line at a level.
func (d *document) intern(level int, s string) int32 {
	s = normal(level, s)
	n, ok := d.known[level][s]
	if !ok {
		n = int32(len(d.known[level]))
		d.known[level][s] = n
	}
	return n
}

// prepare makes the keys of a level.
func (d *document) prepare(level int) {
	if d.known[level] != nil {
		return
	}
	*d.work += 8 * len(d.lines)
	d.known[level] = make(map[string]int32, len(d.lines))
	d.keys[level] = make([]int32, len(d.lines))
	for i, l := range d.lines {
		d.keys[level][i] = d.intern(level, l.text)
	}
}

// want returns the keys of lines, or false when one of them is nowhere in the
// file.
func (d *document) want(level int, lines []string) ([]int32, bool) {
	d.prepare(level)
	keys := make([]int32, len(lines))
	for i, l := range lines {
		n, ok := d.known[level][normal(level, l)]
		if !ok {
			return nil, false
		}
		keys[i] = n
	}
	return keys, true
}

// find returns where lines stand in the file, between from and to, at a level.
// With skipFresh, places with lines that the edit brought do not count. The
// search is that of Knuth, Morris and Pratt: linear whatever the lines are.
func (d *document) find(level int, lines []string, from, to int, skipFresh bool) []int {
	want, ok := d.want(level, lines)
	if !ok || len(want) == 0 || len(want) > to-from {
		return nil
	}
	*d.work += to - from
	var found []int
	fail := failure(want)
	k, stale := 0, 0 // stale counts the lines since the last fresh one
	for i := from; i < to; i++ {
		stale++
		if d.lines[i].fresh {
			stale = 0
		}
		key := d.keys[level][i]
		for k > 0 && want[k] != key {
			k = fail[k-1]
		}
		if want[k] == key {
			k++
		}
		if k == len(want) {
			if !skipFresh || stale >= len(want) {
				found = append(found, i-k+1)
			}
			k = fail[k-1]
		}
	}
	return found
}

// failure is the table of the search: for each prefix the longest proper
// prefix that is also its suffix.
func failure(want []int32) []int {
	fail := make([]int, len(want))
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[k] != want[i] {
			k = fail[k-1]
		}
		if want[k] == want[i] {
			k++
		}
		fail[i] = k
	}
	return fail
}
