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
// The share is that of the signals: words, else the rank of a registry, and vectors.
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
	server  float64 // share of the query as a registry sees it
	vector  float64 // cosine of the vectors of query and skill
}

// absent is the value of a signal that there is not.
const absent = -1

// vectorWeight is what the cosine counts beside the share of the words. docs/search-quality.md tells how it was found.
const vectorWeight = 0.1

// mix returns the share of the query that a candidate covers, 0 to 1: that of its words, which is counted on this
// machine, or the registry's, which is on the same scale, where there is none; and the cosine where there are vectors.
// A share and a cosine that agree give that number, so a score means the same with vectors and without.
func mix(s signals) float64 {
	share := max(s.server, 0)
	if s.lexical > 0 {
		share = s.lexical
	}
	if s.vector == absent {
		return share
	}
	return (share + vectorWeight*max(s.vector, 0)) / (1 + vectorWeight)
}

// relevant reports whether a skill that is in no way named by the query has enough to do with it: a word of it, a rank
// of the registry, or a vector that is near.
func relevant(s signals) bool { return s.lexical > 0 || s.server > 0 || s.vector >= minCosine }

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
	row *Row // what a registry says about it; nil: nothing
	signals
	fit   fit
	score float64
}

// question is a query on its way through the phases.
type question struct {
	lexical.Query
	shares *index.Scores // of the words, for every skill
	vector []float32     // nil: without vectors
}

// at returns the skills at refs as candidates.
func (e *Engine) at(refs []index.Ref, q question) (out []candidate, err error) {
	docs := make([]index.Doc, len(refs))
	for i, ref := range refs {
		if docs[i], err = e.set.Doc(ref); err != nil {
			return nil, err
		}
	}
	var cosines []float64
	var known []bool
	if q.vector != nil {
		if cosines, known, err = e.set.Cosines(q.vector, refs, docs); err != nil {
			return nil, err
		}
	}
	for i, ref := range refs {
		c := candidate{Ref: ref, doc: docs[i], fit: fitOf(docs[i].Key, q.Key)}
		c.signals = signals{lexical: q.shares.Of(ref), server: absent, vector: absent}
		if q.vector != nil && known[i] {
			c.vector = cosines[i]
		}
		c.score = score(c.fit, mix(c.signals))
		out = append(out, c)
	}
	return out, nil
}

// candidates returns everything that may be a hit of r, best first, and how many rows of the registry cannot be.
func (e *Engine) candidates(r Request, q question) (out []candidate, skipped int, err error) {
	if q.shares, err = e.set.Score(q.Query); err != nil {
		return nil, 0, err
	}
	byID, err := e.withID(r.Query)
	if err != nil {
		return nil, 0, err
	}
	byName, err := e.byName(r, q.Query)
	if err != nil {
		return nil, 0, err
	}
	refs := append(byID, byName...)
	if !r.Exact && !r.Prefix {
		for _, m := range q.shares.Top(max(nearest, rough*r.Limit)) {
			refs = append(refs, m.Ref)
		}
		near, err := e.near(q.vector, r.Limit)
		if err != nil {
			return nil, 0, err
		}
		refs = append(refs, near...)
	}
	found, err := e.at(unique(refs), q)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range found {
		if slices.Contains(byID, c.Ref) {
			c.fit = exactFit
			c.score = score(c.fit, mix(c.signals))
		}
		if c.fit != noFit || relevant(c.signals) {
			out = append(out, c)
		}
	}
	if len(r.Rows) > 0 {
		if out, skipped, err = e.join(out, r, q); err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(out, compare(r))
	return out, skipped, nil
}

// unique returns refs without repetitions, in their order.
func unique(refs []index.Ref) (out []index.Ref) {
	seen := make(map[index.Ref]bool, len(refs))
	for _, r := range refs {
		if !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	return out
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

// compare orders candidates by score, name and path; by name and path alone for a list by prefix. Among equal scores
// a name that is the query letter for letter comes first.
func compare(r Request) func(a, b candidate) int {
	query := strings.TrimSpace(r.Query)
	differs := func(c candidate) int {
		if r.Prefix || c.doc.Name == query {
			return 0
		}
		return 1
	}
	return func(a, b candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 && !r.Prefix {
			return c
		}
		return cmp.Or(cmp.Compare(differs(a), differs(b)), cmp.Compare(a.doc.Key, b.doc.Key), cmp.Compare(a.doc.Name, b.doc.Name),
			cmp.Compare(a.Index, b.Index), cmp.Compare(a.doc.Rel, b.doc.Rel))
	}
}
