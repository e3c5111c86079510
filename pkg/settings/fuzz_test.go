package settings_test

import (
	"os"
	"path/filepath"
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
