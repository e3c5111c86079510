package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The measures on the labelled data are a golden, so that a change of the ranking cannot go unseen. The data
// is not part of the repository.
func TestQuality(t *testing.T) {
	data := os.Getenv("OPENSPACE_DATA")
	if data == "" {
		data = "../../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(data, "retrieval")); err != nil {
		t.Skipf("the labelled data is not here (OPENSPACE_DATA): %v", err)
	}
	var got strings.Builder
	for _, embedding := range []string{"none", "builtin"} {
		rep, err := evaluate(data, embedding)
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Sets) != 3 {
			t.Fatalf("got %d sets, want 3", len(rep.Sets))
		}
		fmt.Fprintf(&got, "vectors: %s\n", embedding)
		for _, s := range sorted(rep.Sets) {
			m := rep.Sets[s]
			fmt.Fprintf(&got, "%-12s %4d queries  nDCG@10 %.2f  Recall@10 %.2f  MRR@10 %.2f\n", s, rep.Counts[s], 100*m.NDCG, 100*m.Recall, 100*m.MRR)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/quality.golden", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/quality.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the quality has changed; go test -update accepts it\ngot:\n%swant:\n%s", got.String(), want)
	}
}

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		got, relevant []string
		want          scores
	}{
		{[]string{"a", "b"}, []string{"a"}, scores{1, 1, 1}},
		{[]string{"b", "a"}, []string{"a"}, scores{1 / math.Log2(3), 1, 0.5}},
		{[]string{"b"}, []string{"a"}, scores{0, 0, 0}},
		{nil, []string{"a", "b"}, scores{0, 0, 0}},
		{[]string{"a", "x", "b"}, []string{"a", "b"}, scores{1.5 / (1 + 1/math.Log2(3)), 1, 1}},
	} {
		if got := score(tt.got, tt.relevant); got != tt.want {
			t.Errorf("%v of %v: got %v, want %v", tt.got, tt.relevant, got, tt.want)
		}
	}
}
