package embed

import (
	"context"
	"errors"
	"strings"
)

// Text is what is embedded: a skill, or a query, which is all body.
type Text struct{ Name, Description, Body string }

// Query is the text of a query.
func Query(s string) Text { return Text{Body: s} }

// Join returns t as one string, as it is sent to an endpoint: name and description on lines of their own, and
// after an empty line the body. Parts that are empty are left out.
func (t Text) Join() string {
	var b strings.Builder
	for i, s := range [3]string{t.Name, t.Description, t.Body} {
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
			if i == 2 {
				b.WriteByte('\n')
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

// Embedder makes vectors. All implementations are safe for concurrent use and pass the tests of package embedtest.
type Embedder interface {
	// Model names the model, so that vectors of different models are never compared: another name, another space.
	Model() string
	// Dim returns the width of the vectors; 0 as long as it is not known.
	Dim() int
	// Embed returns one vector for each text, in their order. They are finite and not zero, but not of any
	// length. A nil vector says that the text has none: it is empty, or the model knows no word of it. With
	// an error no vector is returned.
	Embed(ctx context.Context, texts []Text) ([][]float32, error)
}

var (
	// ErrAnswer is reported for an answer that cannot be trusted: too few vectors, another width, a zero or a NaN.
	ErrAnswer = errors.New("embedding endpoint gave a wrong answer")
	// ErrAuth is reported when the endpoint refuses the credentials.
	ErrAuth = errors.New("embedding endpoint refused the key")
	// ErrLimited is reported when the endpoint asks to come back later.
	ErrLimited = errors.New("embedding endpoint is busy")
	// ErrUnreachable is reported when no answer came.
	ErrUnreachable = errors.New("embedding endpoint did not answer")
)
