package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/plainclient"
	"github.com/openspace-dev/openspace/pkg/api"
)

// timeSearches returns the times of n searches in milliseconds, sorted; twenty before them do not count.
func timeSearches(c *plainclient.Client, query func() string, limit, n int) (times []float64, err error) {
	for i := range n + 20 {
		q := api.Search{Query: query(), Limit: limit}
		var rows []api.Row
		start := time.Now()
		if err := c.JSON("POST", "/records/embeddings/search", q, &rows); err != nil {
			return nil, err
		}
		if i >= 20 {
			times = append(times, float64(time.Since(start).Microseconds())/1000)
		}
	}
	slices.Sort(times)
	return times, nil
}

// vary exchanges a tenth of the words of a body for words of other, so that no two are the same and words are as rare as in real life.
func vary(r *rand.Rand, text, other string) string {
	head, body := text, ""
	if i := strings.Index(text, "\n---\n"); i >= 0 {
		head, body = text[:i+5], text[i+5:]
	}
	words, from := strings.SplitAfter(body, " "), strings.SplitAfter(other, " ")
	for i := range words {
		if r.IntN(10) == 0 {
			words[i] = from[r.IntN(len(from))]
		}
	}
	return head + strings.Join(words, "") + fmt.Sprintf("\n%x\n", r.Uint64())
}

// diskUsage returns the size of all files below dir.
func diskUsage(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if fi, err := e.Info(); err == nil {
				size += fi.Size()
			}
		}
		return nil
	})
	return size
}
