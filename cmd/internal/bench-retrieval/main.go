// Command bench-retrieval measures how well openspace-search finds: it unpacks the labelled data, runs every
// query through the search engine as a user's search would, and prints nDCG@10, Recall@10 and MRR@10 for each
// set, as a table or as JSON. scripts/bench-retrieval is the way to call it.
//
// With --against OLD.json it compares query by query with an earlier --json result and prints the mean
// difference with a 95 % bootstrap interval.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/search"
)

// scores are the measures of one query, each 0 to 1.
type scores struct {
	NDCG   float64 `json:"ndcg10"`
	Recall float64 `json:"recall10"`
	MRR    float64 `json:"mrr10"`
}

// report is the whole result: means by set, and the scores of each query.
type report struct {
	Sets    map[string]scores            `json:"sets"`
	Counts  map[string]int               `json:"counts"`
	Queries map[string]map[string]scores `json:"queries"` // set → query id
}

func main() {
	data := flag.String("data", "../shared/data", "directory of the labelled data")
	asJSON := flag.Bool("json", false, "print JSON with the scores of every query")
	embedding := flag.String("embedding", "builtin", "where vectors come from: builtin or none")
	against := flag.String("against", "", "compare with an earlier JSON `FILE`")
	flag.Parse()
	if err := run(*data, *embedding, *asJSON, *against); err != nil {
		fmt.Fprintln(os.Stderr, "bench-retrieval:", err)
		os.Exit(1)
	}
}

func run(data, embedding string, asJSON bool, against string) error {
	rep, err := evaluate(data, embedding)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(rep)
	}
	rep.print()
	if against != "" {
		return rep.compare(against)
	}
	return nil
}

// evaluate runs all queries of all collections.
func evaluate(data, embedding string) (*report, error) {
	var model embed.Embedder
	if embedding != "none" {
		m, err := embed.Builtin()
		if err != nil {
			return nil, err
		}
		model = m
	}
	dir, err := os.MkdirTemp("", "bench-retrieval-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	rep := &report{map[string]scores{}, map[string]int{}, map[string]map[string]scores{}}
	for _, c := range collections(data) {
		if err := measure(rep, c, dir, model); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	rep.average()
	return rep, nil
}

// measure unpacks one collection and runs its queries.
func measure(rep *report, c collection, dir string, model embed.Embedder) error {
	root := filepath.Join(dir, c.name)
	ids, err := c.unpack(root)
	if err != nil {
		return err
	}
	e, err := search.Open(context.Background(), search.Config{Home: filepath.Join(dir, "home"), Roots: []roots.Root{{Dir: root, Origin: "flag"}}, Policy: safety.DefaultPolicy(), Embedder: model})
	if err != nil {
		return err
	}
	defer e.Close()
	queries, err := c.load()
	if err != nil {
		return err
	}
	for _, q := range queries {
		res, err := e.Search(context.Background(), search.Request{Query: q.Query, Limit: 10})
		if err != nil {
			return err
		}
		var got []string
		for _, h := range res.Hits {
			got = append(got, ids[h.SkillDir])
		}
		if rep.Queries[q.Set] == nil {
			rep.Queries[q.Set] = map[string]scores{}
		}
		rep.Queries[q.Set][q.ID] = score(got, q.Relevant)
	}
	return nil
}

func (r *report) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "set\tqueries\tnDCG@10\tRecall@10\tMRR@10\t")
	for _, s := range sorted(r.Sets) {
		m := r.Sets[s]
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", s, r.Counts[s], 100*m.NDCG, 100*m.Recall, 100*m.MRR)
	}
	w.Flush()
}
