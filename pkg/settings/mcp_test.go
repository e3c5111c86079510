package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// at is a home and a working directory with files in them, by path.
func at(t *testing.T, files map[string]string, environ ...string) *settings.Settings {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"home", "work"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range environ {
		environ[i] = strings.ReplaceAll(environ[i], "ROOT", root)
	}
	return settings.New(settings.Options{Dir: filepath.Join(root, "work"), Environ: append(environ, "HOME="+filepath.Join(root, "home"))})
}

func told(problems []settings.Problem) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Servers of every source, the strongest first; a project's are never among them, and neither is the suite itself.
func TestMCPServers(t *testing.T) {
	s := at(t, map[string]string{
		"home/.config/openspace/config.json":     `{"mcp_servers": {"files": {"command": "npx", "args": ["-y", "server", "~/docs"], "cwd": "~/x"}, "off": {"command": "x", "disabled": true}}}`,
		"home/.config/openspace/config_mcp.json": `{"mcpServers": {"files": {"command": "weaker"}, "old": {"url": "https://old.example/mcp", "auth_token": "${TOKEN}"}, "off": {"command": "y"}}}`,
		"home/.cursor/mcp.json":                  `{"mcpServers": {"cur": {"url": "https://c.example/sse", "headers": {"X-Key": "k"}}, "openspace": {"command": "openspace-mcp"}, "me": {"command": "/opt/openspace-mcp"}}}`,
		"home/.codex/config.toml":                "[mcp_servers.cod]\ncommand = \"cod\"\nstartup_timeout_sec = 5\ntool_timeout_sec = 7\nenabled_tools = [\"a\"]\n[mcp_servers.cod.env]\nA = \"${TOKEN:-none}\"\n",
		"home/.claude.json":                      `{"mcpServers": {"cla": {"type": "http", "url": "https://l.example/mcp"}}}`,
		"work/.mcp.json":                         `{"mcpServers": {"evil": {"command": "rm"}}}`,
		"work/.env":                              "OPENSPACE_MCP_SERVERS_JSON={\"bad\":{\"command\":\"rm\"}}\nOPENSPACE_MCP_HOSTS=all\n",
	}, "TOKEN=t0ken", `OPENSPACE_MCP_SERVERS_JSON={"mcpServers": {"env": {"command": "e", "env": {"K": "${TOKEN}", "N": 5}, "timeout": 90000}}}`)
	got, problems := s.MCPServers([]string{"cursor", "codex", "claude-code"}, s.Grounding())
	var lines []string
	for _, m := range got {
		lines = append(lines, fmt.Sprintf("%s %s %s%s%s%s%s %s %s %s", m.Name, m.Kind, m.Command, m.Args, m.Env, m.URL, m.Headers, m.Timeout, m.StartTimeout, m.Allow))
	}
	want := []string{
		"cla http []map[]https://l.example/mcpmap[] 0s 0s []",
		"cod stdio cod[]map[A:t0ken]map[] 7s 5s [a]",
		"cur sse []map[]https://c.example/ssemap[X-Key:k] 0s 0s []",
		"env stdio e[]map[K:t0ken N:5]map[] 1m30s 0s []",
		"files stdio npx[-y server ~/docs]map[]map[] 0s 0s []",
		"old http []map[]https://old.example/mcpmap[Authorization:Bearer t0ken] 0s 0s []",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if text := told(problems); !strings.Contains(text, "MCP servers of a project are not started: evil") || len(problems) != 1 {
		t.Errorf("got %s", text)
	}
	if warnings := strings.Join(s.Warnings(), "\n"); !strings.Contains(warnings, "OPENSPACE_MCP_SERVERS_JSON") || !strings.Contains(warnings, "OPENSPACE_MCP_HOSTS") {
		t.Errorf("got %s", warnings)
	}
	for _, m := range got {
		if secrets := m.Secrets(); (m.Name == "old") != slices.Equal(secrets, []string{"t0ken"}) && m.Name != "cur" {
			t.Errorf("%s: got %q", m.Name, secrets)
		}
	}
	if few, _ := s.MCPServers(nil, settings.Grounding{}); len(few) != 2 {
		t.Errorf("got %v without hosts and older files", few)
	}
}

// B12: what is wrong is named, and changes nothing else.
func TestMCPServerProblems(t *testing.T) {
	for name, c := range map[string]struct{ entry, problem string }{
		"unset variable":    {`{"command": "x", "env": {"A": "${NO_SUCH}"}}`, "mcp_servers.s.env.A: the variable NO_SUCH is not set, so the server is left out"},
		"of the host alone": {`{"command": "x", "args": ["${input:key}"]}`, "mcp_servers.s.args.0: ${input:key} is known to the host alone"},
		"nothing":           {`{}`, "mcp_servers.s: it has neither a command nor a url"},
		"no object":         {`7`, "mcp_servers.s: want an object"},
		"websocket":         {`{"ws_url": "ws://x"}`, "mcp_servers.s: WebSocket is not spoken"},
		"no text":           {`{"command": ["x"]}`, "mcp_servers.s.command: want a text"},
		// with a server all the same
		"bad type":    {`{"url": "https://x.example/", "type": "websocket"}`, "mcp_servers.s.type: want stdio, http or sse; it counts as not set"},
		"unknown key": {`{"command": "x", "timout": 5}`, `mcp_servers.s: unknown key "timout", did you mean "timeout"?`},
		"bad time":    {`{"command": "x", "timeout": -1}`, "mcp_servers.s.timeout: want seconds"},
		"bad args":    {`{"command": "x", "args": "-y"}`, "mcp_servers.s.args: want a list of texts"},
		"bad env":     {`{"command": "x", "env": {"A": {}}}`, "mcp_servers.s.env: want an object of texts"},
		"bad size":    {`{"command": "x", "max_message_bytes": 1}`, "mcp_servers.s.max_message_bytes: want a number of bytes"},
		"fine":        {`{"command": "x", "max_message_bytes": 100000, "timeout": "90s", "args": [], "enabled": true, "description": "d"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := at(t, map[string]string{"home/.config/openspace/config.json": `{"mcp_servers": {"s": ` + c.entry + `, "other": {"command": "y"}}}`})
			got, problems := s.MCPServers([]string{}, s.Grounding())
			text := told(problems)
			if c.problem == "" && text != "" || !strings.Contains(text, c.problem) || strings.Count(text, "\n") > 1 {
				t.Errorf("got %s, want %s", text, c.problem)
			}
			_, with := map[string]bool{"bad type": true, "unknown key": true, "bad time": true, "bad args": true, "bad env": true, "bad size": true, "fine": true}[name]
			if n := len(got); n != 1+map[bool]int{true: 1}[with] {
				t.Errorf("got %d servers", n)
			}
		})
	}
	s := at(t, map[string]string{"home/.config/openspace/config.json": `{"mcp_servers": ["x"], "limit": 5}`, "home/.config/openspace/config_mcp.json": `{"mcpServers": [1]}`},
		`OPENSPACE_MCP_SERVERS_JSON={"mcpServers": {"a": {"command": "x"}, "": {"command": "y"}}, "servers2": {}}`)
	old := s.Grounding()
	got, problems := s.MCPServers(nil, old)
	text := told(problems) + "\n" + told(old.Problems)
	for _, want := range []string{
		"config.json: mcp_servers: want an object of servers by name", "config_mcp.json: mcpServers: want an object", "OPENSPACE_MCP_SERVERS_JSON: servers2: unknown key beside mcpServers",
		"OPENSPACE_MCP_SERVERS_JSON: mcpServers.: a server needs a name",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %q", text, want)
		}
	}
	if v, _ := s.Lookup("limit"); len(got) != 1 || got[0].Name != "a" || s.Err() != nil || v.Value != "5" {
		t.Errorf("got %v, %v, limit %s", got, s.Err(), v.Value)
	}
	s = at(t, nil, "OPENSPACE_MCP_SERVERS_JSON={broken")
	if _, problems := s.MCPServers([]string{"nobody"}, s.Grounding()); !strings.Contains(told(problems), "OPENSPACE_MCP_SERVERS_JSON:1:") || !strings.Contains(told(problems), `unknown host "nobody"`) {
		t.Errorf("got %s", told(problems))
	}
}

// B34, B35: the older files, merged; one bad value changes nothing else.
func TestGrounding(t *testing.T) {
	s := at(t, map[string]string{
		"home/.config/openspace/config_grounding.json": `{"_comment_a": "x", "enabled_backends": [{"name": "shell"}, {"name": "MCP", "provider_cls": "a.B"}], "tool_search": {"max_tools": 25, "search_mode": "Keyword", "max_tool": 3},
			"tool_cache_ttl": 600, "mcp": {"timeout": 500, "auto_install": true}, "tool_quality": {"enable_quality_ranking": false}, "gui": 5}`,
		"home/.config/openspace/config_security.json": `{"security_policies": {"global": {"allow_shell_commands": true, "blocked_commands": ["rm"]}, "backend": {"shell": {"blocked_commands": ["dd"]}, "web": {"allowed_domains": "x"}}}}`,
		"own.json": `{"tool_search": {"max_tools": 30}, "log_level": "DEBUG"}`,
	}, "OPENSPACE_CONFIG_PATH=ROOT/own.json", `OPENSPACE_CONFIG_JSON={"mcp": {"servers": {"a": {"command": "x"}}}}`)
	g := s.Grounding()
	if g.MaxTools != 30 || !g.WordsOnly || !g.NoRanking || g.CacheAge != 10*time.Minute || g.StartTimeout != 0 || g.NoMCP || g.Err != nil || len(g.Files) != 3 {
		t.Errorf("got %+v", g)
	}
	if want := `{"allow_shell_commands":true,"blocked_commands":["dd"]}`; string(g.Rules) != want {
		t.Errorf("got rules %s, want %s", g.Rules, want)
	}
	text := told(g.Problems)
	for _, want := range []string{
		`config_grounding.json: unknown key "tool_search.max_tool", did you mean "tool_search.max_tools"?`, "config_grounding.json: mcp.timeout: want a whole number from 1 to 300; it counts as not set",
		"config_grounding.json: gui: want an object", "config_security.json: security_policies.backend.web.allowed_domains: want a list",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %s", text, want)
		}
	}
	if len(g.Problems) != 4 {
		t.Errorf("got\n%s", text)
	}
	if servers, problems := s.MCPServers(nil, g); len(servers) != 1 || servers[0].Where != "OPENSPACE_CONFIG_JSON mcp.servers.a" || len(problems) > 0 {
		t.Errorf("got %+v, %v", servers, problems)
	}
	if g := at(t, nil, "OPENSPACE_BACKEND_SCOPE=shell, web", "OPENSPACE_CONFIG_PATH=/no/such").Grounding(); !g.NoMCP || len(g.Problems) != 1 {
		t.Errorf("got %+v", g)
	}
	broken := at(t, map[string]string{"home/.config/openspace/config_security.json": `{"security_policies": `, "home/.config/openspace/config_grounding.json": `[]`}).Grounding()
	if broken.Err == nil || len(broken.Problems) != 2 {
		t.Errorf("got %+v", broken)
	}
}

func FuzzMCPServers(f *testing.F) {
	f.Add(`{"a": {"command": "x", "args": ["${A:-b}"], "env": {"B": 1}}, "b": {"url": "http://x", "auth_token": "${T}", "timeout": 1e300}}`)
	f.Add(`{"tool_search": {"max_tools": 2.5}, "mcpServers": {"x": null}, "security_policies": {"global": []}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := settings.New(settings.Options{Dir: "/", Environ: []string{"HOME=/nowhere", "OPENSPACE_MCP_SERVERS_JSON=" + text, "OPENSPACE_CONFIG_JSON=" + text}})
		servers, _ := s.MCPServers(nil, s.Grounding())
		for _, m := range servers {
			if m.Kind == "" || m.Command == "" && m.URL == "" {
				t.Errorf("got %+v", m)
			}
		}
	})
}
