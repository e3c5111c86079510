package hosts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/hosts"
	"github.com/openspace-dev/openspace/pkg/settings"
)

func uninstall(t *testing.T, o hosts.Options) {
	t.Helper()
	changes, err := hosts.Uninstall(o)
	if err == nil {
		err = hosts.Apply(changes)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const url = "http://127.0.0.1:8081/mcp"

// What was there comes back to the byte: objects that were empty, a file with nothing in it, the end of a file
// without an end of line, and another server of that name.
func TestGivenBack(t *testing.T) {
	tests := []struct{ name, host, before string }{
		{"no servers", "cursor", "{\"mcpServers\": {}}\n"},
		{"no servers of claude", "claude-code", "{\n  \"numStartups\": 5,\n  \"mcpServers\": {},\n  \"projects\": {\"/a\": {\"mcpServers\": {}}}\n}"},
		{"defaults of vscode", "vscode", "{\n\t\"servers\": {},\n\t\"inputs\": []\n}\n"},
		{"defaults of nanobot", "nanobot", "{\n  \"tools\": {\n    \"web\": {},\n    \"mcpServers\": {}\n  }\n}"},
		{"braces", "cursor", "{}"},
		{"braces on lines", "cursor", "{\r\n}\r\n// mine\r\n"},
		{"blank", "cursor", "\n"},
		{"a mark", "cursor", "\ufeff"},
		{"no entry", "cursor", "{\"mcpServers\": {\"openspace\": null}}"},
		{"no end of line", "codex", "model = \"x\""},
		{"comment", "codex", "# mine\r\n"},
		{"server elsewhere", "claude-code", "{\n  \"mcpServers\": {\n    \"openspace\": {\n      \"type\": \"http\", // mine\n      \"url\": \"" + url + "\"\n    }\n  }\n}\n"},
		{"server elsewhere, one line", "openclaw", "{ mcp: { servers: { openspace: { url: '" + url + "', transport: 'streamable-http' } } } }\n"},
		{"server elsewhere, codex", "codex", "[mcp_servers.openspace]\nurl = \"" + url + "\"\n[mcp_servers.openspace.http_headers]\nA = \"b\"\n\n[z]\na = 1\n"},
		{"other program", "cursor", `{"mcpServers": {"openspace": {"command": "uvx", "args": ["other"], "disabled": true}}}`},
		{"other program, codex", "codex", "[mcp_servers.openspace]\ncommand = \"npx\" # mine\nargs = [\n  \"-y\", # yes ]\n  'a\"]',\n]\n\n[z]\na = 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, tt.host, tt.before)
			o.Memo = filepath.Join(t.TempDir(), "a", "memo.json")
			install(t, o)
			entry, _ := settings.DocumentValue(o.Place.Config, []byte(content(t, o.Place.Config)), append(o.Place.Keys, "openspace")...)
			if e, _ := entry.(map[string]any); e["command"] != o.Command || e["url"] != nil || e["transport"] != nil {
				t.Errorf("got entry %v", entry)
			}
			if again := install(t, o); len(again) != 0 {
				t.Errorf("a second time: got %d changes", len(again))
			}
			o.Args = []string{"--tools=all"}
			install(t, o)
			uninstall(t, o)
			if got := content(t, o.Place.Config); got != tt.before {
				t.Errorf("got  %q\nwant %q", got, tt.before)
			}
			for _, path := range []string{o.Memo, filepath.Dir(o.Memo), o.Place.Skills} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s stays", path)
				}
			}
		})
	}
}

// When the host has written its file meanwhile, the entry that was there and the objects that were empty come back.
func TestGivenBackLater(t *testing.T) {
	tests := []struct{ host, before, want string }{
		{"claude-code", "{\n  \"n\": 5,\n  \"mcpServers\": {}\n}\n", "{\n  \"n\": 6,\n  \"mcpServers\": {}\n}\n"},
		{"claude-code", "{\n  \"n\": 5\n}\n", "{\n  \"n\": 6\n}\n"},
		{"cursor", `{"n": 5, "mcpServers": {"openspace": {"url": "x"}}}`, `{"n": 6, "mcpServers": {"openspace": {"url": "x"}}}`},
		{"codex", "n = 5 \"\n", ""},
		{"codex", "n = 5\n[mcp_servers.openspace]\nurl = \"x\"\n", "n = 6\n\n[mcp_servers.openspace]\nurl = \"x\"\n"},
	}
	for _, tt := range tests {
		o := options(t, tt.host, tt.before)
		o.Memo = filepath.Join(t.TempDir(), "memo.json")
		changes, err := hosts.Install(o)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%q was changed", tt.before)
			}
			continue
		}
		if err != nil || hosts.Apply(changes) != nil {
			t.Fatal(err)
		}
		os.WriteFile(o.Place.Config, []byte(strings.Replace(content(t, o.Place.Config), "5", "6", 1)), 0o600)
		uninstall(t, o)
		if got := content(t, o.Place.Config); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.host, got, tt.want)
		}
	}
}

// A file with nothing in it stays one.
func TestEmptyFile(t *testing.T) {
	for _, host := range []string{"cursor", "codex"} {
		o := options(t, host, " ")
		os.WriteFile(o.Place.Config, nil, 0o600)
		o.Memo = filepath.Join(t.TempDir(), "memo.json")
		install(t, o)
		uninstall(t, o)
		if got := content(t, o.Place.Config); got != "" {
			t.Errorf("%s: got %q", host, got)
		}
	}
}

// The memo of an entry that somebody took out, and put in anew, does not count any more.
func TestMemoOfOld(t *testing.T) {
	o := options(t, "cursor", "{\"mcpServers\": {}}\n")
	o.Memo = filepath.Join(t.TempDir(), "memo.json")
	install(t, o)
	own := `{"mcpServers": {"openspace": {"command": "mine"}}}`
	os.WriteFile(o.Place.Config, []byte(own), 0o600)
	install(t, o)
	uninstall(t, o)
	if got := content(t, o.Place.Config); got != own {
		t.Errorf("got %q, want %q", got, own)
	}
	for _, text := range []string{"", "nonsense", `{"config":"/x"}`, `{"config":"` + o.Place.Config + `","start":-1,"end":99999}`} {
		install(t, o)
		os.WriteFile(o.Memo, []byte(text), 0o600)
		uninstall(t, o)
	}
}

// HC-04: a file that its owner made read-only is left alone, and so is everything else then.
func TestHC04ReadOnly(t *testing.T) {
	o := options(t, "cursor", "{}")
	o.Memo = filepath.Join(t.TempDir(), "memo.json")
	os.Chmod(o.Place.Config, 0o444)
	changes, err := hosts.Install(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := hosts.Apply(changes); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v, want that it is read-only", err)
	}
	if got := content(t, o.Place.Config); got != "{}" {
		t.Errorf("got %q", got)
	}
	for _, path := range []string{o.Memo, o.Place.Skills} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}
