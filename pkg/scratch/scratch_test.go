package scratch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/scratch"
)

// What a killed process left is found and removed, but nothing that is in use or is another's.
func TestLeft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders cannot be locked")
	}
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	for _, dir := range []string{"openspace-17/tmp/closed", "openspace-18", "openspace-20", "openspace-21/home", "openspace-22/tmp", "openspace-mine/tmp", "elsewhere/tmp"} {
		if err := os.MkdirAll(filepath.Join(tmp, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, err := range []error{
		os.Symlink(filepath.Join(tmp, "elsewhere"), filepath.Join(tmp, "openspace-19")), os.Chmod(filepath.Join(tmp, "openspace-17/tmp/closed"), 0o500),
		os.Chmod(filepath.Join(tmp, "openspace-22"), 0o755), os.Chtimes(filepath.Join(tmp, "openspace-20"), old, old), os.Chtimes(filepath.Join(tmp, "openspace-21"), old, old),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := scratch.New("home")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []string{filepath.Join(tmp, "openspace-17"), filepath.Join(tmp, "openspace-20")}
	if got := left(tmp, false); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := left(tmp, true); !slices.Equal(got, want) {
		t.Errorf("got %q removed, want %q", got, want)
	}
	if got := left(tmp, false); len(got) > 0 {
		t.Errorf("got %q after the removal, want nothing", got)
	}
	for _, path := range []string{filepath.Join(f.Dir, "home"), filepath.Join(f.Dir, "tmp"), filepath.Join(tmp, "elsewhere/tmp"), filepath.Join(tmp, "openspace-18"), filepath.Join(tmp, "openspace-22/tmp")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("got %v, want it to stay", err)
		}
	}
	if f.Close(); exists(f.Dir) {
		t.Errorf("%q is there after Close", f.Dir)
	}
}

// left are those below a folder: others' may be elsewhere.
func left(tmp string, take bool) (dirs []string) {
	for _, dir := range scratch.Left(take) {
		if filepath.Dir(dir) == tmp {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Where names are long, a folder with a short one is made elsewhere, and is looked for there.
func TestShort(t *testing.T) {
	if _, err := os.Stat("/tmp"); err != nil {
		t.Skip("no /tmp")
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	f, err := scratch.Short(64)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Dir) > 64 || slices.Contains(scratch.Left(false), f.Dir) {
		t.Errorf("got %q, want a short name, and that it is in use", f.Dir)
	}
	near, err := scratch.Short(1000)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if !strings.Contains(near.Dir, "longlong") {
		t.Errorf("got %q, want it in the usual place", near.Dir)
	}
}

// A relative place for temporary files still gives an absolute folder: commands run elsewhere.
func TestRelativePlace(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	f, err := scratch.New()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !filepath.IsAbs(f.Dir) || !exists(f.Dir) {
		t.Errorf("got %q, want an absolute folder", f.Dir)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
