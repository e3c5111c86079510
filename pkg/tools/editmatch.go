package tools

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// change is a piece of a text, in bytes, and what comes in its place.
type change struct {
	from, to int
	text     string
}

// matched is where the old text of an edit was found.
type matched struct {
	changes []change
	found   []int  // where each begins, before what stays the same was taken off
	how     string // what was different; empty when nothing was
}

// The problems of an edit that match names itself.
const (
	notFound = "is not in the file"
	isEmpty  = "is empty: give some text that is in the file, or use write_file"
)

// maxLoose is the size of a text in which old text is looked for that is not there as given.
const maxLoose = 2 << 20

// match looks for the old text of an edit: as given, then with other line ends, with other quotes and dashes, then line
// by line with other blanks at the ends, another indentation and other blanks within. The first way that finds it
// counts. Lines that an edit leaves as they are keep every byte, and new lines get the line ends of the file.
func match(body string, edit oneEdit) (matched, string) {
	if strings.TrimSpace(edit.Old) == "" && !strings.Contains(body, edit.Old) || edit.Old == "" {
		return matched{}, isEmpty
	}
	if at := indexes(body, edit.Old); len(at) > 0 {
		return exact(body, edit, at), ""
	}
	if len(body) > maxLoose || strings.TrimSpace(edit.Old) == "" {
		return matched{}, notFound
	}
	if m := looseMatch(body, edit); len(m.changes) > 0 {
		return m, ""
	}
	if plain, ok := withoutNumbers(edit); ok {
		if m, problem := match(body, plain); problem == "" {
			m.how = "it had line numbers"
			return m, ""
		}
	}
	return matched{}, notFound
}

// looseMatch tries the ways that are not exact.
func looseMatch(body string, edit oneEdit) matched {
	edit.Old, edit.New = unixLines(edit.Old), unixLines(edit.New)
	for _, f := range []fold{{nil, "the line ends differ"}, {plainRune, "quotes, dashes or blanks are other characters in the file"}} {
		if m := f.match(body, edit); len(m.changes) > 0 {
			return m
		}
	}
	for _, w := range ways {
		if m := w.match(body, edit); len(m.changes) > 0 {
			return m
		}
	}
	return matched{}
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// indexes returns where a text begins in another one, without overlaps.
func indexes(body, text string) (all []int) {
	for from := 0; ; {
		at := strings.Index(body[from:], text)
		if at < 0 {
			return all
		}
		all = append(all, from+at)
		from += at + len(text)
	}
}

// exact replaces text that stands in the body as given.
func exact(body string, edit oneEdit, at []int) matched {
	m := matched{found: at}
	for _, from := range at {
		to := from + len(edit.Old)
		m.changes = append(m.changes, change{from, to, withEnds(unixLines(edit.New), lineEnd(body, from))})
	}
	return m
}

// lineEnd returns how the lines around a place end: the line of the place, else the one before it.
func lineEnd(body string, at int) string {
	end := strings.IndexByte(body[at:], '\n')
	if end < 0 {
		end, at = strings.LastIndexByte(body[:at], '\n'), 0
	}
	if end > 0 && body[at+end-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withEnds gives a text the line ends of a file.
func withEnds(text, end string) string {
	if end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", end)
}

// fold is a way to look at a text in which some characters are the same. It is from one character to one, but for the
// end of a line, which is one whatever it is.
type fold struct {
	char func(r rune) rune // nil: none but line ends
	how  string
}

// plainRune writes the signs of typesetters as those of a keyboard.
func plainRune(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	case '\u00A0', '\u2002', '\u2003', '\u2007', '\u2009', '\u200A', '\u202F', '\u3000':
		return ' '
	}
	return r
}

// apply folds a text and tells for each byte of the result where it comes from.
func (f fold) apply(text string) (string, []int32) {
	var b strings.Builder
	at := make([]int32, 0, len(text)+1)
	for i, r := range text {
		if r == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			continue
		}
		before := b.Len()
		if n := utf8.RuneLen(r); r == utf8.RuneError || n < 0 || f.char == nil {
			_, width := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+width])
		} else {
			b.WriteRune(f.char(r))
		}
		from := i
		if r == '\n' && i > 0 && text[i-1] == '\r' {
			from = i - 1
		}
		for range b.Len() - before {
			at = append(at, int32(from))
		}
	}
	return b.String(), append(at, int32(len(text)))
}

// match finds the old text in the folded body. What the new text has in common with the old one at its beginning and
// its end stays as it is in the body.
func (f fold) match(body string, edit oneEdit) matched {
	folded, at := f.apply(body)
	old, oldAt := f.apply(edit.Old)
	m := matched{how: f.how}
	head, tail := common(edit.Old, edit.New)
	// Where the old text's common ends are in its folded form.
	from := slices.Index(oldAt, int32(head))
	to := slices.Index(oldAt, int32(len(edit.Old)-tail))
	for _, i := range indexes(folded, old) {
		m.found = append(m.found, int(at[i]))
		a := int(at[i+from])
		b := max(a, int(at[i+to]))
		text := edit.New[head : len(edit.New)-tail]
		m.changes = append(m.changes, change{a, b, withEnds(text, lineEnd(body, int(at[i])))})
	}
	return m
}

// common returns how many bytes two texts have in common at their beginnings and at their ends: whole characters, and
// never the same ones twice.
func common(a, b string) (head, tail int) {
	for head < len(a) && head < len(b) {
		r, n := utf8.DecodeRuneInString(a[head:])
		s, k := utf8.DecodeRuneInString(b[head:])
		if r != s || n != k || a[head] != b[head] {
			break
		}
		head += n
	}
	for tail < len(a)-head && tail < len(b)-head {
		r, n := utf8.DecodeLastRuneInString(a[head : len(a)-tail])
		s, k := utf8.DecodeLastRuneInString(b[head : len(b)-tail])
		if r != s || n != k || a[len(a)-tail-1] != b[len(b)-tail-1] {
			break
		}
		tail += n
	}
	return head, tail
}

// numberedLine is a line as read_file shows it on request.
var numberedLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[0-9]+\t`) })

// withoutNumbers takes off line numbers when every line has one.
func withoutNumbers(edit oneEdit) (oneEdit, bool) {
	old, ok := stripNumbers(edit.Old, true)
	if !ok {
		return edit, false
	}
	edit.New, _ = stripNumbers(edit.New, false)
	edit.Old = old
	return edit, true
}

func stripNumbers(text string, all bool) (string, bool) {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		number := numberedLine().FindString(row)
		if number == "" && strings.TrimSpace(row) != "" && all {
			return text, false
		}
		rows[i] = row[len(number):]
	}
	return strings.Join(rows, "\n"), true
}
