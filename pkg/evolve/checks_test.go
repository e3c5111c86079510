package evolve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// Checks run in their copy, with its path, and cannot change what lies beside it.
func TestSandboxedChecks(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "copy")
	for name, text := range map[string]string{
		"tests/good.sh":  "#!/bin/sh\ntest -f SKILL.md && test -f \"$SKILL_DIR/SKILL.md\" && echo x >made && echo y >\"$TMPDIR/y\"\n",
		"tests/plain.sh": "echo said; exit 3\n",
		"tests/out.sh":   "#!/bin/sh\necho x >../outside\n",
		"SKILL.md":       "x",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	if err := os.Chmod(filepath.Join(dir, "tests/plain.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	check := evolve.Box{Level: sandbox.BestEffort, Path: "/usr/bin:/bin", Home: filepath.Join(root, "home")}.Check
	if got, err := check(t.Context(), dir, []string{"tests/good.sh"}); err != nil || !got.Passed {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := check(t.Context(), dir, []string{"tests/good.sh", "tests/plain.sh"})
	if err != nil || got.Passed || !strings.Contains(got.Output, "tests/plain.sh ended with status 3") || !strings.Contains(got.Output, "said") {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = check(t.Context(), dir, []string{"tests/out.sh"}); err != nil || got.Passed {
		t.Errorf("got %+v, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 1 {
		t.Errorf("got %v beside the copy", left)
	}
}
