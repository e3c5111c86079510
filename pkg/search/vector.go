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
	parent := ctx
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
	vector = vectors[0]
	if vector != nil && !e.set.Fits(len(vector)) {
		return e.otherWidth(parent, vector)
	}
	return vector, ""
}

// otherWidth opens the indexes again after the model has answered with another width than that of the skills' vectors,
// which makes them anew: the endpoint serves another model under the same name.
func (e *Engine) otherWidth(ctx context.Context, vector []float32) ([]float32, string) {
	if err := e.openIndexes(ctx, index.Open); err != nil {
		return nil, fmt.Sprintf("searched without vectors: %v", err)
	}
	if !e.set.Fits(len(vector)) {
		return nil, fmt.Sprintf("searched without vectors: those of the skills are not %d numbers wide like that of the query", len(vector))
	}
	return vector, fmt.Sprintf("%s gives vectors of %d numbers now: those of the skills were made anew", e.config.Embedder.Model(), len(vector))
}

// told returns what the embedder has to say since it was last asked.
func (e *Engine) told() []string {
	for _, m := range []embed.Embedder{e.config.Queries, e.config.Embedder} {
		if w, ok := m.(interface{ Warnings() []string }); ok {
			return w.Warnings()
		}
	}
	return nil
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
