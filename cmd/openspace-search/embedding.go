package main

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/openai"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The values of --embedding.
const (
	autoEmbedding    = "auto"
	builtinEmbedding = "builtin"
	openaiEmbedding  = "openai"
	noEmbedding      = "none"
)

// remoteTimeout bounds one call of an embedding endpoint with all its retries.
const remoteTimeout = 15 * time.Second

// embedders set what makes the vectors: the model inside the program, unless an endpoint is set up for it. The keys
// of other uses (OPENROUTER_API_KEY, OPENAI_API_KEY) count only when --embedding openai says so, because the texts of
// all skills go where the key goes.
func (o *options) embedders(env *cli.Env, to *search.Config) error {
	c, found := endpoint(env.Environ, *o.embedding == openaiEmbedding)
	switch {
	case *o.embedding == noEmbedding:
		return nil
	case *o.embedding == openaiEmbedding && !found:
		return wire.Errorf(wire.Usage, "--embedding openai needs an endpoint").
			WithHint("set EMBEDDING_BASE_URL or EMBEDDING_API_KEY, OPENROUTER_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL in the environment")
	case *o.embedding == builtinEmbedding, !found:
		model, err := embed.Builtin()
		to.Embedder = model
		return err
	}
	client, err := openai.New(c)
	if err != nil {
		return wire.Errorf(wire.Usage, "embedding endpoint: %w", err)
	}
	to.Embedder = embed.NewCache(filepath.Join(env.Settings.Home(), "index", "embed"), client)
	to.Queries = client // a query is rarely asked twice, and each would add to the cache
	return nil
}

// endpoint returns the OpenAI-compatible endpoint that the environment names; others: also by the keys of other uses.
// Key and address always come from the same place, so that no key goes to a foreign host, and never from a .env, which
// may have come with somebody else's project.
func endpoint(environ []string, others bool) (c openai.Config, found bool) {
	get := func(name string) (value string) {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				value = strings.TrimSpace(v)
			}
		}
		return value
	}
	c = openai.Config{Model: "text-embedding-3-small", Timeout: remoteTimeout}
	switch {
	case get("EMBEDDING_BASE_URL") != "" || get("EMBEDDING_API_KEY") != "":
		c.BaseURL, c.Key = cmp.Or(get("EMBEDDING_BASE_URL"), openaiBase), get("EMBEDDING_API_KEY")
	case others && get("OPENROUTER_API_KEY") != "":
		c.BaseURL, c.Key, c.Model = openrouterBase, get("OPENROUTER_API_KEY"), "openai/"+c.Model
	case others && (get("OPENAI_API_KEY") != "" || get("OPENAI_BASE_URL") != ""): // a server of one's own needs no key
		c.BaseURL, c.Key = cmp.Or(get("OPENAI_BASE_URL"), openaiBase), get("OPENAI_API_KEY")
	default:
		return c, false
	}
	c.Model = cmp.Or(get("EMBEDDING_MODEL"), c.Model)
	return c, true
}

const (
	openaiBase     = "https://api.openai.com/v1"
	openrouterBase = "https://openrouter.ai/api/v1"
)
