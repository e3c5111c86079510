package settings_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// HC-06: the order, dropping one source after the other; addresses of models do not count.
func TestHC06AccountOrder(t *testing.T) {
	p := newPlace(t)
	p.put(t, "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_BASE:"http://127.0.0.1:4/",OPENSPACE_API_KEY:"k4"}}`)
	p.write(t, p.configFile(), `{"api_base":"http://127.0.0.1:3","api_key":"k3"}`)
	p.dotenv(t, "OPENSPACE_API_BASE=http://127.0.0.1:2\nOPENSPACE_API_KEY=k2\n")
	others := []string{"OPENAI_BASE_URL=http://127.0.0.1:8", "OPENAI_API_BASE=http://127.0.0.1:9"}
	check := func(s *settings.Settings, base, key string, source settings.Source) {
		t.Helper()
		a, err := s.Account()
		if err != nil || a.Base.Value != base || a.Key.Value != key || a.Base.Source != source {
			t.Errorf("got %+v, %v, want %s %s from %s", a, err, base, key, source)
		}
	}
	env := append(others, "OPENSPACE_API_BASE=http://127.0.0.1:1", "OPENSPACE_API_KEY=k1")
	s := p.settings(env...)
	s.Note(settings.Value{Name: "api_base", Value: "http://127.0.0.1:0", Source: settings.Flag})
	check(s, "http://127.0.0.1:0", "k1", settings.Flag)
	check(p.settings(env...), "http://127.0.0.1:1", "k1", settings.Env)
	check(p.settings(others...), "http://127.0.0.1:2", "k2", settings.DotEnv)
	p.dotenv(t, "")
	check(p.settings(others...), "http://127.0.0.1:3", "k3", settings.Config)
	p.write(t, p.configFile(), "{}")
	check(p.settings(others...), "http://127.0.0.1:4", "k4", settings.FromHost)
	p.put(t, "~/.openclaw/openclaw.json", "{}")
	check(p.settings(others...), settings.DefaultAPIBase, "", settings.Default)
}

// A key goes where another source says only with a word about it, and never where a project says that is not this machine.
func TestAccountFromTwoPlaces(t *testing.T) {
	const away = "https://registry.example/api/v1"
	tests := []struct {
		name, environ, dotenv, config, mcp string
		note, fails                        string
	}{
		{name: "one place", environ: "OPENSPACE_API_KEY=k OPENSPACE_API_BASE=" + away},
		{name: "key alone", environ: "OPENSPACE_API_KEY=k"},
		{name: "no key", environ: "OPENSPACE_API_BASE=" + away},
		{name: "environment and config", environ: "OPENSPACE_API_KEY=k", config: `{"api_base":"` + away + `"}`, note: "the key of OPENSPACE_API_KEY goes to the registry of "},
		{name: "environment and .env", environ: "OPENSPACE_API_KEY=k", dotenv: "OPENSPACE_API_BASE=" + away, fails: "the registry address of .env would get the key of OPENSPACE_API_KEY"},
		{name: "this machine", environ: "OPENSPACE_API_KEY=k", dotenv: "OPENSPACE_API_BASE=http://localhost:1/api/v1", note: "goes to the registry of .env"},
		{name: ".env alone", dotenv: "OPENSPACE_API_KEY=k\nOPENSPACE_API_BASE=" + away, note: "the key is that of .env and goes to " + away},
		{name: "project's file", environ: "OPENSPACE_API_KEY=k", mcp: `"OPENSPACE_API_BASE":"` + away + `"`, fails: ".mcp.json mcpServers.openspace.env.OPENSPACE_API_BASE would get"},
		{name: "project's file alone", mcp: `"OPENSPACE_API_BASE":"` + away + `","OPENSPACE_API_KEY":"k"`, note: "the key is that of claude-code"},
		{name: "password in the address", environ: "OPENSPACE_API_KEY=k", config: `{"api_base":"https://u:pw@registry.example"}`, note: "https://hidden@registry.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.dotenv(t, tt.dotenv)
			if tt.config != "" {
				p.write(t, p.configFile(), tt.config)
			}
			if tt.mcp != "" {
				p.put(t, ".mcp.json", `{"mcpServers":{"openspace":{"env":{`+tt.mcp+`}}}}`)
			}
			a, err := p.settings(strings.Fields(tt.environ)...).Account()
			if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("got error %v, want %q", err, tt.fails)
			}
			notes := strings.Join(a.Notes(), "; ")
			if err == nil && (tt.note == "") != (notes == "") || err == nil && !strings.Contains(notes, tt.note) {
				t.Errorf("got notes %q, want %q", notes, tt.note)
			}
		})
	}
}
