// Command bench-search measures how fast the search is: it generates stores of several sizes from real
// skills, builds their index, and times queries in one process and whole openspace-search processes.
// scripts/bench-search is the way to call it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/openspace-dev/openspace/cmd/internal/corpus"
)

// figures is what one store size gives. Times are in milliseconds.
type figures struct {
	Skills         int     `json:"skills"`
	TextMB         float64 `json:"text_mb"`
	BuildSeconds   float64 `json:"build_s"`
	BuildMBPerCore float64 `json:"build_mb_per_s_and_core"`
	IndexMB        float64 `json:"index_mb"`
	Words6         float64 `json:"warm_6_words_ms"`
	Task1200       float64 `json:"warm_task_text_ms"`
	Change         float64 `json:"reindex_one_folder_ms"`
	Notice         float64 `json:"freshness_check_ms"`
	Cold           float64 `json:"cold_process_ms"`
	ColdUnchecked  float64 `json:"cold_process_no_refresh_ms"`
	AnonMB         float64 `json:"cold_process_anonymous_mb"`
}

func main() {
	data := flag.String("data", "../shared/data", "directory of the real skills")
	bin := flag.String("bin", "bin", "directory of the built commands")
	sizes := flag.String("sizes", "3000,10000,100000", "numbers of skills")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(*data, *bin, *sizes, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench-search:", err)
		os.Exit(1)
	}
}

func run(data, bin, sizes string, asJSON bool) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	texts, err := corpus.Texts(filepath.Join(data, "skills.jsonl.gz"))
	if err != nil {
		return err
	}
	var all []figures
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		f, err := measureSize(texts, n, bin)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(all)
	}
	print(all)
	return nil
}

func print(all []figures) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, f func(figures) string) {
		cells := []string{what}
		for _, g := range all {
			cells = append(cells, f(g))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
	}
	ms := func(f func(figures) float64) func(figures) string {
		return func(g figures) string { return fmt.Sprintf("%.2f ms", f(g)) }
	}
	row("skills", func(g figures) string { return strconv.Itoa(g.Skills) })
	row("text", func(g figures) string { return fmt.Sprintf("%.0f MB", g.TextMB) })
	row("index", func(g figures) string { return fmt.Sprintf("%.0f MB", g.IndexMB) })
	row("first build", func(g figures) string { return fmt.Sprintf("%.1f s", g.BuildSeconds) })
	row("first build, a core", func(g figures) string { return fmt.Sprintf("%.1f MB/s", g.BuildMBPerCore) })
	row("warm query, six content words, median", ms(func(g figures) float64 { return g.Words6 }))
	row("warm query, task text of 1,200 characters, median", ms(func(g figures) float64 { return g.Task1200 }))
	row("freshness check of all folders, median", ms(func(g figures) float64 { return g.Notice }))
	row("re-index of one changed folder, beyond noticing, median", ms(func(g figures) float64 { return g.Change }))
	row("cold process, freshness checked, median", ms(func(g figures) float64 { return g.Cold }))
	row("cold process, --no-refresh, median", ms(func(g figures) float64 { return g.ColdUnchecked }))
	row("anonymous memory of a cold process after its answer", func(g figures) string { return fmt.Sprintf("%.1f MB", g.AnonMB) })
	w.Flush()
}
