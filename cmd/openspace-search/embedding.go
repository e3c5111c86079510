package main

import (
	"path/filepath"
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

// embedder returns what makes the vectors: an endpoint when one is set up, else the model inside the program.
func (o *options) embedder(env *cli.Env) (embed.Embedder, error) {
	c, found := endpoint(env)
	switch {
	case *o.embedding == noEmbedding:
		return nil, nil
	case *o.embedding == openaiEmbedding && !found:
		return nil, wire.Errorf(wire.Usage, "--embedding openai needs an endpoint").
			WithHint("set EMBEDDING_BASE_URL or EMBEDDING_API_KEY (or OPENROUTER_API_KEY, or OPENAI_API_KEY)")
	case *o.embedding == builtinEmbedding, !found:
		return embed.Builtin()
	}
	remote, err := embed.NewRemote(c)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "embedding endpoint: %w", err)
	}
	return embed.NewCache(filepath.Join(env.Settings.Home(), "index", "embed"), remote), nil
}

// endpoint returns the OpenAI-compatible endpoint that the environment names. Key and address always come from the
// same place, so that no key goes to a foreign host.
func endpoint(env *cli.Env) (c embed.RemoteConfig, found bool) {
	get := env.Settings.Getenv
	c = embed.RemoteConfig{Model: "text-embedding-3-small", Timeout: remoteTimeout}
	switch {
	case get("EMBEDDING_BASE_URL") != "" || get("EMBEDDING_API_KEY") != "":
		c.BaseURL, c.Key = or(get("EMBEDDING_BASE_URL"), openaiBase), get("EMBEDDING_API_KEY")
	case get("OPENROUTER_API_KEY") != "":
		c.BaseURL, c.Key, c.Model = openrouterBase, get("OPENROUTER_API_KEY"), "openai/"+c.Model
	case get("OPENAI_API_KEY") != "":
		c.BaseURL, c.Key = or(get("OPENAI_BASE_URL"), openaiBase), get("OPENAI_API_KEY")
	default:
		return c, false
	}
	c.Model = or(get("EMBEDDING_MODEL"), c.Model)
	return c, true
}

const (
	openaiBase     = "https://api.openai.com/v1"
	openrouterBase = "https://openrouter.ai/api/v1"
)

func or(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}
