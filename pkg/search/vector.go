package search

import (
	"context"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/index"
)

// documents lets an embedder embed the documents of an index.
type documents struct{ embed.Embedder }

// Embed implements index.Embedder.
func (d documents) Embed(ctx context.Context, docs []index.Document) ([][]float32, error) {
	texts := make([]embed.Text, len(docs))
	for i, doc := range docs {
		texts[i] = embed.Text{Name: doc.Name, Description: doc.Description, Body: string(doc.Body)}
	}
	return d.Embedder.Embed(ctx, texts)
}

const (
	// nearest is how many skills the vectors add to the candidates, at least.
	nearest = 100
	// minCosine is the cosine from which on a skill that has no word of the query may be a hit: below it, the
	// nearest skills of a query that is about nothing here begin.
	minCosine = 0.45
)

const (
	queryTimeout = 5 * time.Second  // for the vector of a query
	restAfter    = 30 * time.Second // how long an endpoint that failed is not asked again
)

// vectorOf returns the vector of a query, nil when there is none. An endpoint that fails costs the vectors and a
// warning, not the search.
func (e *Engine) vectorOf(ctx context.Context, query string) (vector []float32, warning string) {
	if e.config.Embedder == nil || !e.set.Embedded() || time.Now().Before(e.resting) {
		return nil, ""
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	model := e.config.Queries
	if model == nil {
		model = e.config.Embedder
	}
	vectors, err := model.Embed(ctx, []embed.Text{embed.Query(query)})
	if err != nil {
		e.resting = time.Now().Add(restAfter)
		return nil, fmt.Sprintf("searched without vectors: %v", err)
	}
	return vectors[0], ""
}

// near returns the skills nearest to the query's vector.
func (e *Engine) near(vector []float32, limit int) (refs []index.Ref, err error) {
	if vector == nil {
		return nil, nil
	}
	matches, err := e.set.Near(vector, max(nearest, rough*limit))
	for _, m := range matches {
		refs = append(refs, m.Ref)
	}
	return refs, err
}
