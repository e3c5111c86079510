package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
)

// benchRoot returns the skill root of the benchmarks: the real one that OPENSPACE_BENCH_DIR names, else 1,000
// skills of made-up words.
//
//	OPENSPACE_BENCH_DIR=/path/to/skills go test ./pkg/index -run '^$' -bench .
func benchRoot(b *testing.B) string {
	if dir := os.Getenv("OPENSPACE_BENCH_DIR"); dir != "" {
		return dir
	}
	r := rand.New(rand.NewPCG(1, 1))
	root := b.TempDir()
	for i := range 1000 {
		dir := filepath.Join(root, fmt.Sprintf("s%04d", i))
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: %s\n---\n%s\n", i, words(r, 30), words(r, 700))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// words returns n made-up words, few of them common and many rare.
func words(r *rand.Rand, n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = fmt.Sprintf("w%da", int(1/(r.Float64()+1e-4)))
	}
	return strings.Join(w, " ")
}

// BenchmarkBuild builds an index in memory, on one core.
func BenchmarkBuild(b *testing.B) {
	tree, err := roots.Walk(context.Background(), roots.Root{Dir: benchRoot(b)})
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for _, f := range tree.Folders {
		size += f.Stamp.Size
	}
	b.SetBytes(size)
	for b.Loop() {
		builder := newBuilder()
		var buffer []byte
		var d *Document
		for _, f := range tree.Folders {
			if d, _, buffer = readDocument(f, buffer); d != nil {
				builder.add(*d)
			}
		}
		builder.sort()
		sections, err := merge([]source{builder}, func(int, int) bool { return true })
		if err != nil {
			b.Fatal(err)
		}
		encodeContainer(sections)
	}
}

// BenchmarkSearch searches an open index.
func BenchmarkSearch(b *testing.B) {
	x, err := Open(context.Background(), roots.Root{Dir: benchRoot(b)}, Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	for _, text := range []string{"w3a", "w3a w5a w9a w40a w100a w1000a", "convert a pdf document into markdown tables"} {
		q := lexical.ParseQuery(text)
		b.Run(strings.ReplaceAll(text, " ", "+"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scores, err := Set{x}.Score(q)
				if err != nil {
					b.Fatal(err)
				}
				scores.Top(10)
			}
		})
	}
}

// BenchmarkOpen opens an index: without a look at the folders, and with one.
func BenchmarkOpen(b *testing.B) {
	root, dir := roots.Root{Dir: benchRoot(b)}, b.TempDir()
	for _, unchecked := range []bool{true, false} {
		b.Run(fmt.Sprintf("unchecked=%v", unchecked), func(b *testing.B) {
			for b.Loop() {
				x, err := Open(context.Background(), root, Options{Dir: dir, NoRefresh: unchecked})
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}
