package main

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/embed"
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

// embedder returns what makes the vectors: the model inside the program, unless an endpoint is set up for it. The keys
// of other uses (OPENROUTER_API_KEY, OPENAI_API_KEY) count only when --embedding openai says so, because the texts of
// all skills go where the key goes.
func (o *options) embedder(env *cli.Env) (embed.Embedder, error) {
	c, found := endpoint(env.Environ, *o.embedding == openaiEmbedding)
	switch {
	case *o.embedding == noEmbedding:
		return nil, nil
	case *o.embedding == openaiEmbedding && !found:
		return nil, wire.Errorf(wire.Usage, "--embedding openai needs an endpoint").
			WithHint("set EMBEDDING_BASE_URL or EMBEDDING_API_KEY, OPENROUTER_API_KEY or OPENAI_API_KEY in the environment")
	case *o.embedding == builtinEmbedding, !found:
		return embed.Builtin()
	}
	remote, err := embed.NewRemote(c)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "embedding endpoint: %w", err)
	}
	return embed.NewCache(filepath.Join(env.Settings.Home(), "index", "embed"), remote), nil
}

// endpoint returns the OpenAI-compatible endpoint that the environment names; others: also by the keys of other uses.
// Key and address always come from the same place, so that no key goes to a foreign host, and never from a .env, which
// may have come with somebody else's project.
func endpoint(environ []string, others bool) (c embed.RemoteConfig, found bool) {
	get := func(name string) (value string) {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				value = strings.TrimSpace(v)
			}
		}
		return value
	}
	c = embed.RemoteConfig{Model: "text-embedding-3-small", Timeout: remoteTimeout}
	switch {
	case get("EMBEDDING_BASE_URL") != "" || get("EMBEDDING_API_KEY") != "":
		c.BaseURL, c.Key = cmp.Or(get("EMBEDDING_BASE_URL"), openaiBase), get("EMBEDDING_API_KEY")
	case others && get("OPENROUTER_API_KEY") != "":
		c.BaseURL, c.Key, c.Model = openrouterBase, get("OPENROUTER_API_KEY"), "openai/"+c.Model
	case others && get("OPENAI_API_KEY") != "":
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
