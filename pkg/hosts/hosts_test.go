package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/hosts"
	"github.com/openspace-dev/openspace/pkg/settings"
)

func options(t *testing.T, host, config string) hosts.Options {
	t.Helper()
	home := t.TempDir()
	place, ok := settings.New(settings.Options{Environ: []string{"HOME=" + home}, Dir: home}).HostPlace(host)
	if !ok {
		t.Fatalf("no host %q", host)
	}
	if config != "" {
		if err := os.MkdirAll(filepath.Dir(place.Config), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place.Config, []byte(config), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return hosts.Options{Host: host, Place: place, Command: "/opt/openspace/openspace-mcp"}
}

func install(t *testing.T, o hosts.Options) []hosts.Change {
	t.Helper()
	changes, err := hosts.Install(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := hosts.Apply(changes); err != nil {
		t.Fatal(err)
	}
	return changes
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const entry = `"command": "/opt/openspace/openspace-mcp"`

// Whatever a configuration looks like: the entry comes in, nothing else changes, a second time nothing
// changes, and taking it out gives the old text.
func TestRoundTrip(t *testing.T) {
	tests := []struct{ name, host, before, after string }{
		{"no file", "cursor", "", "{\n  \"mcpServers\": {\n    \"openspace\": {\n      " + entry + ",\n      \"args\": []\n    }\n  }\n}\n"},
		{"empty object", "claude-code", "{}", "{\n  \"mcpServers\": {\n    \"openspace\": {\n      \"type\": \"stdio\",\n      " + entry + ",\n      \"args\": []\n    }\n  }\n}"},
		{"other servers", "cursor", "{\n    \"mcpServers\": {\n        \"a\": {\"url\": \"http://x\"} // mine\n    },\n    \"z\": 1\n}\n",
			"{\n    \"mcpServers\": {\n        \"a\": {\"url\": \"http://x\"}, // mine\n        \"openspace\": {\n            " + entry + ",\n            \"args\": []\n        }\n    },\n    \"z\": 1\n}\n"},
		{"on one line", "cursor", `{"mcpServers": {"a": {}}}`, `{"mcpServers": {"a": {}, "openspace": {` + "\n  " + entry + ",\n  \"args\": []\n}}}"},
		{"json5", "openclaw", "{ // main\n  mcp: { servers: { a: { url: 'http://127.0.0.1:1/mcp', }, }, },\n}\n",
			"{ // main\n  mcp: { servers: { a: { url: 'http://127.0.0.1:1/mcp', }, \"openspace\": {\n    " + entry + ",\n    \"args\": []\n  }, }, },\n}\n"},
		{"json5 lines", "openclaw", "{\n\tmcp: {\n\t\tservers: {\n\t\t\t// the first\n\t\t\t'a': { url: \"https://x//y\" }, /* b */ // c\n\t\t},\n\t},\n}\n",
			"{\n\tmcp: {\n\t\tservers: {\n\t\t\t// the first\n\t\t\t'a': { url: \"https://x//y\" }, /* b */ // c\n\t\t\t\"openspace\": {\n\t\t\t\t" + entry + ",\n\t\t\t\t\"args\": []\n\t\t\t},\n\t\t},\n\t},\n}\n"},
		{"windows lines", "vscode", "{\r\n  \"servers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
			"{\r\n  \"servers\": {\r\n    \"a\": {},\r\n    \"openspace\": {\r\n      \"type\": \"stdio\",\r\n      " + entry + ",\r\n      \"args\": []\r\n    }\r\n  }\r\n}\r\n"},
		{"nested keys missing", "nanobot", "{\n  \"tools\": {\n    \"exec\": {\"timeout\": 60}\n  }\n}\n",
			"{\n  \"tools\": {\n    \"exec\": {\"timeout\": 60},\n    \"mcpServers\": {\n      \"openspace\": {\n        " + entry + ",\n        \"args\": [],\n        \"toolTimeout\": 1200\n      }\n    }\n  }\n}\n"},
		{"escaped name", "cursor", `{"mcp\u0053ervers": {"a": 1}}`, `{"mcp\u0053ervers": {"a": 1, "openspace": {` + "\n  " + entry + ",\n  \"args\": []\n}}}"},
		{"toml", "codex", "model = \"gpt-5\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"\n\n# about b\n[b]\nc = 1\n",
			"model = \"gpt-5\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"\n\n# about b\n[b]\nc = 1\n\n[mcp_servers.openspace]\ncommand = \"/opt/openspace/openspace-mcp\"\nargs = []\ntool_timeout_sec = 1200\n"},
		{"no toml", "codex", "", "[mcp_servers.openspace]\ncommand = \"/opt/openspace/openspace-mcp\"\nargs = []\ntool_timeout_sec = 1200\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, tt.host, tt.before)
			install(t, o)
			if got := content(t, o.Place.Config); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
			if again, err := hosts.Install(o); err != nil || len(again) != 0 {
				t.Errorf("a second time: got %d changes, %v", len(again), err)
			}
			if !strings.Contains(content(t, filepath.Join(o.Place.Skills, "delegate-task", "SKILL.md")), "name: delegate-task") {
				t.Error("the skill is not there")
			}
			changes, err := hosts.Uninstall(o)
			if err != nil || hosts.Apply(changes) != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(o.Place.Config); tt.before == "" || tt.before == "{}" {
				if err == nil {
					t.Errorf("got %q, want no file", got)
				}
			} else if string(got) != tt.before {
				t.Errorf("taken out: got\n%s\nwant\n%s", got, tt.before)
			}
			if _, err := os.Stat(filepath.Join(o.Place.Skills, "delegate-task")); err == nil {
				t.Error("the skill stays")
			}
		})
	}
}

// What somebody chose in the entry stays.
func TestUpdate(t *testing.T) {
	o := options(t, "nanobot", `{"tools": {"mcpServers": {"openspace": {"command": "old", "toolTimeout": 60, "env": {"A": "1"}, "note": "x"}}}}`)
	o.Environ = []string{"OPENSPACE_WORKSPACE=/w"}
	install(t, o)
	want := `{"tools": {"mcpServers": {"openspace": {"command": "/opt/openspace/openspace-mcp", "toolTimeout": 60, "env": {"A": "1", "OPENSPACE_WORKSPACE": "/w"}, "note": "x", "args": []}}}}`
	if got := content(t, o.Place.Config); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again, err := hosts.Install(o); err != nil || len(again) != 0 {
		t.Errorf("a second time: got %d changes, %v", len(again), err)
	}
	o = options(t, "codex", "[mcp_servers.openspace]\ncommand = \"old\" # was\ntool_timeout_sec = 5\n[mcp_servers.openspace.env]\nA = \"1\"\n[z]\nq = 1\n")
	o.Environ = []string{"B=2"}
	install(t, o)
	want = "[mcp_servers.openspace]\nargs = []\ncommand = \"/opt/openspace/openspace-mcp\"\ntool_timeout_sec = 5\n[mcp_servers.openspace.env]\nB = \"2\"\nA = \"1\"\n[z]\nq = 1\n"
	if got := content(t, o.Place.Config); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	changes, err := hosts.Uninstall(o)
	if err != nil || hosts.Apply(changes) != nil {
		t.Fatal(err)
	}
	if got := content(t, o.Place.Config); got != "[z]\nq = 1\n" {
		t.Errorf("got %q", got)
	}
}

// HC-04: a configuration that is broken, or no plain file, is left alone; a link stays a link, permissions stay.
func TestHC04LeftAlone(t *testing.T) {
	broken := map[string]string{
		"cursor": `{"mcpServers": {`, "claude-code": `[]`, "vscode": `{"servers": []}`, "openclaw": `{mcp: {servers: nonsense}}`, "codex": "[mcp_servers\n", "nanobot": "\xff",
	}
	for host, text := range broken {
		o := options(t, host, text)
		for what, plan := range map[string]func(hosts.Options) ([]hosts.Change, error){"install": hosts.Install, "uninstall": hosts.Uninstall} {
			changes, err := plan(o)
			if err == nil && what == "install" || len(changes) > 0 && err == nil {
				t.Errorf("%s %s: got %d changes of %q, want an error", what, host, len(changes), text)
			}
			if err != nil && !strings.Contains(err.Error(), o.Place.Config) {
				t.Errorf("%s: the error does not name the file: %v", host, err)
			}
		}
		if got := content(t, o.Place.Config); got != text {
			t.Errorf("%s: got %q", host, got)
		}
	}
	o := options(t, "cursor", `{}`)
	real := filepath.Join(t.TempDir(), "dotfiles.json")
	if err := os.Rename(o.Place.Config, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, o.Place.Config); err != nil {
		t.Fatal(err)
	}
	install(t, o)
	info, err := os.Lstat(o.Place.Config)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(content(t, real), entry) {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("got mode %v, want 0640", info.Mode())
	}
	o = options(t, "cursor", "")
	os.MkdirAll(o.Place.Config, 0o755)
	if _, err := hosts.Install(o); err == nil {
		t.Error("a folder is taken for a configuration")
	}
}

// A file that changes between the plan and its execution is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	o := options(t, "cursor", `{}`)
	changes, err := hosts.Install(o)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(o.Place.Config, []byte(`{"new": 1}`), 0o644)
	if err := hosts.Apply(changes); err == nil || content(t, o.Place.Config) != `{"new": 1}` {
		t.Errorf("got %v", err)
	}
}

// A skill that the user has changed stays, and installing brings ours back only with the user's knowledge: as
// a change.
func TestChangedSkill(t *testing.T) {
	o := options(t, "cursor", "")
	install(t, o)
	path := filepath.Join(o.Place.Skills, "delegate-task", "SKILL.md")
	os.WriteFile(path, []byte("mine"), 0o644)
	changes, err := hosts.Uninstall(o)
	if err != nil || hosts.Apply(changes) != nil || content(t, path) != "mine" {
		t.Errorf("got %v", err)
	}
}

// Any text that is JSON5, or TOML, stays so and says the same but for the entry; what cannot be changed so is
// refused.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, "{\n // c\n}", `{a: {b: 'x',},}`, `{"mcpServers":{"openspace":{"command":"x"},"b":[1,{"c":2}]}}`, "{\"mcpServers\":{/* x */}}", `{"mcpServers":{},"mcpServers":{"q":1}}`,
		"{'k': \"https://x.example//y\", h: 0x1F, p: +1, d: .5, s: 'a\\\nb', /* c */ \"\\u0061\": 1, }", "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": 1 // x\r\n\t}\r\n}", "{a:1//x\n}", "\ufeff{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { thereAndBack(t, "cursor", text) })
}

func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1\n", "[mcp_servers.openspace]\ncommand = 'x'\n", "[mcp_servers.openspace.env]\nA='1'", "[mcp_servers]\nopenspace = {command='x'}\n", "a = [\n[1],\n[2]]\n[b]\n",
		"s = \"\"\"\n[mcp_servers.openspace]\n\"\"\"\n", "[[x]]\ny=1\n[mcp_servers.\"openspace\"] # c\nargs = []\n\n[z]\n", "mcp_servers.a.command = 'x'\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { thereAndBack(t, "codex", text) })
}

// thereAndBack installs and uninstalls, unless it is refused, and compares what stands beside the entry.
func thereAndBack(t *testing.T, host, text string) {
	o := options(t, host, text)
	before, bad := settings.DocumentValue(o.Place.Config, []byte(text))
	changes, err := hosts.Install(o)
	if err != nil {
		return
	}
	if bad != nil && strings.TrimSpace(text) != "" {
		t.Fatalf("%q is broken (%v) and was changed", text, bad)
	}
	if err := hosts.Apply(changes); err != nil {
		t.Fatal(err)
	}
	after := []byte(content(t, o.Place.Config))
	command, bad := settings.DocumentValue(o.Place.Config, after, append(o.Place.Keys, "openspace", "command")...)
	if bad != nil || command != o.Command {
		t.Fatalf("%q became %q: %v, %v", text, after, command, bad)
	}
	if again, err := hosts.Install(o); err != nil || len(again) != 0 {
		t.Errorf("%q became %q, and changes again: %v", text, after, err)
	}
	now, _ := settings.DocumentValue(o.Place.Config, after)
	beside(t, o.Place.Keys[0], before, now)
	changes, err = hosts.Uninstall(o)
	if err != nil {
		return
	}
	if err := hosts.Apply(changes); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadFile(o.Place.Config); err == nil {
		now, bad := settings.DocumentValue(o.Place.Config, left)
		if bad != nil {
			t.Fatalf("%q became %q: %v", text, left, bad)
		}
		beside(t, o.Place.Keys[0], before, now)
	}
}

// beside compares two documents but for one member.
func beside(t *testing.T, key string, a, b any) {
	t.Helper()
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for name, v := range x {
		if name != key && !same(v, y[name]) {
			t.Errorf("%s was %v and is %v", name, v, y[name])
		}
	}
}

func same(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// What is installed is where the suite looks for it: each host's entry is read back, and its folder of skills
// is searched.
func TestFoundAgain(t *testing.T) {
	for _, host := range settings.HostNames() {
		for _, variable := range []string{"", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "NANOBOT_STATE_DIR", "OPENCLAW_STATE_DIR", "OPENCLAW_HOME", "XDG_CONFIG_HOME"} {
			home := t.TempDir()
			environ := []string{"HOME=" + home}
			if variable != "" {
				environ = append(environ, variable+"="+home+"/elsewhere")
			}
			process := settings.Options{Environ: environ, Dir: t.TempDir()}
			place, ok := settings.New(process).HostPlace(host)
			if !ok {
				t.Fatalf("no host %q", host)
			}
			install(t, hosts.Options{Host: host, Place: place, Command: "openspace-mcp", Environ: []string{"OPENSPACE_API_KEY=k"}})
			s := settings.New(process)
			if v, ok := s.Find("api_key"); !ok || v.Value != "k" {
				t.Errorf("%s, %s: got key %+v in %s", host, variable, v, place.Config)
			}
			if v, _ := s.Find("host_skill_dirs"); !slices.Contains(v.List, place.Skills) {
				t.Errorf("%s, %s: got %q, want %s among them", host, variable, v.List, place.Skills)
			}
		}
	}
	if _, ok := settings.New(settings.Options{Environ: []string{"HOME=/x"}, Dir: "/"}).HostPlace("emacs"); ok {
		t.Error("a host that is not known has a place")
	}
}
