// Package chat opens the chat model that the settings of a command name.
package chat

import (
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Open returns the model of that name, "" for the one that the settings name, and the secrets that it is asked with. What a user may not expect is said
// as a warning. A model that cannot be asked is a usage error.
func Open(env *cli.Env, name string) (llm.Model, []string, error) {
	account, err := env.Settings.Model(name)
	for _, p := range env.Settings.HostProblems() {
		env.Out.WarnOnce(p.String())
	}
	if err != nil {
		return nil, nil, wire.Errorf(wire.Usage, "%w", err)
	}
	for _, note := range account.Notes() {
		env.Out.WarnOnce(note)
	}
	model, err := llm.Open(llm.Options{
		Model: account.Name, Base: account.Base.Value, Key: account.Key.Value, Headers: account.Headers, Config: account.Config, Timeout: account.Timeout,
		Log: func(text string) { env.Warn("%s", text) },
	})
	if err != nil {
		return nil, nil, wire.Errorf(wire.Usage, "%w", err)
	}
	return model, account.Secrets(), nil
}

// Mask returns a mask for secrets that are known and for those in variables whose names say so.
func Mask(env *cli.Env, known []string) *tools.Mask {
	for _, kv := range env.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok && value != "" && settings.Secret(name) {
			known = append(known, value)
		}
	}
	return tools.NewMask(known...)
}
