package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestWriteIn(t *testing.T) {
	dir := t.TempDir()
	root := openRoot(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a", "b", "x.sh")
	for _, content := range []string{"one", "two"} {
		if err := atomicfile.WriteIn(root, "a/b/x.sh", []byte(content), 0o644, atomicfile.KeepMode()); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); string(got) != content {
			t.Errorf("got %q, want %q", got, content)
		}
		if err := os.Chmod(file, 0o775); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.WriteIn(root, "a/b/x.sh", nil, 0o644, atomicfile.KeepMode()); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o775 {
		t.Errorf("mode: got %v, want %v", info.Mode().Perm(), fs.FileMode(0o775))
	}
	if got := names(t, filepath.Join(dir, "a", "b")); !slices.Equal(got, []string{"x.sh"}) {
		t.Errorf("names: got %q, want the file alone", got)
	}
}

func TestWriteInStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root := openRoot(t, dir)
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link/x", "../x", "missing/x"} {
		if err := atomicfile.WriteIn(root, name, []byte("x"), 0o644); err == nil {
			t.Errorf("WriteIn(%q): got no error", name)
		}
	}
	if got := names(t, outside); len(got) > 0 {
		t.Errorf("outside: got %q, want nothing", got)
	}
}

func TestWriteInReplacesLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "x")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteIn(openRoot(t, dir), "x", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "old" {
		t.Errorf("what the link pointed to: got %q, want %q", got, "old")
	}
}
