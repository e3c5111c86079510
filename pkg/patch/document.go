package patch

import (
	"cmp"
	"slices"
	"strings"
)

// mark is the byte-order mark of UTF-8.
const mark = "\uFEFF"

// line is one line of a file: its text, and LF, CRLF or (only the last one of
// a file) nothing as its end. Fresh lines came by the edit.
type line struct {
	text, end string
	fresh     bool
}

// document is the running text of a file under change.
type document struct {
	marked bool // the file starts with a byte-order mark
	lines  []line
	keys   [levels][]int32 // of each line, made when a level is first asked for
	known  [levels]map[string]int32
	work   *int // lines looked at, over the whole edit
}

// newDocument splits a file into lines.
func newDocument(content string, work *int) *document {
	d := &document{work: work}
	content, d.marked = strings.CutPrefix(content, mark)
	d.lines = make([]line, 0, strings.Count(content, "\n")+1)
	for content != "" {
		text, rest, found := strings.Cut(content, "\n")
		l := line{text: text}
		if found {
			l.end = "\n"
			if bare, ok := strings.CutSuffix(text, "\r"); ok {
				l.text, l.end = bare, "\r\n"
			}
		}
		d.lines, content = append(d.lines, l), rest
	}
	return d
}

func (d *document) String() string {
	var b strings.Builder
	if d.marked {
		b.WriteString(mark)
	}
	for _, l := range d.lines {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// splice puts lines in the place of those from i to j.
func (d *document) splice(i, j int, with []line) {
	for level, keys := range d.keys {
		if keys == nil {
			continue
		}
		fresh := make([]int32, len(with))
		for k, l := range with {
			fresh[k] = d.intern(level, l.text)
		}
		d.keys[level] = slices.Replace(keys, i, j, fresh...)
	}
	d.lines = slices.Replace(d.lines, i, j, with...)
}

// ending returns the line end that a new line at a place takes: that of the
// line before it, else of the one behind it.
func (d *document) ending(at int) string {
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(d.lines) && d.lines[i].end != "" {
			return d.lines[i].end
		}
	}
	return "\n"
}

// replace puts new lines in the place of those from i to j. kept[k] is the
// index of the line of the file that new line k keeps, or -1. How the file
// ends stays, unless the hunk says it itself.
func (d *document) replace(i, j int, text []string, kept []int, h *hunk) {
	with := make([]line, len(text))
	end := d.ending(i)
	for k, t := range text {
		switch {
		case kept[k] >= 0:
			with[k] = d.lines[kept[k]]
		case len(text) == j-i: // line for line
			with[k] = line{text: t, end: d.lines[i+k].end, fresh: true}
		default:
			with[k] = line{text: t, fresh: true}
		}
		with[k].end = cmp.Or(with[k].end, end)
	}
	if n := len(with); n > 0 && j == len(d.lines) && (h.newBare || !h.oldBare && d.staysOpen(i, j, kept)) {
		with[n-1].end = ""
	}
	if i == j && i > 0 && len(with) > 0 {
		d.lines[i-1].end = cmp.Or(d.lines[i-1].end, end)
	}
	d.splice(i, j, with)
}

// staysOpen tells whether the file has no newline at its end after the lines
// from i to its end j were replaced: it had none, and its last line stays last
// or was itself replaced.
func (d *document) staysOpen(i, j int, kept []int) bool {
	if i == j || d.lines[j-1].end != "" {
		return false
	}
	last := kept[len(kept)-1]
	return last == j-1 || last < 0 && !slices.Contains(kept, j-1)
}
