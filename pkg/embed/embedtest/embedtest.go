// Package embedtest holds what every embedder must fulfil. A test of an implementation calls [Run] and nothing else.
package embedtest

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/embed"
)

// texts are ordinary, strange and empty ones.
var texts = []embed.Text{
	{Name: "pdf-forms", Description: "Fill out forms in PDF files", Body: "# Forms\n\nRun the script."},
	{},
	{Body: "deploy a container"},
	{Body: "deploy a container"},
	{Name: "数据库", Description: "database queries"},
	{Body: "\xff\xfe broken \x00 bytes but words"},
	{Name: "only-a-name"},
	{Body: "   \n\t "},
}

// Run tests e: widths, order, repeatability, empty texts, use from several goroutines, and cancellation.
func Run(t *testing.T, e embed.Embedder) {
	t.Helper()
	ctx := context.Background()
	all, err := e.Embed(ctx, texts)
	if err != nil {
		t.Fatalf("embed: %v", err)
	}
	t.Run("width", func(t *testing.T) { width(t, e, all) })
	t.Run("one by one", func(t *testing.T) { single(t, e, all) })
	t.Run("nothing", func(t *testing.T) {
		if v, err := e.Embed(ctx, nil); err != nil || len(v) != 0 {
			t.Errorf("no texts: got %v %v", v, err)
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { single(t, e, all) })
		}
		wg.Wait()
	})
	t.Run("canceled", func(t *testing.T) {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if v, err := e.Embed(gone, []embed.Text{{Body: "never asked before"}}); err == nil {
			t.Errorf("canceled: got %v", v)
		}
	})
}

// width checks that each vector has the width that e names, a direction and no NaN, and that empty texts have none.
func width(t *testing.T, e embed.Embedder, all [][]float32) {
	if e.Model() == "" || e.Dim() < 1 || len(all) != len(texts) {
		t.Fatalf("model %q, width %d, %d vectors for %d texts", e.Model(), e.Dim(), len(all), len(texts))
	}
	for i, v := range all {
		if empty := i == 1 || i == 7; (v == nil) != empty {
			t.Errorf("text %d: got %v, a nil vector wanted: %v", i, v, empty)
			continue
		}
		if v == nil {
			continue
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if len(v) != e.Dim() || !(sum > 0) || math.IsInf(sum, 0) {
			t.Errorf("text %d: %d numbers, squares %v", i, len(v), sum)
		}
	}
	if !slices.Equal(all[2], all[3]) {
		t.Error("the same text has two vectors")
	}
}

// single checks that a text has the same vector whatever else is asked with it.
func single(t *testing.T, e embed.Embedder, all [][]float32) {
	for i, text := range texts {
		v, err := e.Embed(context.Background(), []embed.Text{text})
		if err != nil || len(v) != 1 || !slices.Equal(v[0], all[i]) {
			t.Errorf("text %d alone: got %d vectors, %v, another one than in the batch", i, len(v), err)
		}
	}
}
