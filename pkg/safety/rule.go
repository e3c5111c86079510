package safety

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// place says in which parts of a file a rule applies.
type place uint8

const (
	anywhere  place = iota
	inCode          // code files, and code blocks and code spans of prose
	inScript        // code files only
	inBlock         // code files, and code blocks of prose
	inProse         // prose files, all of their parts
	inData          // settings and other data files
	inDecoded       // text that was encoded
)

// rule is one row of the table. A rule is tried only where one of its literals
// was seen: its expression runs over the text from back bytes before the
// literal to ahead bytes behind it. Without an expression the literal itself is
// the finding, when no letter or digit touches it.
//
// Several rows may share an id, when one expression for all of it would be slow.
//
// Literals are folded (see finder). The expression sees text in lower case and
// is itself taken so, unless exact is set.
type rule struct {
	id       string
	flag     string
	severity Severity // "" marks a sign: nothing by itself, a part of a combination
	place    place
	docs     bool // milder in a text that is about attacks, or cites one
	once     bool // the first place of a file is enough
	late     bool // a sign that is looked for only when its partners were found
	exact    bool
	lits     []string
	also     []string // one of these must lie around the literal, within back and ahead
	before   []string // one of these in front of it
	after    []string // one of these behind it
	back     int
	ahead    int
	reach    int // how far also, before and after look, instead of back and ahead
	expr     string
	check    func(m *match) (Severity, bool)
	message  string
}

// match is what a rule's check looks at.
type match struct {
	rule       *rule
	data       []byte // the whole text that was searched
	start, end int
	in         region
	path       string
	via        string // how it was decoded
	original   []byte // the text of the file, and the offset of the match in it
	off        int
	soft       bool // set by a check: this one may be made milder, as by docs
}

// text is the matched part.
func (m *match) text() string { return string(m.data[m.start:m.end]) }

// clear is what the file says in clear at the place of a decoded text.
func (m *match) clear() string {
	end := min(len(m.original), m.off+2*len(m.data)+200)
	o := match{data: m.original[:end], start: m.off, end: end}
	return o.line(maxLine)
}

// line is the line that the match stands in, up to limit bytes on either side.
func (m *match) line(limit int) string {
	start, end := m.start, m.end
	for start > 0 && m.data[start-1] != '\n' && m.start-start < limit {
		start--
	}
	for end < len(m.data) && m.data[end] != '\n' && end-m.end < limit {
		end++
	}
	return string(m.data[start:end])
}

// RuleInfo describes a rule to people and to SARIF. Severity is the one the
// rule starts from; a finding may be one harsher, or milder when Words says that
// the rule is about words that a text on attacks may quote. Message completes
// the sentence "this skill …".
type RuleInfo struct {
	ID       string
	Flag     string
	Severity Severity
	Message  string
	Words    bool
}

// Rules lists the rules, sorted by id.
func Rules() []RuleInfo {
	infos := slices.Concat(fileRules, claimRules)
	for _, table := range tables {
		for i := range table {
			if r := &table[i]; r.severity != "" {
				infos = append(infos, RuleInfo{r.id, r.flag, r.severity, r.message, r.docs})
			}
		}
	}
	for _, c := range combinations {
		infos = append(infos, RuleInfo{c.id, c.flag, c.severity, c.message, c.docs})
	}
	slices.SortStableFunc(infos, func(a, b RuleInfo) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(infos, func(a, b RuleInfo) bool { return a.ID == b.ID })
}

// compiled is a rule with its expression, compiled when first needed.
type compiled struct {
	*rule
	also, before, after []uint16 // literals
	partners            []*rule  // of a late rule
	re                  func() *regexp.Regexp
}

// engine is the table of rules in the form that the scanner works with.
type engine struct {
	rules   []compiled
	byLit   [][]uint16 // literal → rules it triggers
	words   []word     // literal → what it means to a sentence
	ciphers []uint32   // literal → ciphers it is a sign of, as bits
	find    *finder
}

// theEngine is built by the first scan.
var theEngine = sync.OnceValue(newEngine)

func newEngine() *engine {
	e := &engine{}
	var literals []string
	ids := map[string]uint16{}
	intern := func(words []string) []uint16 {
		out := make([]uint16, len(words))
		for i, w := range words {
			id, ok := ids[w]
			if !ok {
				id = uint16(len(literals))
				ids[w] = id
				literals = append(literals, w)
				e.byLit = append(e.byLit, nil)
			}
			out[i] = id
		}
		return out
	}
	for _, table := range tables {
		for i := range table {
			r := &table[i]
			for _, l := range intern(r.lits) {
				e.byLit[l] = append(e.byLit[l], uint16(len(e.rules)))
			}
			e.rules = append(e.rules, compiled{rule: r, also: intern(r.also), before: intern(r.before), after: intern(r.after), re: lazily(r)})
		}
	}
	var signs [len(ciphers)][]uint16
	for i, c := range ciphers {
		signs[i] = intern(c.signs)
	}
	lexical := lexiconWords(intern)
	e.words = make([]word, len(literals))
	for id, w := range lexical {
		e.words[id] = w
	}
	e.ciphers = make([]uint32, len(literals))
	for i, lits := range signs {
		for _, l := range lits {
			e.ciphers[l] |= 1 << i
		}
	}
	e.pair()
	e.find = newFinder(literals)
	return e
}

// pair gives each late rule its partners: the rules of the other groups of the
// combinations that it is in.
func (e *engine) pair() {
	for i := range e.rules {
		r := &e.rules[i]
		if !r.late {
			continue
		}
		for _, c := range combinations {
			if !slices.ContainsFunc(c.groups, func(g []string) bool { return slices.Contains(g, r.id) }) {
				continue
			}
			for j := range e.rules {
				if o := e.rules[j].rule; slices.ContainsFunc(c.groups, func(g []string) bool { return !slices.Contains(g, r.id) && slices.Contains(g, o.id) }) {
					r.partners = append(r.partners, o)
				}
			}
		}
	}
}

// lazily compiles the expression of a rule when it is first asked for. To let
// a match cross lines, an expression says (?s:.).
func lazily(r *rule) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		if r.exact {
			return regexp.MustCompile(r.expr)
		}
		return regexp.MustCompile(lowerExpr(r.expr))
	})
}

// lowerExpr puts an expression into lower case, except for escapes as \S.
func lowerExpr(expr string) string {
	b := []byte(expr)
	for i := range b {
		if 'A' <= b[i] && b[i] <= 'Z' && (i == 0 || b[i-1] != '\\') {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}
