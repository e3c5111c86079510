package settings_test

import (
	"slices"
	"testing"
)

// Secrets of an entry are known wherever they stand in it, and blanks that a program is given stay.
func TestMCPServerSecrets(t *testing.T) {
	s := at(t, map[string]string{"home/.config/openspace/config.json": `{"mcp_servers": {
		"local": {"command": " run ", "args": ["--api-key", "arg-one", "--token=arg-two", "-e", "DB_PASSWORD=arg-three", "--env=API_KEY=arg-four", "--header", "Authorization: Bearer ${OWN}",
			"--key-file", "/keys/one", "--token", "--verbose", " - ", ""],
			"env": {"GITLAB_PAT": "env-one", "HEADERS": "{\"Authorization\": \"Bearer env-two\", \"X\": \"plain\"}", "KEY_PATH": "/keys/two", "SEP": " ", "PLAIN": "plain"}},
		"far": {"url": "https://user:url-one@h.example/mcp?api_key=url%2Btwo&q=plain", "headers": {"Authorization": " Token head-one", "X-Api-Key": "head-two ", "Accept": "plain"}}}}`}, "OWN=arg-five")
	servers, problems := s.MCPServers(nil, s.Grounding())
	if len(servers) != 2 || len(problems) > 0 {
		t.Fatalf("got %v, %v", servers, problems)
	}
	far, local := servers[0], servers[1]
	if got, want := far.Secrets(), []string{"head-one", "head-two", "url%2Btwo", "url+two", "url-one"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := []string{"arg-five", "arg-four", "arg-one", "arg-three", "arg-two", "env-one", "env-two"}
	if got := local.Secrets(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(local.Args); local.Command != "run" || local.Args[n-2] != " - " || local.Args[n-1] != "" || local.Env["SEP"] != " " || far.Headers["X-Api-Key"] != "head-two" {
		t.Errorf("got %v", local)
	}
}
