// Command bench-registry measures a registry: uploads and imports of the real skills by the commands of the suite, memory and search with many records. scripts/bench-registry
// is the way to call it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/openspace-dev/openspace/cmd/internal/corpus"
)

// figures is what is measured. Times are in milliseconds, memory in megabytes.
type figures struct {
	Skills        int     `json:"skills"`
	Jobs          int     `json:"jobs"`
	UploadRate    float64 `json:"uploads_per_s"`
	AgainRate     float64 `json:"uploads_again_per_s"` // of what is there already
	ImportRate    float64 `json:"imports_per_s"`
	Records       int     `json:"records"`
	FillRate      float64 `json:"fill_per_s"` // by a client of this program
	Memory        float64 `json:"memory_mb"`  // resident, with all records
	MemoryPeak    float64 `json:"memory_peak_mb"`
	MemorySearch  float64 `json:"memory_after_searches_mb"`
	Search        float64 `json:"search_ms"` // median
	Search95      float64 `json:"search_p95_ms"`
	SearchTask    float64 `json:"search_task_text_ms"` // median, a query of 1,200 characters
	Search300     float64 `json:"search_300_rows_ms"`
	Start         float64 `json:"start_s"` // of the server with all records
	MemoryRestart float64 `json:"memory_after_start_mb"`
	Data          float64 `json:"data_mb"`
}

type options struct {
	data, bin     string
	records, jobs int
	keep          string
	serverOnly    bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "../shared/data", "directory of the real skills")
	flag.StringVar(&o.bin, "bin", "bin", "directory of the built commands")
	flag.IntVar(&o.records, "records", 100_000, "number of records to measure memory and search with")
	flag.IntVar(&o.jobs, "jobs", 8, "uploads and imports at once")
	flag.StringVar(&o.keep, "keep", "", "work in this directory and leave it")
	flag.BoolVar(&o.serverOnly, "server-only", false, "leave out the uploads and imports by commands")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	f, err := measure(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-registry:", err)
		os.Exit(1)
	}
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(f)
		return
	}
	print(f)
}

func measure(o options) (f figures, err error) {
	texts, err := corpus.Texts(filepath.Join(o.data, "skills.jsonl.gz"))
	if err != nil {
		return f, err
	}
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bench-registry-"); err != nil {
			return f, err
		}
		defer os.RemoveAll(dir)
	}
	b := &bench{options: o, texts: texts, dir: dir, f: &f}
	defer b.stop()
	steps := []func() error{b.start, b.upload, b.imports, b.fill, b.searches, b.restart}
	if o.serverOnly {
		steps = slices.Delete(steps, 1, 3)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return f, err
		}
	}
	return f, nil
}

func print(f figures) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what, format string, v float64) { fmt.Fprintf(w, "%s\t"+format+"\t\n", what, v) }
	row("real skills", "%.0f", float64(f.Skills))
	row(fmt.Sprintf("openspace-upload-skill --jobs %d", f.Jobs), "%.0f/s", f.UploadRate)
	row("the same again, all there", "%.0f/s", f.AgainRate)
	row(fmt.Sprintf("openspace-download-skill --jobs %d", f.Jobs), "%.0f/s", f.ImportRate)
	row("records", "%.0f", float64(f.Records))
	row("filled by a plain client", "%.0f/s", f.FillRate)
	row("data on disk", "%.0f MB", f.Data)
	row("server memory with all records", "%.0f MB", f.Memory)
	row("its peak so far", "%.0f MB", f.MemoryPeak)
	row("after the searches", "%.0f MB", f.MemorySearch)
	row("search, six words, 20 rows, median", "%.2f ms", f.Search)
	row("the same, 95 of 100", "%.2f ms", f.Search95)
	row("search, task text of 1,200 characters, median", "%.2f ms", f.SearchTask)
	row("search, six words, 300 rows, median", "%.2f ms", f.Search300)
	row("start of the server", "%.2f s", f.Start)
	row("memory after the start", "%.0f MB", f.MemoryRestart)
	w.Flush()
}
