package main

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// checkServers shows the MCP servers that tasks may use, and what is wrong with how they and the older files are written.
// It starts none.
func (a *app) checkServers(_ context.Context, env *cli.Env) error {
	old := env.Settings.Grounding()
	var hosts []string
	if v, ok := env.Settings.Lookup("mcp_hosts"); ok {
		hosts = strings.FieldsFunc(v.Value, func(r rune) bool { return r == ',' || r == ' ' })
	}
	servers, problems := env.Settings.MCPServers(hosts, old)
	for _, s := range servers {
		value := s.Kind + " " + s.Command
		if u, err := url.Parse(s.URL); err == nil && s.URL != "" {
			value = s.Kind + " " + u.Scheme + "://" + u.Host + u.Path // a query may have a key in it
		}
		if err := env.Out.Emit(wire.Setting{Name: "mcp_servers." + s.Name, Value: value, Source: sourceOf(env, s.Where), Where: s.Where}); err != nil {
			return err
		}
	}
	var notes []string
	for _, p := range append(old.Problems, problems...) {
		notes = append(notes, p.String())
	}
	return emitNotes(env, "mcp-servers", skill.Warning, notes)
}

// sourceOf tells by where a server stands what kind of place that is.
func sourceOf(env *cli.Env, where string) string {
	switch {
	case strings.HasPrefix(where, "OPENSPACE_"):
		return string(settings.Env)
	case strings.HasPrefix(where, filepath.Dir(env.Settings.ConfigFile())):
		return string(settings.Config)
	}
	return string(settings.FromHost)
}
