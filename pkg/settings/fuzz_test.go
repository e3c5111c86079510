package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// FuzzFiles holds that no text in .env or the config file panics, that what cannot be read is said on one
// line, and that a good config file loses no key.
func FuzzFiles(f *testing.F) {
	f.Add("OPENSPACE_LIMIT=3\n", `{"limit": 5}`)
	f.Add("export A='x'\nB=${A}", `{"a": [1, "x", true], "b": 2}`)
	f.Add("=\n\"", `{"a": {`)
	f.Add("A=\"\\", "\xef\xbb\xbf{}")
	f.Add("A=$", `{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, dotenv, config string) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "openspace"), 0o755); err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{".env": dotenv, "openspace/config.json": config} {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := settings.New(settings.Options{Dir: dir, Environ: []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir}})
		for _, w := range s.Warnings() {
			if strings.Contains(w, "\n") {
				t.Errorf("warning of several lines: %q", w)
			}
		}
		if err := s.Err(); err != nil {
			if len(s.All()) > 0 {
				t.Errorf("got %v beside the error %v", s.All(), err)
			}
			return
		}
		for _, v := range s.All() {
			if found, ok := s.Lookup(v.Name); !ok || found.Name != v.Name && !strings.Contains(v.Name, "-") {
				t.Errorf("key %q is lost", v.Name)
			}
		}
	})
}

// FuzzHostFile holds that no text of a host's file panics, and that every problem names the file on one line.
func FuzzHostFile(f *testing.F) {
	f.Add("{env:{OPENSPACE_API_KEY:'k',}, /* c */ }", "[mcp_servers.openspace.env]\nOPENSPACE_API_KEY='k'")
	f.Add("{\"skills\":{\"entries\":{\"openspace\":{apiKey:{source:'env',id:'X'}}}}}", "mcp_servers = []")
	f.Add("{agents:{list:[null,{default:true,workspace:0x1F}]},env:{vars:[]}}", "a = 1979-05-27")
	f.Add("{mcp:{servers:{openspace:{env:{OPENSPACE_X:'${A:-${B}}'}}}}}", "\xff")
	f.Add("{a:'\\", "=")
	f.Fuzz(func(t *testing.T, loose, toml string) {
		dir := t.TempDir()
		for path, text := range map[string]string{".openclaw/openclaw.json": loose, ".nanobot/config.json": loose, ".mcp.json": loose, ".codex/config.toml": toml} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := settings.New(settings.Options{Dir: dir, Environ: []string{"HOME=" + dir}})
		if v, ok := s.Trace("api_key"); ok && strings.TrimSpace(v.Value) == "" {
			t.Errorf("got an empty key from %s", v.Where)
		}
		s.HostSkillDir()
		s.HostModel("a/b")
		for _, p := range s.HostProblems() {
			if !strings.HasPrefix(p.Path, dir) || strings.Contains(p.String(), "\n") {
				t.Errorf("problem %q", p)
			}
		}
	})
}

// FuzzDocument holds that every text is a document or a problem on one line, and that strict JSON is read as encoding/json reads it.
func FuzzDocument(f *testing.F) {
	f.Add("{ // main\n  mcp: { servers: { a: { url: 'http://127.0.0.1:1/mcp', }, }, },\n}")
	f.Add("{ 'k': \"https://x.example//y\", h: 0x1F, p: +1, d: .5, s: 'a\\\nb', /* c */ n: Infinity, \"\\u0061\": 1, }")
	f.Add("{a:-NaN,b:[1e999,],c:{'\\x41':null}}")
	f.Add(strings.Repeat("[", 1000))
	f.Add("\xef\xbb\xbf{}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.json", "a.toml"} {
			doc, bad := settings.ParseDocument(name, []byte(text))
			if (doc == nil) == (bad == nil) && text != "" || bad != nil && strings.Contains(bad.String(), "\n") {
				t.Errorf("%s: got %v, %v", name, doc, bad)
			}
		}
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		if got, bad := settings.ParseDocument("a.json", []byte(text)); bad != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v, want %v", got, bad, want)
		}
	})
}
