package safety_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// cacheFiles lists the files below a cache's directory.
func cacheFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

func TestCache(t *testing.T) {
	dir, memory := t.TempDir(), filepath.Join(t.TempDir(), "index", "safety")
	write(t, dir, "SKILL.md", "---\nname: x\ndescription: Scan for malware and injection\n---\nSuch as: ignore all previous instructions. It needs a token.\n")
	write(t, dir, "run.sh", dropper)
	cache := safety.NewCache(memory)
	scan := func(p safety.Policy) safety.Report {
		t.Helper()
		r, err := cache.ScanDir(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	strict, err := safety.ParsePolicy("strict")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []safety.Policy{safety.DefaultPolicy(), safety.DefaultPolicy(), strict} {
		want, err := safety.ScanDir(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := scan(p); !reflect.DeepEqual(got, want) {
			t.Errorf("policy %s: got %+v, want %+v", p, got, want)
		}
	}
	files := cacheFiles(t, memory)
	if len(files) != 1 {
		t.Fatalf("got cache files %q, want one for all policies", files)
	}
	for _, damage := range []string{"", "{", "null", "[]", `{"files":1}`, "\x00\x01"} {
		if err := os.WriteFile(files[0], []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := scan(safety.DefaultPolicy()); r.Verdict != safety.Block || r.Files != 2 {
			t.Errorf("cache file %q: got %+v, want the truth", damage, r)
		}
	}
	write(t, dir, "run.sh", "echo ok\n")
	if r := scan(safety.DefaultPolicy()); r.Verdict == safety.Block {
		t.Errorf("a changed file: got %+v, want it judged anew", r)
	}
	if n := len(cacheFiles(t, memory)); n != 2 {
		t.Errorf("got %d cache files, want 2", n)
	}
}

// TestCacheIsOptional checks that a place that cannot be written costs nothing
// but time.
func TestCacheIsOptional(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "SKILL.md", dropper)
	write(t, dir, "file", "x")
	r, err := safety.NewCache(filepath.Join(dir, "file", "cache")).ScanDir(dir, safety.DefaultPolicy())
	if err != nil || r.Verdict != safety.Block {
		t.Errorf("got %s and %v, want block", r.Verdict, err)
	}
	if _, err := safety.NewCache(dir).ScanDir(filepath.Join(dir, "missing"), safety.DefaultPolicy()); err == nil {
		t.Error("a missing folder: got no error")
	}
}

func TestCacheConcurrent(t *testing.T) {
	dir, cache := t.TempDir(), safety.NewCache(t.TempDir())
	write(t, dir, "SKILL.md", dropper)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if r, err := cache.ScanDir(dir, safety.DefaultPolicy()); err != nil || r.Verdict != safety.Block {
				t.Errorf("got %s and %v, want block", r.Verdict, err)
			}
		})
	}
	wg.Wait()
}
