package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	tests := []struct {
		name string
		old  *string
		mode fs.FileMode // of the old file
		opts []atomicfile.Option
		want fs.FileMode
	}{
		{name: "new file", want: 0o600},
		{name: "replaces", old: ptr("old"), mode: 0o644, want: 0o600},
		{name: "keeps the mode", old: ptr("old"), mode: 0o755, opts: []atomicfile.Option{atomicfile.KeepMode()}, want: 0o755},
		{name: "keeps the mode of nothing", opts: []atomicfile.Option{atomicfile.KeepMode()}, want: 0o600},
		{name: "without sync", old: ptr("old"), mode: 0o644, opts: []atomicfile.Option{atomicfile.NoSync()}, want: 0o600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if tt.old != nil {
				if err := os.WriteFile(path, []byte(*tt.old), tt.mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := atomicfile.Write(path, []byte("new"), 0o600, tt.opts...); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			info, _ := os.Stat(path)
			if string(got) != "new" || info.Mode().Perm() != tt.want {
				t.Errorf("got %q %v, want %q %v", got, info.Mode().Perm(), "new", tt.want)
			}
			if n := names(t, dir); !slices.Equal(n, []string{"f"}) {
				t.Errorf("got files %q, want only f", n)
			}
		})
	}
}

func ptr(s string) *string { return &s }

func TestWriteReplacesLink(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "f")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(victim); string(got) != "keep" {
		t.Errorf("got %q behind the link, want it untouched", got)
	}
}

func TestWriteErrorsKeepOldFile(t *testing.T) {
	full := func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return syscall.ENOSPC
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.WriteWith(path, 0o600, full)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got error %v, want ENOSPC", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("got %q, want the old content", got)
	}
	if n := names(t, dir); len(n) != 1 {
		t.Errorf("got files %q, want only f", n)
	}
	if err := atomicfile.Write(filepath.Join(dir, "no", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v for a missing folder, want not exist", err)
	}
}

func TestHookOrder(t *testing.T) {
	var steps []string
	hook := atomicfile.Hook(func(s string) { steps = append(steps, s) })
	if err := atomicfile.Write(filepath.Join(t.TempDir(), "f"), nil, 0o600, hook); err != nil {
		t.Fatal(err)
	}
	if want := []string{"create", "write", "sync", "rename", "syncdir"}; !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
}

func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".os-tmp-1", ".os-tmp-2", "keep"} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != ".os-tmp-2" {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	n, err := atomicfile.Sweep(dir, time.Hour)
	if err != nil || n != 1 {
		t.Errorf("got %d, %v, want 1 removed", n, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{".os-tmp-2", "keep"}) {
		t.Errorf("got %q", got)
	}
	if err := os.Chtimes(filepath.Join(dir, ".os-tmp-2"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "new"), nil, 0o600, atomicfile.Tidy()); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"keep", "new"}) {
		t.Errorf("got %q after a tidy write", got)
	}
	if n, err := atomicfile.Sweep(filepath.Join(dir, "none"), 0); n != 0 || err != nil {
		t.Errorf("got %d, %v for a missing folder, want 0, nil", n, err)
	}
}
