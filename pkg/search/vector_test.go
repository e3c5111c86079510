package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/openai"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/search"
)

// endpoint plays an embedding endpoint whose vectors tell what a text is about: the sea, or money.
func endpoint(t *testing.T, broken *atomic.Bool) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if broken.Load() {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusUnauthorized)
			return
		}
		var data []string
		for i, text := range req.Input {
			vector := "[0,1]"
			if strings.Contains(text, "ship") || strings.Contains(text, "boat") {
				vector = "[1,0.1]"
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, vector))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	return server
}

// With an endpoint, skills are found by its vectors; when it fails, by words, with a warning.
func TestEndpoint(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for name, description := range map[string]string{"harbour": "guide a ship into port", "bank": "count coins"} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n", name, description)
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var broken atomic.Bool
	client, err := openai.New(openai.Config{BaseURL: endpoint(t, &broken).URL, Key: "key", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := search.Open(context.Background(), search.Config{Home: home, Roots: []roots.Root{{Dir: root}}, Policy: safety.DefaultPolicy(), Embedder: client})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	find := func(query string) (names []string, warnings []string) {
		res, err := e.Search(context.Background(), search.Request{Query: query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			names = append(names, h.Name)
		}
		return names, res.Warnings
	}
	if names, warnings := find("my boat"); fmt.Sprint(names) != "[harbour]" || len(warnings) > 0 {
		t.Errorf("by vector: got %q, warnings %q", names, warnings)
	}
	broken.Store(true)
	if names, warnings := find("coins"); fmt.Sprint(names) != "[bank]" || len(warnings) != 1 {
		t.Errorf("by words: got %q, warnings %q", names, warnings)
	}
}

// EM-01: an endpoint that gives another width under the same name costs the process that knows the first one its vectors;
// the next one embeds all skills again. Both say so.
func TestEM01WidthChanges(t *testing.T) {
	var dim atomic.Int32
	dim.Store(2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		json.NewDecoder(r.Body).Decode(&req)
		vector := "[1" + strings.Repeat(",1", int(dim.Load())-1) + "]"
		fmt.Fprintf(w, `{"data":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"embedding":`+vector+`},`, len(req.Input)), ","))
	}))
	t.Cleanup(server.Close)
	root, home := t.TempDir(), t.TempDir()
	long := "---\nname: long\ndescription: d\n---\n" + strings.Repeat("word ", 10_000)
	if err := os.WriteFile(filepath.Join(root, "SKILL.md"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func() *search.Engine {
		client, err := openai.New(openai.Config{BaseURL: server.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		e, err := search.Open(context.Background(), search.Config{Home: home, Roots: []roots.Root{{Dir: root}}, Policy: safety.DefaultPolicy(),
			Embedder: embed.NewCache(filepath.Join(home, "embed"), client), Queries: client})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e
	}
	for _, width := range []int32{3, 4} {
		e := open()
		if width == 3 { // EM-04
			if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], `"long" was cut`) {
				t.Errorf("got warnings %q, want that the text was cut", w)
			}
		}
		dim.Store(width)
		res, err := e.Search(context.Background(), search.Request{Query: "anything", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Warnings) == 0 || width == 4 && len(res.Hits) != 1 {
			t.Errorf("width %d: got %d hits, warnings %q", width, len(res.Hits), res.Warnings)
		}
	}
}
