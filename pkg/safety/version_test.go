package safety_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// TestRulesVersion makes sure that no remembered report outlives a change of the
// scan: the sources that decide what is found have a fingerprint, and a new one
// needs a new number in cache.go.
func TestRulesVersion(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	h, n := sha256.New(), 0
	for _, file := range files {
		if match, _ := filepath.Match("*_test.go", file); match || slices.Contains([]string{"cache.go", "doc.go", "policy.go", "sarif.go", "verdict.go"}, file) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n%s", file, len(data), data)
		n++
	}
	if n < 20 {
		t.Fatalf("got %d sources, want at least 20", n)
	}
	const file = "testdata/rules.version"
	got := fmt.Sprintf("%d %x\n", safety.RulesVersion, h.Sum(nil))
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	var old int
	if _, err := fmt.Sscan(string(want), &old); err == nil && old >= safety.RulesVersion {
		t.Fatalf("the scan has changed: raise rulesVersion in cache.go above %d, then run go test -update", old)
	}
	golden(t, file, got)
}
