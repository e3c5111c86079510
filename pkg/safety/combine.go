package safety

import "slices"

// combination is a rule over other rules: it applies where one of each of its
// groups was found. In prose they must lie within near bytes of each other, in
// a program anywhere in the file.
type combination struct {
	id       string
	flag     string
	severity Severity
	docs     bool
	groups   [][]string // rule ids
	near     int
	block    bool // in prose, within one block of code
	tight    bool // near counts in programs as well
	far      int  // in a program, one step milder when further apart; 0 is never
	folder   bool // may also be spread over the programs of a folder, one step milder
	message  string
}

// combine looks for combinations among the marks of the current text.
func (s *scanner) combine() {
	for i := range combinations {
		c := &combinations[i]
		if off, soft, ok := s.together(c); ok {
			r := rule{id: c.id, flag: c.flag, message: c.message}
			if c.docs && s.kind != code {
				soft = max(soft, s.softened(off, &match{}))
			}
			s.report(view{}, &r, c.severity, off, soft)
		}
	}
	if s.kind != code {
		return
	}
	for _, m := range s.marks {
		if !slices.ContainsFunc(s.marked, func(o spread) bool { return o.id == m.rule.id }) {
			f := Finding{Path: s.text.Path, Softened: m.soft > 0}
			s.place(&f, m.off)
			s.marked = append(s.marked, spread{m.rule.id, f})
		}
	}
}

// spread is the first place of a rule in the programs of a folder.
type spread struct {
	id string
	at Finding // path, line, column and excerpt
}

// together finds a mark of the first group that has marks of all other groups
// near it. It is as soft as the softest of them.
func (s *scanner) together(c *combination) (off, soft int, ok bool) {
	for _, m := range s.marks {
		if !slices.Contains(c.groups[0], m.rule.id) {
			continue
		}
		all, weak := true, m.soft
		for _, group := range c.groups[1:] {
			i := s.nearest(m, group, func(o mark) bool { return s.kind == code && !c.tight || s.close(c, m.off, o.off) })
			all = all && i >= 0
			if i >= 0 {
				weak = max(weak, s.marks[i].soft, s.apart(c, m.off, s.marks[i].off))
			}
		}
		if all {
			return m.off, weak, true
		}
	}
	return 0, 0, false
}

// nearest is the index of the mark of a group that lies nearest to m, or -1.
func (s *scanner) nearest(m mark, group []string, fits func(mark) bool) int {
	best := -1
	for i, o := range s.marks {
		if slices.Contains(group, o.rule.id) && fits(o) && (best < 0 || abs(o.off-m.off) < abs(s.marks[best].off-m.off)) {
			best = i
		}
	}
	return best
}

// apart is the step that a combination is milder for the distance of its parts in
// a program.
func (s *scanner) apart(c *combination, a, b int) int {
	if c.far > 0 && s.kind == code && abs(a-b) > c.far {
		return 1
	}
	return 0
}

// close reports whether two places of a text that is not a program belong
// together.
func (s *scanner) close(c *combination, a, b int) bool {
	if s.kind == prose && c.block {
		in := s.regionAt(a)
		return in.block() && b >= in.start && b < in.end
	}
	return abs(a-b) <= c.near
}

func abs(n int) int { return max(n, -n) }

// across finds the combinations that are spread over several programs of the
// folder. They are one step milder: the programs may have nothing to do with
// each other.
func (s *scanner) across() []Finding {
	var found []Finding
	for i := range combinations {
		c := &combinations[i]
		if at, ok := s.spreadOver(c); ok {
			at.Rule, at.Flag, at.Severity, at.Message = c.id, c.flag, c.severity.shift(-1), c.message+" (in several files)"
			found = append(found, at)
		}
	}
	return found
}

// spreadOver is the place of a combination's first group, when all groups occur
// and not all of them in that one file.
func (s *scanner) spreadOver(c *combination) (at Finding, ok bool) {
	if !c.folder {
		return at, false
	}
	several := false
	for i, group := range c.groups {
		n := slices.IndexFunc(s.marked, func(m spread) bool { return slices.Contains(group, m.id) })
		if n < 0 {
			return at, false
		}
		if i == 0 {
			at = s.marked[n].at
		}
		several = several || s.marked[n].at.Path != at.Path
	}
	return at, several
}
