package search

import (
	"flag"
	"fmt"
)

// MaxLimit is the most hits that one query can ask for.
const MaxLimit = 10_000

const defaultLimit = 10

// Request is one query and how to answer it.
type Request struct {
	Query    string
	Limit    int     // 0: 10, or all with Exact and Prefix
	Exact    bool    // only skills whose name or id is the query
	Prefix   bool    // only skills whose name begins with the query, by name
	MinScore float64 // leave out hits below this score, 0 to 1
	Explain  bool    // say how each score came about

	Rows []Row // what a registry found for the query, to be joined
}

// Flags registers the options of a request on fs.
func (r *Request) Flags(fs *flag.FlagSet) {
	fs.IntVar(&r.Limit, "limit", defaultLimit, "at most `N` hits for each query; with --exact and --prefix all unless it is given")
	fs.BoolVar(&r.Exact, "exact", false, "only the skill whose name or id is the query")
	fs.BoolVar(&r.Prefix, "prefix", false, "every skill whose name begins with the query, by name")
	fs.Float64Var(&r.MinScore, "min-score", 0, "leave out hits below `SCORE`, 0 to 1")
	fs.BoolVar(&r.Explain, "explain", false, "say how each score came about")
}

// Validate reports the first thing about r that makes no sense.
func (r *Request) Validate() error {
	switch {
	case r.Limit < 1 || r.Limit > MaxLimit:
		return fmt.Errorf("limit must be from 1 to %d, not %d", MaxLimit, r.Limit)
	case !(r.MinScore >= 0 && r.MinScore <= 1):
		return fmt.Errorf("min-score must be from 0 to 1, not %v", r.MinScore)
	case r.Exact && r.Prefix:
		return fmt.Errorf("--exact and --prefix exclude each other")
	}
	return nil
}
