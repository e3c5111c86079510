package patch

import "strings"

// mostAligned bounds the comparison of old and new lines of one hunk.
const mostAligned = 1 << 16

// fit lets a hunk keep the lines of the file that stay, and gives the new ones
// the indentation of the file.
func (p *placer) fit(h hunk, start, level int) (place, *Error) {
	at := place{start: start, size: len(h.old), level: level, old: h.old, new: h.new}
	at.kept = align(h.old, h.new)
	*p.work += len(h.old) * min(len(h.new), mostAligned/len(h.old)) / 8
	if level >= indentation {
		fresh, ok := p.reindent(at)
		if !ok {
			return at, &Error{
				Kind: NotFound, Message: "the text to change is there only with another indentation, and that of the new lines is not clear",
				Wanted: clip(firstText(h.old)), Candidates: []Candidate{p.compared(start, h.old)}, Hint: "Copy the lines with the indentation that they have in the file.",
			}
		}
		at.new = fresh
	}
	for k, i := range at.kept {
		if i >= 0 {
			at.kept[k] = start + i
		}
	}
	return at, nil
}

// align returns for each new line the old line that it is, in order, or -1.
func align(old, new []string) []int {
	kept := none(len(new))
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		kept[head] = head
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
		kept[len(new)-tail] = len(old) - tail
	}
	old, new = old[head:len(old)-tail], new[head:len(new)-tail]
	if len(old)*len(new) <= mostAligned {
		alignMiddle(old, new, kept[head:], head)
	}
	return kept
}

// alignMiddle is the longest common subsequence of two short lists.
func alignMiddle(old, new []string, kept []int, head int) {
	width := len(new) + 1
	length := make([]int32, (len(old)+1)*width)
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(new); {
		switch {
		case old[i] == new[j]:
			kept[j] = head + i
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// indents maps the indentation of an edit to that of the file.
type indents struct {
	exact      map[string]string
	unclear    map[string]bool // the file has several for it
	cut, add   string          // what all lines have more in the edit, or in the file
	same, some bool            // cut and add hold for all lines; there is one
}

// reindent returns the new lines with the indentation of the file, or false
// when the file has no single answer.
func (p *placer) reindent(at place) ([]string, bool) {
	in := indents{exact: map[string]string{}, unclear: map[string]bool{}, same: true}
	for i, l := range at.old {
		if !isBlank(l) {
			in.learn(indentOf(l), indentOf(p.lines[at.start+i].text))
		}
	}
	fresh := make([]string, len(at.new))
	for k, l := range at.new {
		fresh[k] = l
		if at.kept[k] >= 0 || isBlank(l) {
			continue
		}
		indent := indentOf(l)
		there, ok := in.of(indent)
		if !ok {
			return nil, false
		}
		fresh[k] = there + l[len(indent):]
	}
	return fresh, true
}

// learn takes one pair of indentations that belong together.
func (in *indents) learn(edit, file string) {
	if there, ok := in.exact[edit]; ok && there != file {
		in.unclear[edit] = true
	}
	in.exact[edit] = file
	var cut, add string
	if strings.HasSuffix(file, edit) {
		add = file[:len(file)-len(edit)]
	} else if strings.HasSuffix(edit, file) {
		cut = edit[:len(edit)-len(file)]
	} else {
		in.same = false
	}
	if in.some && (cut != in.cut || add != in.add) {
		in.same = false
	}
	in.cut, in.add, in.some = cut, add, true
}

// of returns the indentation in the file for one in the edit.
func (in *indents) of(edit string) (string, bool) {
	if in.unclear[edit] {
		return "", false
	}
	if there, ok := in.exact[edit]; ok {
		return there, true
	}
	rest, ok := strings.CutPrefix(edit, in.cut)
	return in.add + rest, ok && in.same
}

// indentOf returns the blanks that a line starts with.
func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
