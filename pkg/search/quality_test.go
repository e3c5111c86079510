package search_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/search"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The ranking of fixed queries over the sample skills, and its measures, are a golden: a change of the
// ranking shows as a change of these numbers.
func TestQuality(t *testing.T) {
	samples, err := filepath.Abs("../../samples/skills")
	if err != nil {
		t.Fatal(err)
	}
	e, err := search.Open(context.Background(), search.Config{Home: t.TempDir(), Roots: []roots.Root{{Dir: samples}}, Policy: safety.DefaultPolicy()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Len() < 12 {
		t.Fatalf("got %d sample skills", e.Len())
	}
	f, err := os.Open("testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	n, at1, at5, mrr := 0.0, 0.0, 0.0, 0.0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		want, query, _ := strings.Cut(lines.Text(), "\t")
		rank, names := rankOf(t, e, query, want)
		fmt.Fprintf(&out, "%-45s %d  %s\n", query, rank, strings.Join(names, " "))
		if rank == 1 {
			at1++
		}
		if rank > 0 && rank <= 5 {
			at5++
		}
		if rank > 0 {
			mrr += 1 / float64(rank)
		}
	}
	if n < 25 {
		t.Fatalf("got %v queries", n)
	}
	fmt.Fprintf(&out, "\nrecall@1 %.3f\nrecall@5 %.3f\nMRR %.3f\n", at1/n, at5/n, mrr/n)
	golden(t, "testdata/quality.golden", out.String())
}

// rankOf returns the rank of the skill that is wanted, 0 for none, and the names of the first three hits.
func rankOf(t *testing.T, e *search.Engine, query, want string) (rank int, names []string) {
	t.Helper()
	res, err := e.Search(context.Background(), search.Request{Query: query, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range res.Hits {
		if h.Name == want {
			rank = h.Rank
		}
		if h.Rank <= 3 {
			names = append(names, h.Name)
		}
	}
	return rank, names
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the ranking has changed; go test -update accepts it\ngot:\n%s\nwant:\n%s", got, want)
	}
}
