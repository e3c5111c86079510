package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// A .env that came with somebody else's project does not loosen what is blocked.
func TestDotEnvCannotSetPolicy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("OPENSPACE_POLICY=allow\nOPENSPACE_SANDBOX=off\nOPENSPACE_WORKSPACE=/\nOPENSPACE_LIMIT=3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := settings.New(settings.Options{Environ: []string{"HOME=" + dir}, Dir: dir})
	if v, ok := s.Lookup("policy"); ok {
		t.Errorf("got policy %q from .env", v.Value)
	}
	for _, name := range []string{"sandbox", "workspace"} {
		if v, ok := s.Lookup(name); ok {
			t.Errorf("got %s %q from .env", name, v.Value)
		}
	}
	if v, _ := s.Lookup("limit"); v.Value != "3" {
		t.Errorf("got limit %q, want 3", v.Value)
	}
	if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "OPENSPACE_POLICY") {
		t.Errorf("got warnings %q", w)
	}
}
