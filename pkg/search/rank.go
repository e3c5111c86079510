package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

// A score lies between 0 and 1 and means the same for every query and every source:
//
//	0.9 to 1    the name is the query
//	0.8 to 0.9  the name begins with the query
//	below 0.8   the share of the query that the skill covers, times 0.8
//
// The share is that of the signals: words now; [mix] is where vectors and the rank of a server come in.
const (
	exactBase  = 0.9
	prefixBase = 0.8
	nameSpan   = 0.1
)

// fit says how the name of a skill stands to a query.
type fit string

const (
	noFit     fit = ""
	prefixFit fit = "prefix"
	exactFit  fit = "exact"
)

// fitOf compares a name with a query by their keys.
func fitOf(name, query string) fit {
	switch {
	case query == "" || name == "":
		return noFit
	case name == query || squeeze(name) == squeeze(query):
		return exactFit
	case strings.HasPrefix(name, query):
		return prefixFit
	}
	return noFit
}

// squeeze takes the hyphens out of a key: "node-js" is "nodejs".
func squeeze(key string) string { return strings.ReplaceAll(key, "-", "") }

// signals are what is known about a candidate besides its name. Absent signals are negative.
type signals struct {
	lexical float64 // share of the query's words
}

// mix returns the share of the query that a candidate covers, 0 to 1.
func mix(s signals) float64 { return max(s.lexical, 0) }

// score puts a share into the band of the name's fit.
func score(f fit, share float64) float64 {
	switch f {
	case exactFit:
		return exactBase + nameSpan*share
	case prefixFit:
		return prefixBase + nameSpan*share
	}
	return prefixBase * share
}

// candidate is a skill on its way into the result.
type candidate struct {
	index.Ref
	doc index.Doc
	signals
	fit   fit
	score float64
}

// candidates returns everything that may be a hit of r, best first.
func (e *Engine) candidates(r Request, q lexical.Query) ([]candidate, error) {
	scores, err := e.set.Score(q)
	if err != nil {
		return nil, err
	}
	byID, err := e.withID(r.Query)
	if err != nil {
		return nil, err
	}
	byName, err := e.byName(r, q)
	if err != nil {
		return nil, err
	}
	refs := append(byID, byName...)
	if !r.Exact && !r.Prefix {
		for _, m := range scores.Top(rough * r.Limit) {
			refs = append(refs, m.Ref)
		}
	}
	var out []candidate
	seen := map[index.Ref]bool{}
	for i, ref := range refs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		doc, err := e.set.Doc(ref)
		if err != nil {
			return nil, err
		}
		c := candidate{Ref: ref, doc: doc, signals: signals{lexical: scores.Of(ref)}, fit: fitOf(doc.Key, q.Key)}
		if i < len(byID) {
			c.fit = exactFit
		}
		c.score = score(c.fit, mix(c.signals))
		out = append(out, c)
	}
	slices.SortFunc(out, compare(r.Prefix))
	return out, nil
}

// rough is how many times as many candidates as hits come out of the lexical phase: room for those that are
// shadowed, copied or blocked.
const rough = 3

// nameLimit is how many names with the query as their beginning are looked at in each segment.
const nameLimit = 1000

// byName returns the skills whose name is the query, and those whose name begins with it.
func (e *Engine) byName(r Request, q lexical.Query) ([]index.Ref, error) {
	refs, err := e.set.Named(q.Key)
	if err != nil {
		return nil, err
	}
	if r.Exact || q.Key == "" {
		return refs, nil
	}
	limit := nameLimit
	if r.Prefix {
		limit = MaxLimit
	}
	prefixed, err := e.set.Prefixed(q.Key, limit)
	return append(refs, prefixed...), err
}

// compare orders candidates by score, name and path; by name and path alone for a list by prefix.
func compare(byName bool) func(a, b candidate) int {
	return func(a, b candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 && !byName {
			return c
		}
		return cmp.Or(cmp.Compare(a.doc.Key, b.doc.Key), cmp.Compare(a.doc.Name, b.doc.Name),
			cmp.Compare(a.Index, b.Index), cmp.Compare(a.doc.Rel, b.doc.Rel))
	}
}
