package roots_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/openspace-dev/openspace/pkg/roots"
)

// BenchmarkWalk walks a flat root, the shape of a host's skill folder. 100,000 folders take a while to make:
// go test -run '^$' -bench Walk ./pkg/roots
func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{3_000, 100_000} {
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				skill := filepath.Join(dir, "skill-number-"+strconv.Itoa(i))
				must(b, os.Mkdir(skill, 0o755))
				must(b, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("x"), 0o644))
			}
			b.ReportAllocs()
			for b.Loop() {
				tree, err := roots.Walk(context.Background(), roots.Root{Dir: dir})
				must(b, err)
				if len(tree.Folders) != n {
					b.Fatalf("got %d skills, want %d", len(tree.Folders), n)
				}
			}
		})
	}
}
