package cli

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// tableRows is how many rows are held back to find the widths of the columns.
const tableRows = 500

// readable is the width to which a wide column may be cut.
const readable = 24

// legible is the width to which the third column may be cut before it is left out: of a hit that is the name.
const legible = 5

// table lays records out in columns. A new record type begins a new table.
type table struct {
	columns []string
	rows    [][]string
	any     bool
}

func (t *table) add(p *Printer, rec wire.Record) error {
	columns := rec.Columns()
	if !slices.Equal(columns, t.columns) || len(t.rows) >= tableRows {
		if err := t.flush(p); err != nil {
			return err
		}
		t.columns = columns
	}
	cells := rec.Cells()
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	t.rows = append(t.rows, cells)
	return nil
}

// flush writes the rows that were held back, with their headings.
func (t *table) flush(p *Printer) error {
	if len(t.rows) == 0 {
		return nil
	}
	widths := t.widths(p.width)
	var b strings.Builder
	if t.any {
		b.WriteByte('\n')
	}
	t.any = true
	heading := row(t.columns, widths)
	if p.colour {
		heading = "\x1b[1m" + heading + "\x1b[0m"
	}
	b.WriteString(heading + "\n")
	for _, cells := range t.rows {
		b.WriteString(row(cells, widths) + "\n")
	}
	t.rows = nil
	_, err := p.out.WriteString(b.String())
	return err
}

// widths returns the columns' widths. Columns without any text, and on a narrow terminal those on the right
// that find no place, get -1 and are left out, but the third only when not even its beginning fits; of the others
// the widest are cut until all fit.
func (t *table) widths(terminal int) []int {
	widths := make([]int, len(t.columns))
	for i := range widths {
		widths[i] = t.natural(i)
	}
	if terminal <= 0 {
		return widths
	}
	total, least, kept := -gap, -gap, 0
	for i, w := range widths {
		if w < 0 {
			continue
		}
		if least += min(w, readable) + gap; least > terminal && kept >= 2 {
			if room := terminal - total - gap; kept == 2 && room >= legible {
				widths[i] = min(w, room)
				total += widths[i] + gap
				i++
			}
			for j := range widths[i:] {
				widths[i+j] = -1
			}
			break
		}
		widths[i] = min(w, terminal)
		total += widths[i] + gap
		kept++
	}
	for ; total > terminal && slices.Max(widths) > 1; total-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return widths
}

// gap is the space between columns.
const gap = 2

// natural returns the width of a column's widest cell, -1 when all are empty.
func (t *table) natural(column int) int {
	width := -1
	for _, cells := range t.rows {
		if w := textWidth(cells[column]); w > 0 {
			width = max(width, w, textWidth(t.columns[column]))
		}
	}
	return width
}

// row puts cells side by side. The last one is not filled up.
func row(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell = condition().Truncate(cell, widths[i], "…")
		b.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-textWidth(cell))))
	}
	return strings.TrimRight(b.String(), " ")
}

// condition fixes the widths of ambiguous characters, so that they do not depend on the locale.
func condition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

func textWidth(s string) int { return condition().StringWidth(s) }

// oneLine makes text from elsewhere fit for one cell or one message: white space that breaks lines or
// columns becomes one blank, anything that a terminal would obey becomes visible.
func oneLine(s string) string {
	clean := true
	for _, r := range s {
		if unsafeRune(r) || r == '\n' || r == '\t' {
			clean = false
			break
		}
	}
	if clean {
		return strings.TrimRight(s, " ")
	}
	breaks := func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r == '\v' || r == '\f' }
	var parts []string
	for _, part := range strings.FieldsFunc(s, breaks) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return printable(strings.Join(parts, " "))
}

// Printable returns text from elsewhere as a terminal may get it: what it would obey is made visible, lines and tabs stay.
func Printable(s string) string { return printable(s) }

// OneLine is Printable on one line.
func OneLine(s string) string { return oneLine(s) }

// printable makes what a terminal would obey visible and keeps lines and tabs.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !unsafeRune(r):
			return r
		case r < 0x20:
			return 0x2400 + r // control pictures, such as ␛
		case r == 0x7f:
			return 0x2421
		}
		return unicode.ReplacementChar
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// unsafeRune reports control characters, among them the one-character escapes from U+0080, and characters
// that change the direction of text or cannot be seen.
func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	case r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0x200b:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return r == unicode.ReplacementChar
}
