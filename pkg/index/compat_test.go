package index

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

var update = flag.Bool("update", false, "rewrite golden files and the segment of the current version")

// One real segment of each format version is kept for ever, and must give what it always gave.
func TestCompat(t *testing.T) {
	if *update {
		file := fmt.Sprintf("testdata/compat/v%d-analyzer%d.osx", formatVersion, AnalyzerVersion)
		if err := os.WriteFile(file, small("alpha", "alpha-beta", "gamma", "张益唐", "runs running"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob("testdata/compat/*.osx")
	if len(files) < 1 {
		t.Fatalf("got %d segments to read", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { compareGolden(t, file) })
	}
}

func compareGolden(t *testing.T, file string) {
	c, err := openContainer(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSegment(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var out strings.Builder
	for i := range s.n {
		d, err := s.doc(i)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%+v\n", d)
	}
	x := &Index{segments: []*segment{s}, deleted: [][]uint64{make([]uint64, 1)}, manifest: &manifest{Segments: []segmentState{{"", s.n, s.n}}}}
	for _, query := range []string{"alpha", "alphabeta", "run", "张益唐", "about"} {
		scores, err := Set{x}.Score(lexical.ParseQuery(query))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s:", query)
		for _, m := range scores.Top(10) {
			fmt.Fprintf(&out, " %d=%.6f", m.Doc, m.Score)
		}
		fmt.Fprintln(&out)
	}
	golden := strings.TrimSuffix(file, ".osx") + ".golden"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
