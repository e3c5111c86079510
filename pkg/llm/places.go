package llm

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Place is a name of this run, such as a folder, that another run has otherwise. It is written as {{Name}}.
type Place struct {
	Name string // such as workspace
	Path string // as this run has it; several places may have one name, the first one is what a replay puts in
}

// RecordOptions say how texts are written into a replay file, and compared with it.
type RecordOptions struct {
	Mask   func(string) string // takes secrets out; nil: nothing is taken out
	Places []Place
}

// places writes and reads the placeholders.
type places struct {
	mask  func(string) string
	list  []Place // the longest path first
	real  map[string]string
	known *regexp.Regexp // placeholders and how they are written when the text had them from the start
}

func newPlaces(o RecordOptions) *places {
	p := &places{mask: o.Mask, real: map[string]string{}}
	if p.mask == nil {
		p.mask = func(s string) string { return s }
	}
	var names []string
	for _, place := range o.Places {
		if place.Name == "" || len(place.Path) < 2 {
			continue // "/" is in every path
		}
		place.Path = strings.TrimRight(place.Path, "/")
		p.list = append(p.list, place)
		if _, ok := p.real[place.Name]; !ok {
			p.real[place.Name] = place.Path
			names = append(names, regexp.QuoteMeta(place.Name))
		}
	}
	slices.SortStableFunc(p.list, func(a, b Place) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	if len(names) > 0 {
		alt := strings.Join(names, "|")
		p.known = regexp.MustCompile(`\{\{\{\{(?:` + alt + `)\}\}\}\}|\{\{(?:` + alt + `)\}\}`)
	}
	return p
}

// out makes a text fit for a file.
func (p *places) out(s string) string {
	s = p.mask(s)
	if p.known == nil {
		return s
	}
	s = p.known.ReplaceAllStringFunc(s, func(m string) string { return "{{" + m + "}}" })
	for _, place := range p.list {
		s = replaceWhole(s, place.Path, "{{"+place.Name+"}}")
	}
	return s
}

// in puts the names of this run into a text of a file.
func (p *places) in(s string) string {
	if p.known == nil {
		return s
	}
	return p.known.ReplaceAllStringFunc(s, func(m string) string {
		if inner := m[2 : len(m)-2]; strings.HasPrefix(inner, "{{") {
			return inner
		} else {
			return p.real[inner]
		}
	})
}

// replaceWhole replaces a path where it stands as a whole: not as a part of a longer name.
func replaceWhole(s, path, with string) string {
	if !strings.Contains(s, path) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, path)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(path)
		b.WriteString(s[:i])
		if i > 0 && nameByte(s[i-1]) || !endsName(s[end:]) {
			b.WriteString(path)
		} else {
			b.WriteString(with)
		}
		s = s[end:]
	}
}

// endsName tells whether a name that stands before rest ends there.
func endsName(rest string) bool {
	switch {
	case rest == "":
		return true
	case rest[0] == '.': // the end of a sentence, or of a name such as work.bak
		return len(rest) == 1 || !nameByte(rest[1])
	}
	return !nameByte(rest[0])
}

func nameByte(b byte) bool { return wordByte(b) || b == '-' || b >= 0x80 }
