package toolsearch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

// Tool is what is known of a tool.
type Tool struct {
	Server      string
	Name        string   // at its server
	Description string   //
	Arguments   []string // their names
}

// Index is tools made ready for ranking. It is not changed after New, so several goroutines may use it.
type Index struct {
	tools   []Tool
	servers []string  // each once, in order of appearance
	of      []int     // by tool: which of them
	terms   []posting // by term number
	byForm  map[string]uint32
	byStem  map[string][]uint32
	vectors [][]float32 // unit length; nil for a tool without
	embed   embed.Embedder
}

// posting is where a form stands and how much it counts there.
type posting struct {
	docs    []uint32
	impacts []float32
}

// New makes tools ready. Without an embedder they are ranked by words alone.
func New(ctx context.Context, tools []Tool, e embed.Embedder) (*Index, error) {
	x := &Index{tools: tools, byForm: map[string]uint32{}, byStem: map[string][]uint32{}, embed: e}
	x.group()
	x.index()
	if e == nil {
		return x, nil
	}
	texts := make([]embed.Text, len(tools))
	for i, t := range tools {
		texts[i] = embed.Text{Name: spaced(t.Name), Description: t.Description, Body: spaced(t.Server + " " + strings.Join(t.Arguments, " "))}
	}
	var err error
	if x.vectors, err = e.Embed(ctx, texts); err != nil {
		return nil, fmt.Errorf("make vectors of %d tools: %w", len(tools), err)
	}
	for _, v := range x.vectors {
		unit(v)
	}
	return x, nil
}

// spaced takes names of programs apart.
func spaced(name string) string {
	return strings.NewReplacer("_", " ", "/", " ", ".", " ").Replace(name)
}

// group finds the servers.
func (x *Index) group() {
	number := map[string]int{}
	for _, t := range x.tools {
		n, ok := number[t.Server]
		if !ok {
			n = len(x.servers)
			number[t.Server] = n
			x.servers = append(x.servers, t.Server)
		}
		x.of = append(x.of, n)
	}
}

// index counts the words of all tools.
func (x *Index) index() {
	a := lexical.NewAnalyzer()
	w := &lexical.Default
	var counts []lexical.Counts
	var touched []uint32
	for doc, t := range x.tools {
		var lengths [lexical.NumFields]int
		for field, text := range map[lexical.Field]string{
			lexical.Name: spaced(t.Name), lexical.Description: t.Description, lexical.Tags: spaced(t.Server + " " + strings.Join(t.Arguments, " ")),
		} {
			a.Each([]byte(text), func(pieces []lexical.Piece) {
				for _, p := range pieces {
					for int(p.Term) >= len(counts) {
						counts = append(counts, lexical.Counts{})
					}
					if counts[p.Term] == (lexical.Counts{}) {
						touched = append(touched, p.Term)
					}
					counts[p.Term][field]++
					if p.Role == lexical.Word || p.Role == lexical.Part {
						lengths[field]++
					}
				}
			})
		}
		for len(x.terms) < a.Len() {
			x.terms = append(x.terms, posting{})
		}
		norms := w.Norms(lengths)
		for _, term := range touched {
			p := &x.terms[term]
			p.docs = append(p.docs, uint32(doc))
			p.impacts = append(p.impacts, float32(w.Impact(counts[term], &norms)))
			counts[term] = lexical.Counts{}
		}
		touched = touched[:0]
	}
	for i := range x.terms {
		form := string(a.Term(uint32(i)))
		x.byForm[form] = uint32(i)
		stem := lexical.Stem(form)
		x.byStem[stem] = append(x.byStem[stem], uint32(i))
	}
}

// lexical scores all tools by the words of a text.
func (x *Index) lexical(q lexical.Query) []float32 {
	scores := make([]float32, len(x.tools))
	impact := make([]float32, len(x.tools))
	var touched []uint32
	for _, g := range q.Groups {
		for _, term := range x.byStem[g.Stem] {
			factor := float32(lexical.Default.Stem)
			if slices.ContainsFunc(g.Exact, func(form string) bool { n, ok := x.byForm[form]; return ok && n == term }) {
				factor = 1
			}
			for i, doc := range x.terms[term].docs {
				if impact[doc] == 0 {
					touched = append(touched, doc)
				}
				impact[doc] += factor * x.terms[term].impacts[i]
			}
		}
		weight, k1 := float32(g.Weight*lexical.IDF(len(x.tools), len(touched))), float32(lexical.Default.K1)
		for _, doc := range touched {
			scores[doc] += weight * impact[doc] / (impact[doc] + k1)
			impact[doc] = 0
		}
		touched = touched[:0]
	}
	return scores
}
