//go:build unix

package skill_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

func TestFilesSpecial(t *testing.T) {
	dir := tree(t, "a")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Skipf("no named pipe here: %v", err)
	}
	if got, want := listing(t, dir), "644 8 SKILL.md\n644 1 a\n- special-file pipe\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.Remove(filepath.Join(dir, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, problems, err := skill.Load(dir); s != nil || err != nil || codes(problems) != "skill-file-type" {
		t.Errorf("got %v, %v, %v, want skill-file-type without waiting for the pipe", s, problems, err)
	}
}
