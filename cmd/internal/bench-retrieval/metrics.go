package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
)

// score measures one ranked list: nDCG with binary gains and log2 discount, recall, and the reciprocal rank
// of the first relevant result, all at 10.
func score(got, relevant []string) scores {
	var s scores
	dcg, ideal := 0.0, 0.0
	for i, id := range got[:min(10, len(got))] {
		if !slices.Contains(relevant, id) {
			continue
		}
		dcg += 1 / math.Log2(float64(i)+2)
		s.Recall++
		if s.MRR == 0 {
			s.MRR = 1 / float64(i+1)
		}
	}
	for i := range min(10, len(relevant)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	if ideal > 0 {
		s.NDCG = dcg / ideal
		s.Recall /= float64(len(relevant))
	}
	return s
}

// average fills in the means.
func (r *report) average() {
	for set, queries := range r.Queries {
		var m scores
		for _, s := range queries {
			m.NDCG, m.Recall, m.MRR = m.NDCG+s.NDCG, m.Recall+s.Recall, m.MRR+s.MRR
		}
		n := float64(len(queries))
		r.Sets[set], r.Counts[set] = scores{m.NDCG / n, m.Recall / n, m.MRR / n}, len(queries)
	}
}

// compare prints the mean difference in nDCG@10 to an earlier report, paired by query, with a 95 % bootstrap
// interval.
func (r *report) compare(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var old report
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("read %q: %w", file, err)
	}
	for _, set := range sorted(r.Queries) {
		var d []float64
		for _, id := range sorted(r.Queries[set]) {
			if o, ok := old.Queries[set][id]; ok {
				d = append(d, 100*(r.Queries[set][id].NDCG-o.NDCG))
			}
		}
		low, mean, high := bootstrap(d)
		fmt.Printf("%s: nDCG@10 %+.2f [%+.2f, %+.2f] over %d queries\n", set, mean, low, high, len(d))
	}
	return nil
}

// bootstrap returns the mean of d and the 2.5 % and 97.5 % quantiles of the means of 2,000 samples of it.
func bootstrap(d []float64) (low, mean, high float64) {
	if len(d) == 0 {
		return 0, 0, 0
	}
	r := rand.New(rand.NewPCG(3, 4))
	means := make([]float64, 2000)
	for i := range means {
		for range d {
			means[i] += d[r.IntN(len(d))] / float64(len(d))
		}
	}
	slices.Sort(means)
	for _, v := range d {
		mean += v / float64(len(d))
	}
	return means[50], mean, means[1949]
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
