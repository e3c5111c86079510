package toolsearch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

// How the parts of a score count.
const (
	byWords   = 0.55 // the words of a tool, against the best tool
	byVector  = 0.45 // its vector, against the best tool
	byServer  = 0.25 // the mean of its server's best tools, beside these
	bestOf    = 3    // tools that speak for a server
	mentioned = 0.3  // its server's name stands in the text
	share     = 0.5  // of the best score: a server with such a tool is not left out altogether
	maxText   = 6000 // bytes of a text that are looked at: its beginning, and a third of it from its end
)

// Ranked is a tool with its score.
type Ranked struct {
	Index   int     // of the tool, as given to New
	Score   float64 // with the penalty in it
	Words   float64 // against the best tool, as the next
	Vector  float64
	Penalty float64 // 1: none
}

// Rank orders all tools by how well they fit a text, best first; equal ones stay in their order. penalty is asked for
// each tool, and is a factor; nil: there is none.
func (x *Index) Rank(ctx context.Context, text string, penalty func(i int) float64) ([]Ranked, error) {
	text = ends(text)
	words := x.lexical(lexical.ParseQuery(text))
	near, err := x.near(ctx, text)
	if err != nil {
		return nil, err
	}
	scale(words)
	scale(near)
	out := make([]Ranked, len(x.tools))
	for i := range out {
		out[i] = Ranked{Index: i, Words: float64(words[i]), Vector: float64(near[i]), Penalty: 1}
		out[i].Score = byWords*out[i].Words + byVector*out[i].Vector
	}
	for i, s := range x.serverScores(out, text) {
		out[i].Score += s
		if penalty != nil {
			out[i].Penalty = penalty(i)
			out[i].Score *= out[i].Penalty
		}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// ends is the part of a long text that is looked at. What is to be done stands at its beginning or its end.
func ends(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText*2/3], "") + " " + strings.ToValidUTF8(text[len(text)-maxText/3:], "")
}

// near is how near the vectors of the tools are to that of a text; zeros without vectors.
func (x *Index) near(ctx context.Context, text string) ([]float32, error) {
	out := make([]float32, len(x.tools))
	if x.embed == nil {
		return out, nil
	}
	vectors, err := x.embed.Embed(ctx, []embed.Text{embed.Query(text)})
	if err != nil {
		return nil, fmt.Errorf("make a vector of the task: %w", err)
	}
	if len(vectors) != 1 || vectors[0] == nil {
		return out, nil
	}
	q := vectors[0]
	unit(q)
	for i, v := range x.vectors {
		if len(v) == len(q) {
			out[i] = max(0, dot(q, v))
		}
	}
	return out, nil
}

func dot(a, b []float32) (sum float32) {
	b = b[:len(a)]
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	f := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= f
	}
}

// scale makes the largest value 1.
func scale(values []float32) {
	if len(values) == 0 {
		return
	}
	if most := slices.Max(values); most > 0 {
		for i := range values {
			values[i] /= most
		}
	}
}

// serverScores is what each tool gets for its server: a task that needs one tool of a server often needs its others.
func (x *Index) serverScores(of []Ranked, text string) []float64 {
	best := make([][]float64, len(x.servers))
	for i, r := range of {
		best[x.of[i]] = append(best[x.of[i]], r.Score)
	}
	key := "-" + lexical.Key(text) + "-"
	scores := make([]float64, len(x.servers))
	for s, all := range best {
		slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
		n := min(bestOf, len(all))
		for _, score := range all[:n] {
			scores[s] += byServer * score / float64(n)
		}
		if name := lexical.Key(x.servers[s]); name != "" && strings.Contains(key, "-"+name+"-") {
			scores[s] += mentioned
		}
	}
	out := make([]float64, len(of))
	for i := range out {
		out[i] = scores[x.of[i]]
	}
	return out
}

// Choose returns the first of ranked tools, at most n. Servers of which none would be among them, but which have a tool
// with at least half of the best score, get a place for it, as long as they take no more than a quarter of all.
func (x *Index) Choose(ranked []Ranked, n int) []Ranked {
	if len(ranked) <= n || n <= 0 {
		return ranked[:max(0, min(n, len(ranked)))]
	}
	chosen := slices.Clone(ranked[:n])
	has := map[int]bool{}
	for _, r := range chosen {
		has[x.of[r.Index]] = true
	}
	var more []Ranked
	for _, r := range ranked[n:] {
		if s := x.of[r.Index]; !has[s] && r.Score >= share*ranked[0].Score && r.Score > 0 && len(more) < n/4 {
			has[s] = true
			more = append(more, r)
		}
	}
	return append(chosen[:n-len(more)], more...)
}
