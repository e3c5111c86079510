package tools

import (
	"slices"
	"strings"
)

// way is a way to compare lines that ignores some blanks.
type way struct {
	key    func(text string) string
	indent bool // the indentation may differ, by the same for all lines
	how    string
}

// ways are tried in order.
var ways = []way{
	{func(text string) string { return strings.TrimRight(text, " \t") }, false, "blanks at the ends of lines differ"},
	{strings.TrimSpace, true, "the indentation differs"},
	{func(text string) string { return strings.Join(strings.Fields(text), " ") }, true, "blanks within lines differ"},
}

// row is a line of a text with where it is.
type row struct {
	from, to int    // with its end
	text     string // without
}

// rows cuts a text into lines.
func rows(text string) (all []row) {
	for from := 0; from < len(text); {
		to := len(text)
		if end := strings.IndexByte(text[from:], '\n'); end >= 0 {
			to = from + end + 1
		}
		all = append(all, row{from, to, strings.TrimSuffix(strings.TrimSuffix(text[from:to], "\n"), "\r")})
		from = to
	}
	return all
}

// match finds whole lines. Those that the old and the new text have in common at the beginning and at the end stay as
// they are.
func (w way) match(body string, edit oneEdit) matched {
	old, fresh := withoutBlankEnds(edit.Old, edit.New)
	all := rows(body)
	keys := make([]string, len(all))
	for i, r := range all {
		keys[i] = w.of(r.text)
	}
	wanted := make([]string, len(old))
	for i, o := range old {
		wanted[i] = w.of(o)
	}
	m := matched{how: w.how}
	for i := 0; i+len(old) <= len(all); i++ {
		if !slices.Equal(keys[i:i+len(old)], wanted) {
			continue
		}
		m.found = append(m.found, all[i].from)
		if c, ok := w.window(body, all[i:i+len(old)], old, fresh); ok {
			m.changes = append(m.changes, c)
		}
		i += len(old) - 1
	}
	if len(m.changes) < len(m.found) && edit.All {
		return matched{} // some places cannot be changed
	}
	return m
}

// of returns the form of a line that is compared.
func (w way) of(text string) string { return w.key(strings.Map(plainRune, text)) }

// window says what is to be changed in lines of the body that are the old ones. It is false when their indentation has
// nothing to do with that of the old ones.
func (w way) window(body string, here []row, old, fresh []string) (change, bool) {
	move := indentation{}
	if w.indent {
		var ok bool
		if move, ok = indentationOf(here, old); !ok {
			return change{}, false
		}
	}
	head, tail := commonLines(old, fresh)
	end := lineEnd(body, here[0].from)
	var b strings.Builder
	for _, l := range fresh[head : len(fresh)-tail] {
		moved, ok := move.apply(l)
		if !ok {
			return change{}, false
		}
		b.WriteString(moved + end)
	}
	return fitEnds(body, bounds(here, head, tail), b.String(), end), true
}

// bounds returns the lines between those that stay.
func bounds(here []row, head, tail int) place {
	to := here[len(here)-1].to
	if tail > 0 {
		to = here[len(here)-tail].from
	}
	from := to
	if head < len(here) {
		from = here[head].from
	}
	return place{from, to}
}

// fitEnds sees to it that a file whose last line has no end has none afterwards.
func fitEnds(body string, p place, text, end string) change {
	open := p.to == len(body) && !strings.HasSuffix(body, "\n")
	switch {
	case open && p.from == p.to && text != "": // behind the last line
		text = end + strings.TrimSuffix(text, end)
	case open:
		text = strings.TrimSuffix(text, end)
	}
	return change{p.from, p.to, text}
}

// withoutBlankEnds returns the lines of the old and the new text without the blank ones with which the old text begins
// and ends, as far as the new one has them too.
func withoutBlankEnds(old, fresh string) ([]string, []string) {
	a, b := textLines(old), textLines(fresh)
	for len(a) > 1 && strings.TrimSpace(a[0]) == "" {
		a = a[1:]
		if len(b) > 0 && strings.TrimSpace(b[0]) == "" {
			b = b[1:]
		}
	}
	for len(a) > 1 && strings.TrimSpace(a[len(a)-1]) == "" {
		a = a[:len(a)-1]
		if len(b) > 0 && strings.TrimSpace(b[len(b)-1]) == "" {
			b = b[:len(b)-1]
		}
	}
	return a, b
}

// textLines cuts a text into lines; an empty one has none.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// commonLines returns how many lines are the same at the beginnings and at the ends.
func commonLines(a, b []string) (head, tail int) {
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// indentation is how the lines of a file are indented other than those that a model sent.
type indentation struct {
	add, strip string // at the beginning of each line
	tabs       int    // this many blanks are a tab in the file; negative: a tab is this many blanks
}

// indentationOf finds the one difference that explains all lines; false when there is none.
func indentationOf(here []row, old []string) (indentation, bool) {
	var move indentation
	known := false
	for i, o := range old {
		have, sent := blanks(here[i].text), blanks(o)
		if strings.TrimSpace(o) == "" || have == "" && sent == "" && !known {
			continue
		}
		if !known {
			move, known = difference(have, sent), true
		}
	}
	for i, o := range old {
		if strings.TrimSpace(o) == "" {
			continue
		}
		if moved, ok := move.apply(blanks(o) + "x"); !ok || moved != blanks(here[i].text)+"x" {
			return move, false
		}
	}
	return move, true
}

// difference explains one line.
func difference(have, sent string) indentation {
	if add, ok := strings.CutSuffix(have, sent); ok {
		return indentation{add: add}
	}
	if strip, ok := strings.CutSuffix(sent, have); ok {
		return indentation{strip: strip}
	}
	tabs, spaces := strings.Count(have, "\t"), strings.Count(sent, " ")
	if tabs == len(have) && spaces == len(sent) && tabs > 0 && spaces%tabs == 0 {
		return indentation{tabs: spaces / tabs}
	}
	tabs, spaces = strings.Count(sent, "\t"), strings.Count(have, " ")
	if tabs == len(sent) && spaces == len(have) && tabs > 0 && spaces%tabs == 0 {
		return indentation{tabs: -spaces / tabs}
	}
	return indentation{}
}

// apply indents a line as the file does. It is false when that cannot be told.
func (m indentation) apply(text string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		return "", true
	}
	in := blanks(text)
	rest := text[len(in):]
	switch {
	case m.tabs > 0:
		if strings.Trim(in, " ") != "" || len(in)%m.tabs != 0 {
			return "", false
		}
		return strings.Repeat("\t", len(in)/m.tabs) + rest, true
	case m.tabs < 0:
		if strings.Trim(in, "\t") != "" {
			return "", false
		}
		return strings.Repeat(" ", len(in)*-m.tabs) + rest, true
	case m.strip != "":
		in, ok := strings.CutPrefix(in, m.strip)
		return in + rest, ok
	}
	return m.add + text, true
}

// blanks returns the blanks that a line begins with.
func blanks(text string) string { return text[:len(text)-len(strings.TrimLeft(text, " \t"))] }
