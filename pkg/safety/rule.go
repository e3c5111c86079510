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
	anywhere place = iota
	inCode         // code files, and code blocks and code spans of prose
	inScript       // code files only
	inProse        // prose files, all of their parts
)

// rule is one row of the table. A rule is tried only where one of its literals
// was seen: its expression runs over the text from back bytes before the
// literal to ahead bytes behind it. Without an expression the literal itself is
// the finding, when no letter or digit touches it.
type rule struct {
	id       string
	flag     string
	severity Severity // "" marks a sign: nothing by itself, a part of a combination
	place    place
	docs     bool // milder in a text that is about attacks, or cites one
	once     bool // the first place of a file is enough
	lits     []string
	also     []string // one of these must occur somewhere in the file as well
	back     int
	ahead    int
	expr     string
	check    func(m match) (Severity, bool)
	message  string
}

// match is what a rule's check looks at.
type match struct {
	rule       *rule
	data       []byte // the whole text that was searched
	start, end int
	in         region
	path       string
}

// text is the matched part.
func (m match) text() string { return string(m.data[m.start:m.end]) }

// RuleInfo describes a rule to people and to SARIF. Severity is the one the
// rule starts from; a finding may be one or two steps milder or one harsher.
type RuleInfo struct {
	ID       string
	Flag     string
	Severity Severity
	Message  string
}

// Rules lists the rules, sorted by id.
func Rules() []RuleInfo {
	var infos []RuleInfo
	for _, table := range tables {
		for i := range table {
			if r := &table[i]; r.severity != "" {
				infos = append(infos, RuleInfo{r.id, r.flag, r.severity, r.message})
			}
		}
	}
	for _, c := range combinations {
		infos = append(infos, RuleInfo{c.id, c.flag, c.severity, c.message})
	}
	infos = append(infos, fileRules...)
	slices.SortFunc(infos, func(a, b RuleInfo) int { return strings.Compare(a.ID, b.ID) })
	return infos
}

// compiled is a rule with its expression, compiled when first needed.
type compiled struct {
	*rule
	lits, also []uint16
	re         func() *regexp.Regexp
}

// engine is the table of rules in the form that the scanner works with.
type engine struct {
	rules  []compiled
	byLit  [][]uint16 // literal → rules it triggers
	widths []int32    // literal → length
	find   *automaton
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
			}
			out[i] = id
		}
		return out
	}
	for _, table := range tables {
		for i := range table {
			r := &table[i]
			e.rules = append(e.rules, compiled{rule: r, lits: intern(r.lits), also: intern(r.also), re: lazily(r.expr)})
		}
	}
	e.byLit = make([][]uint16, len(literals))
	for n, r := range e.rules {
		for _, l := range r.lits {
			e.byLit[l] = append(e.byLit[l], uint16(n))
		}
	}
	for _, l := range literals {
		e.widths = append(e.widths, int32(len(l)))
	}
	e.find = newAutomaton(literals)
	return e
}

// lazily compiles an expression when it is first asked for; "(?i)" is implied,
// and (?s:.) is written out where a match may cross lines.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)" + expr) })
}
