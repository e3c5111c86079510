package registry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/registry/registrytest"
)

func TestFiles(t *testing.T) {
	registrytest.Run(t, func(t *testing.T) registrytest.Factory {
		dir := filepath.Join(t.TempDir(), "data")
		return func(t *testing.T) registry.Storage { return openFiles(t, dir) }
	})
}

func openFiles(t *testing.T, dir string) *registry.Files {
	t.Helper()
	s, err := registry.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func putRecord(t *testing.T, s registry.Storage, id, data string, prev uint64) uint64 {
	t.Helper()
	seq, err := s.Put(context.Background(), registry.Doc{Kind: registry.KindRecord, ID: id, Data: []byte(data)}, prev)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func TestFilesReadingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openFiles(t, dir)
	if err := s.Changes(context.Background(), 0, func(registry.Doc) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no directory", err)
	}
}

// One damaged line loses one state and hides no other.
func TestFilesDamagedLine(t *testing.T) {
	dir := t.TempDir()
	s := openFiles(t, dir)
	putRecord(t, s, "a", `{"n":1}`, 0)
	putRecord(t, s, "b", `{"n":2}`, 0)
	putRecord(t, s, "c", `{"n":3}`, 0)
	s.Close()
	file := filepath.Join(dir, "journal", "000001.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `{"n":2}`, `{"n":7}`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openFiles(t, dir)
	defer s.Close()
	if s.Damaged() != 1 {
		t.Errorf("got %d damaged lines, want 1", s.Damaged())
	}
	for id, want := range map[string]error{"a": nil, "b": registry.ErrNotFound, "c": nil} {
		if _, err := s.Get(context.Background(), registry.KindRecord, id); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", id, err, want)
		}
	}
	if seq := putRecord(t, s, "d", `{"n":4}`, 0); seq != 4 {
		t.Errorf("got number %d, want 4", seq)
	}
}

func TestFilesFormat(t *testing.T) {
	for _, tt := range []struct {
		format      string
		open, write bool
	}{
		{"openspace-registry 1 1\n", true, true},
		{"openspace-registry 9 1\n", true, false},
		{"openspace-registry 9 9\n", false, false},
		{"openspace-store 1 1\n", false, false},
		{"", false, false},
	} {
		dir := t.TempDir()
		s := openFiles(t, dir)
		putRecord(t, s, "a", `{}`, 0)
		s.Close()
		if err := os.WriteFile(filepath.Join(dir, "FORMAT"), []byte(tt.format), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := registry.OpenFiles(dir)
		if (err == nil) != tt.open {
			t.Errorf("%q: open: got %v", tt.format, err)
		}
		if err != nil {
			continue
		}
		if _, err := s.Get(context.Background(), registry.KindRecord, "a"); err != nil {
			t.Error(err)
		}
		_, err = s.Put(context.Background(), registry.Doc{Kind: registry.KindRecord, ID: "b", Data: []byte(`{}`)}, 0)
		var version *registry.VersionError
		if (err == nil) != tt.write || err != nil && !errors.As(err, &version) {
			t.Errorf("%q: put: got %v", tt.format, err)
		}
		s.Close()
	}
}

func TestFilesLock(t *testing.T) {
	dir := t.TempDir()
	one, two := openFiles(t, dir), openFiles(t, dir)
	defer one.Close()
	defer two.Close()
	l, err := one.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Lock(); err == nil {
		t.Error("two servers hold one directory")
	}
	putRecord(t, two, "a", `{}`, 0) // other programs may write
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// Compaction drops what was overwritten and changes nothing that can be seen.
func TestFilesCompact(t *testing.T) {
	dir := t.TempDir()
	s := openFiles(t, dir)
	long := `{"s":"` + strings.Repeat("x", 1<<20) + `"}`
	kept := putRecord(t, s, "kept", `{"n":1}`, 0)
	seq := uint64(0)
	for range 40 {
		seq = putRecord(t, s, "often", long, seq)
	}
	saved, err := s.Compact(context.Background())
	if err != nil || saved < 30<<20 {
		t.Errorf("got %d bytes saved, %v, want more than 30 MiB", saved, err)
	}
	check := func(s *registry.Files) {
		t.Helper()
		for id, want := range map[string]uint64{"kept": kept, "often": seq} {
			if d, err := s.Get(context.Background(), registry.KindRecord, id); err != nil || d.Seq != want {
				t.Errorf("%s: got number %d, %v, want %d", id, d.Seq, err, want)
			}
		}
	}
	check(s)
	seq = putRecord(t, s, "often", `{}`, seq)
	s.Close()
	s = openFiles(t, dir)
	defer s.Close()
	check(s)
	if s.Damaged() != 0 {
		t.Errorf("got %d damaged lines", s.Damaged())
	}
}
