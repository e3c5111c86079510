// Command bench-vectors measures how fast the nearest vectors are found, beside what this machine reads from
// memory in the same run. scripts/bench-vectors is the way to call it. Every figure is the best of several;
// only ratios within one run mean something on a busy machine.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/viterin/vek/vek32"

	"github.com/openspace-dev/openspace/pkg/vec"
)

const (
	k       = 10
	queries = 20
	repeats = 7
	model   = "bench"
)

func main() {
	sizes := flag.String("sizes", "100000x256,100000x1536", "rows x width, several with commas")
	flag.Parse()
	if err := run(*sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench-vectors:", err)
		os.Exit(1)
	}
}

func run(sizes string) error {
	dir, err := os.MkdirTemp("", "bench-vectors-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for size := range strings.SplitSeq(sizes, ",") {
		a, b, _ := strings.Cut(size, "x")
		rows, err1 := strconv.Atoi(a)
		dim, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || rows < 1 || dim < 1 {
			return fmt.Errorf("size %q is not ROWSxWIDTH", size)
		}
		if err := measure(filepath.Join(dir, "m.osv"), rows, dim); err != nil {
			return err
		}
	}
	return nil
}

// measure makes a matrix and prints its table.
func measure(path string, rows, dim int) error {
	data, asked := clustered(rows, dim)
	if err := write(path, data, dim); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d x %d\tone core ms\tGB/s\tall cores ms\tGB/s\t\n", rows, dim)
	size := float64(4 * rows * dim)
	report := func(name string, f func()) {
		one := best(1, f)
		all := best(runtime.NumCPU(), f)
		fmt.Fprintf(w, "%s\t%.2f\t%.1f\t%.2f\t%.1f\t\n", name, ms(one), size/one.Seconds()/1e9, ms(all), size/all.Seconds()/1e9)
	}
	report("read, one stream a core", func() { read(data, 1) })
	report("read, four streams a core", func() { read(data, 4) })
	out := make([]float32, rows)
	report("vek32.Dot, row by row", func() {
		split(rows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = vek32.Dot(asked[0], data[i*dim:(i+1)*dim])
			}
		})
	})
	opened := best(1, func() {
		if m, err := vec.Open(path, model); err == nil {
			m.Close()
		}
	})
	m, err := vec.Open(path, model)
	if err != nil {
		return err
	}
	defer m.Close()
	report("exact top 10 (Top)", func() { must(m.Top(asked[0], k)) })
	report("by int8 rows (TopRough)", func() { must(m.TopRough(asked[0], k)) })
	report("all rough scores (Rough)", func() {
		if err := m.Rough(asked[0], out); err != nil {
			panic(err)
		}
	})
	w.Flush()
	keys := make([]uint64, rows)
	for i := range keys {
		keys[i] = uint64(i) * 0x9E3779B97F4A7C15
	}
	found := best(1, func() { m.Find(keys) })
	fmt.Printf("open %.2f ms, find all rows by key %.2f ms, recall of TopRough against Top %.4f over %d queries (GB/s are of the float32 rows)\n\n",
		ms(opened), ms(found), recall(m, asked), len(asked))
	return nil
}

func must(hits []vec.Hit, err error) []vec.Hit {
	if err != nil {
		panic(err)
	}
	return hits
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// best is the shortest of several runs on a number of cores.
func best(cores int, f func()) time.Duration {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	short := time.Duration(math.MaxInt64)
	for range repeats {
		start := time.Now()
		f()
		short = min(short, time.Since(start))
	}
	return short
}

// clustered makes rows around 1,000 centres, as texts are, and queries beside some of them.
func clustered(rows, dim int) (data []float32, asked [][]float32) {
	r := rand.New(rand.NewPCG(1, 2))
	centres := make([]float32, 1000*dim)
	for i := range centres {
		centres[i] = r.Float32() - 0.5
	}
	data = make([]float32, rows*dim)
	near := func(v []float32) {
		c := centres[r.IntN(1000)*dim:]
		for j := range v {
			v[j] = c[j] + 0.7*(r.Float32()-0.5)
		}
	}
	for i := range rows {
		near(data[i*dim : (i+1)*dim])
	}
	for range queries {
		q := make([]float32, dim)
		near(q)
		asked = append(asked, q)
	}
	return data, asked
}

func write(path string, data []float32, dim int) error {
	b := vec.NewBatch(dim)
	for i := range len(data) / dim {
		if err := b.Add(uint64(i)*0x9E3779B97F4A7C15, data[i*dim:(i+1)*dim]); err != nil {
			return err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := vec.Write(f, model, b); err != nil {
		return err
	}
	return f.Close()
}

// recall is the share of the exact top 10 that the rough way finds.
func recall(m *vec.Matrix, asked [][]float32) float64 {
	found, all := 0, 0
	for _, q := range asked {
		rough := must(m.TopRough(q, k))
		for _, h := range must(m.Top(q, k)) {
			all++
			if slices.Contains(rough, h) {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}
