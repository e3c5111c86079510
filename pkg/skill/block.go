package skill

import "bytes"

const bom = "\xef\xbb\xbf"

func hasBOM(data []byte) bool { return bytes.HasPrefix(data, []byte(bom)) }

// line is one line of a text: its content is [start,end), the line break
// (LF, CRLF or CR) is [end,next). A last line without a break has end == next.
type line struct{ start, end, next int }

func nextLine(data []byte, off int) line {
	for i := off; i < len(data); i++ {
		switch data[i] {
		case '\n':
			return line{off, i, i + 1}
		case '\r':
			if i+1 < len(data) && data[i+1] == '\n' {
				return line{off, i, i + 2}
			}
			return line{off, i, i + 1}
		}
	}
	return line{off, len(data), len(data)}
}

func (l line) text(data []byte) []byte { return data[l.start:l.end] }

// block says where the frontmatter is in a text. The fences may be missing
// (a damaged block): then open or close is empty and stands where it belongs.
type block struct {
	found     bool
	bom       bool
	start     int    // first byte after the byte-order mark
	open      line   // line of the opening fence
	lines     []line // the lines between the fences
	close     line   // line of the closing fence
	firstLine int    // 1-based number of lines[0]
	body      int    // where the body starts
	bodyLine  int
	problems  []Diagnostic
}

// locate finds the frontmatter. Tolerated, each with a problem: a byte-order
// mark, blank lines and HTML comments before the first fence, blanks after a
// fence, other closing fences (... or more than three hyphens, or indented), a
// missing closing fence, and a missing opening fence before name or description.
func locate(data []byte) *block {
	b := &block{bodyLine: 1}
	if hasBOM(data) {
		b.bom, b.start, b.body = true, len(bom), len(bom)
		b.problem("bom", 1, "the file starts with a byte-order mark, which hides the skill from many hosts", "save it as UTF-8 without a byte-order mark", true)
	}
	first, num := skipPrologue(data, b.start)
	text := first.text(data)
	switch {
	case isFence(text):
		if first.start > b.start {
			b.problem("text-before-frontmatter", num, "the frontmatter does not start on the first line, so many hosts do not see it", "remove what stands before the first ---", len(bytes.TrimSpace(data[b.start:first.start])) == 0)
		}
		if len(text) > 3 {
			b.problem("fence-blanks", num, "there are blanks after the opening ---", "remove them", true)
		}
		b.open, b.firstLine = first, num+1
		b.fenced(data)
	case startsBare(text):
		b.open, b.firstLine = line{first.start, first.start, first.start}, num
		b.unfenced(data)
	}
	if !b.found {
		b.body, b.bodyLine, b.lines = b.start, 1, nil
		b.open, b.close = line{b.start, b.start, b.start}, line{b.start, b.start, b.start}
		b.problems = b.problems[:btoi(b.bom)]
		b.problem("frontmatter-missing", 1, "there is no frontmatter", "start the file with ---, name and description, and --- again", true)
	}
	return b
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (b *block) problem(code string, num int, msg, hint string, fixable bool) {
	b.problems = append(b.problems, Diagnostic{Code: code, Severity: Warning, Line: num, Message: msg, Hint: hint, Fixable: fixable})
}

// skipPrologue returns the first line that is neither blank nor part of an HTML
// comment, and its number.
func skipPrologue(data []byte, off int) (line, int) {
	num, comment := 1, false
	for {
		l := nextLine(data, off)
		text := bytes.TrimSpace(l.text(data))
		if bytes.HasPrefix(text, []byte("<!--")) {
			comment = true
		}
		if !comment && len(text) > 0 || l.next == l.end {
			return l, num
		}
		if comment && bytes.HasSuffix(text, []byte("-->")) {
			comment = false
		}
		off = l.next
		num++
	}
}

// fenced reads on after an opening fence.
func (b *block) fenced(data []byte) {
	if b.closing(data, isClosing) || b.closing(data, isIndentedFence) {
		b.found = true
		return
	}
	b.lines = b.lines[:0]
	b.unclosed(data)
}

// closing looks for the first line that ends the block.
func (b *block) closing(data []byte, ends func([]byte) bool) bool {
	b.lines = b.lines[:0]
	num := b.firstLine
	for off := b.open.next; off < len(data); num++ {
		l := nextLine(data, off)
		if ends(l.text(data)) {
			b.close, b.body, b.bodyLine = l, l.next, num+1
			b.closingForm(l.text(data), num)
			return true
		}
		b.lines = append(b.lines, l)
		off = l.next
	}
	return false
}

func (b *block) closingForm(text []byte, num int) {
	switch form := trimRight(text); {
	case string(form) != "---":
		b.problem("fence-form", num, "the frontmatter is closed by "+string(bytes.TrimSpace(text))+", not by --- alone at the start of a line", "close it with ---", true)
	case len(text) > 3:
		b.problem("fence-blanks", num, "there are blanks after the closing ---", "remove them", true)
	}
}

// unclosed takes as many lines as look like YAML after an opening fence that is
// never closed. With none of them the fence was a rule of the body.
func (b *block) unclosed(data []byte) {
	b.extend(data, b.open.next)
	if b.found {
		b.problem("frontmatter-unclosed", b.firstLine-1, "the frontmatter is not closed", "add a line --- after its last field", true)
	}
}

// unfenced takes the fields at the top of a file without an opening fence.
func (b *block) unfenced(data []byte) {
	b.extend(data, b.open.next)
	if !b.found {
		return
	}
	if l := nextLine(data, b.body); l.end > l.start && isClosing(l.text(data)) {
		b.close, b.body, b.bodyLine = l, l.next, b.bodyLine+1
	}
	b.problem("frontmatter-unfenced", b.firstLine, "the fields at the top of the file are not between --- lines", "put a line --- before them and one after them", true)
}

// extend reads lines from off for as long as they look like YAML.
func (b *block) extend(data []byte, off int) {
	e := extent{data: data}
	lines := b.lines
	for off < len(data) && !e.done {
		l := nextLine(data, off)
		lines = append(lines, l)
		e.add(l.text(data))
		off = l.next
	}
	b.cut(lines, e.n)
}

// cut makes lines[:n] the block and ends it there, without a closing fence.
func (b *block) cut(lines []line, n int) {
	b.lines = lines[:n]
	b.found = n > 0
	if !b.found {
		return
	}
	end := lines[n-1].next
	b.close, b.body, b.bodyLine = line{end, end, end}, end, b.firstLine+n
}

// reconsider is asked when the YAML of a closed block is broken. When there is
// prose after a blank line, the block was never closed and its end is a rule
// further down in the body: then the block is cut before the prose.
func (b *block) reconsider(data []byte) bool {
	e := extent{data: data}
	for _, l := range b.lines {
		if e.add(l.text(data)); e.done {
			break
		}
	}
	if !e.done || !e.blankBeforeEnd || e.n == 0 {
		return false
	}
	for i, p := range b.problems {
		if p.Line >= b.firstLine && (p.Code == "fence-form" || p.Code == "fence-blanks") {
			b.problems = append(b.problems[:i], b.problems[i+1:]...)
			break
		}
	}
	b.cut(b.lines, e.n)
	b.problem("frontmatter-unclosed", b.firstLine-1, "the frontmatter is not closed before the text starts", "add a line --- after its last field", true)
	return true
}

// extent decides line by line how far a block without a closing fence reaches.
type extent struct {
	data           []byte
	seen           int  // lines seen
	n              int  // lines that belong to the block
	base           int  // indentation of the first field
	blank          bool // a blank line since the last field
	done           bool // a line was met that cannot belong
	blankBeforeEnd bool
}

func (e *extent) add(text []byte) {
	e.seen++
	indent := indentOf(text)
	text = trimRight(text[indent:])
	switch {
	case len(text) == 0:
		e.blank = true
	case e.n == 0 && text[0] == '#':
	case e.n == 0:
		if _, _, ok := splitKey(text); !ok {
			e.done = true
			return
		}
		e.base, e.n, e.blank = indent, e.seen, false
	case indent > e.base, isItem(text) && !e.blank, bytes.IndexByte([]byte(`{}[]"'`), text[0]) >= 0 && !e.blank:
		e.n, e.blank = e.seen, false
	case text[0] == '#':
	default:
		e.atBase(text)
	}
}

// atBase judges a line at the fields' own indentation. After a blank line only
// a well-known key goes on: anything else may be a sentence with a colon.
func (e *extent) atBase(text []byte) {
	key, _, ok := splitKey(text)
	if ok && (!e.blank || wellKnown(key)) {
		e.n, e.blank = e.seen, false
		return
	}
	e.done, e.blankBeforeEnd = true, e.blank
}

// isFence tells an opening fence: three hyphens at the start of the line.
func isFence(text []byte) bool { return string(trimRight(text)) == "---" }

// isClosing tells a closing fence: three or more hyphens, or three dots.
func isClosing(text []byte) bool {
	text = trimRight(text)
	if string(text) == "..." {
		return true
	}
	return len(text) >= 3 && len(bytes.Trim(text, "-")) == 0
}

func isIndentedFence(text []byte) bool { return string(bytes.TrimSpace(text)) == "---" }

// startsBare tells a first line that begins a block without an opening fence.
func startsBare(text []byte) bool {
	key, _, ok := splitKey(trimRight(text))
	return ok && (key == "name" || key == "description")
}

// isItem tells a line that starts an item of a list.
func isItem(text []byte) bool {
	return text[0] == '-' && (len(text) == 1 || text[1] == ' ' || text[1] == '\t')
}

func trimRight(text []byte) []byte { return bytes.TrimRight(text, " \t") }

func indentOf(text []byte) int {
	for i, c := range text {
		if c != ' ' && c != '\t' {
			return i
		}
	}
	return len(text)
}
