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

// minColumn is the width below which a column is not cut.
const minColumn = 8

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

// widths returns the columns' widths; when they are too wide together for the terminal the widest ones
// are cut. Columns without any text get width -1 and are left out.
func (t *table) widths(terminal int) []int {
	widths := make([]int, len(t.columns))
	for i := range widths {
		widths[i] = -1
		for _, cells := range t.rows {
			if w := textWidth(cells[i]); w > 0 {
				widths[i] = max(widths[i], w, textWidth(t.columns[i]))
			}
		}
	}
	if terminal <= 0 {
		return widths
	}
	total := -2
	for i, w := range widths {
		if w >= 0 {
			widths[i] = min(w, terminal)
			total += widths[i] + 2
		}
	}
	for ; total > terminal; total-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minColumn {
			break
		}
		widths[widest]--
	}
	return widths
}

// row puts cells side by side. The last one is not filled up.
func row(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
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
