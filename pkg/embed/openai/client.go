// Package openai asks an OpenAI-compatible endpoint for vectors. docs/embedding.md says what is sent and how
// answers are checked. It stands apart from package embed so that a program without it links no network.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
)

// Config says where an OpenAI-compatible endpoint is and how to use it.
type Config struct {
	BaseURL   string            // as docs/embedding.md says: with or without / at the end, /v1 is added when there is no path
	Key       string            // may be empty: a local server needs none
	Model     string            // as the endpoint names it
	Dim       int               // width to ask for; 0: what the model gives, and nothing is asked
	MaxTokens int               // of one text; 0: 8,191
	Batch     int               // texts in one request; 0: 96
	Timeout   time.Duration     // of one call of Embed with all its retries; 0: a minute
	Pause     time.Duration     // before the first retry, twice as long before the next; 0: half a second
	Transport http.RoundTripper // nil: the usual one
}

const (
	defaultTokens  = 8191
	defaultBatch   = 96
	defaultTimeout = time.Minute
	defaultPause   = 500 * time.Millisecond
	batchBytes     = 300_000 // bytes of texts in one request
	atOnce         = 4       // requests under way
	mostTold       = 5       // warnings
	maxNamed       = 255     // bytes of a model's name with its endpoint
)

// Client is an [embed.Embedder] that asks an endpoint.
type Client struct {
	config Config
	url    string
	host   string // of it, for messages
	name   string
	client *http.Client

	mu       sync.Mutex
	dim      int // of the first answer
	batch    int // texts in one request: less after a refusal
	warnings []string
}

// New checks the configuration. It sends nothing.
func New(c Config) (*Client, error) {
	base, err := baseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Model == "" {
		return nil, errors.New("no embedding model is named")
	}
	for _, d := range []struct {
		v     *int
		value int
	}{{&c.MaxTokens, defaultTokens}, {&c.Batch, defaultBatch}} {
		if *d.v <= 0 {
			*d.v = d.value
		}
	}
	for _, d := range []struct {
		v     *time.Duration
		value time.Duration
	}{{&c.Timeout, defaultTimeout}, {&c.Pause, defaultPause}} {
		if *d.v <= 0 {
			*d.v = d.value
		}
	}
	name := c.Model + "@" + base.Host + base.Path
	if c.Dim > 0 {
		name += fmt.Sprintf("#%d", c.Dim)
	}
	if len(name) > maxNamed {
		return nil, fmt.Errorf("the embedding model and its endpoint have %d bytes together, more than %d", len(name), maxNamed)
	}
	client := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{config: c, url: base.String() + "/embeddings", host: base.Host, name: name, client: client, batch: c.Batch}, nil
}

// baseURL brings the address of an endpoint into its one form.
func baseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the embedding endpoint must be an http or https address without a query and without a password")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/embeddings")
	if u.Path == "" {
		u.Path = "/v1"
	}
	u.RawPath = ""
	return u, nil
}

// Model implements [embed.Embedder]: the model at its endpoint, and the width if one is asked for.
func (r *Client) Model() string { return r.name }

// Dim implements [embed.Embedder]: the width of the first answer.
func (r *Client) Dim() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dim
}

// Warnings returns what the user should know since the last call: texts that were cut, a width that was not
// the one asked for.
func (r *Client) Warnings() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.warnings
	r.warnings = nil
	if n := len(w) - mostTold; n > 0 {
		w = append(w[:mostTold:mostTold], fmt.Sprintf("the embedding endpoint: %d more warnings like these", n))
	}
	return w
}

func (r *Client) warn(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// item is one text on its way.
type item struct {
	label, text string
	vector      []float32
}

// Embed implements [embed.Embedder]. Errors match [embed.ErrAuth], [embed.ErrLimited], [embed.ErrUnreachable]
// or [embed.ErrAnswer] and name the host; the vectors that were made until then are returned with them.
func (r *Client) Embed(ctx context.Context, texts []embed.Text) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	var items []*item
	places := make([]*item, len(texts))
	for i, t := range texts {
		if s := strings.TrimSpace(t.Join()); s != "" {
			places[i] = &item{label: label(t), text: r.cut(label(t), s)}
			items = append(items, places[i])
		}
	}
	err := r.all(ctx, items)
	if err != nil && !slices.ContainsFunc(items, func(it *item) bool { return it.vector != nil }) {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, p := range places {
		if p != nil {
			out[i] = p.vector
		}
	}
	return out, err
}

// all sends the items in batches, several at once. The first error ends the others.
func (r *Client) all(ctx context.Context, items []*item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	room := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	var once sync.Once
	var first error // says more than the end of ctx, which it may be due to
	for len(items) > 0 && ctx.Err() == nil {
		room <- struct{}{}
		n := r.next(items)
		batch := items[:n]
		items = items[n:]
		wg.Go(func() {
			defer func() { <-room }()
			if err := r.send(ctx, batch); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	wg.Wait()
	if first != nil || ctx.Err() == nil {
		return first
	}
	err := context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // between two requests
		err = fmt.Errorf("%w: %s: %w", embed.ErrUnreachable, r.host, err)
	}
	return err
}

// next returns how many of the items go into the next request.
func (r *Client) next(items []*item) int {
	r.mu.Lock()
	most := min(r.batch, len(items))
	r.mu.Unlock()
	size := 0
	for n, it := range items[:most] {
		if size += len(it.text); size > batchBytes && n > 0 {
			return n
		}
	}
	return most
}

const cuts = 6 // times that a single refused text is cut to half

// send asks for one batch. A batch that the endpoint refuses as it is is halved; a single text is cut.
func (r *Client) send(ctx context.Context, batch []*item) error {
	err := r.ask(ctx, batch)
	var refused *refusedError
	if !errors.As(err, &refused) {
		return err
	}
	if len(batch) > 1 {
		half := len(batch) / 2
		r.mu.Lock()
		r.batch = min(r.batch, max(1, half))
		r.mu.Unlock()
		if err := r.send(ctx, batch[:half]); err != nil {
			return err
		}
		return r.send(ctx, batch[half:])
	}
	for range cuts {
		it := batch[0]
		if len(it.text) < 64 {
			break
		}
		it.text = strings.ToValidUTF8(it.text[:len(it.text)/2], "")
		if err = r.ask(ctx, batch); !errors.As(err, &refused) {
			r.warn("%s was cut to %d bytes, because the embedding endpoint refused more", it.label, len(it.text))
			return err
		}
	}
	if r.ask(ctx, []*item{{text: "skill"}}) != nil {
		return err
	}
	r.warn("%s has no vector: %v", batch[0].label, err) // it is the text that is refused, not the way of asking
	return nil
}

// label names a text in a warning.
func label(t embed.Text) string {
	s := t.Name
	if s == "" {
		s, _, _ = strings.Cut(strings.TrimSpace(t.Join()), "\n")
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s[:min(len(s), 60)], ""))
}

// cut returns s, or as much of it as has at most MaxTokens tokens. Tokens are not counted, which needs the
// model's own table, but estimated from above: three bytes of ASCII, or two of anything else, are one.
func (r *Client) cut(label, s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	sixths := 0
	for i, c := range s {
		if c < 0x80 {
			sixths += 2
		} else {
			sixths += 3 * len(string(c))
		}
		if sixths > 6*r.config.MaxTokens {
			r.warn("%s was cut from %d to %d bytes, the limit of the embedding model", label, len(s), i)
			return s[:i]
		}
	}
	return s
}
