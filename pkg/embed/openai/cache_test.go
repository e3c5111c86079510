package openai_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/embedtest"
	"github.com/openspace-dev/openspace/pkg/embed/openai"
)

func TestCacheConforms(t *testing.T) {
	embedtest.Run(t, embed.NewCache(t.TempDir(), builtin(t)))
	embedtest.Run(t, embed.NewCache(t.TempDir(), client(t, openai.Config{BaseURL: newFake(t, nil).URL})))
}

// No text is asked for twice: not in one call, not in the next, not by another process.
func TestCacheAsksOnce(t *testing.T) {
	f, dir := newFake(t, nil), filepath.Join(t.TempDir(), "new", "dir")
	ask := func(texts []embed.Text) [][]float32 {
		t.Helper()
		v, err := embed.NewCache(dir, client(t, openai.Config{BaseURL: f.URL})).Embed(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	texts := append(skills(5), skills(5)...)
	first := ask(texts)
	if n := len(f.requests[0].input); f.count() != 1 || n != 5 {
		t.Errorf("%d requests, the first with %d texts", f.count(), n)
	}
	second := ask(texts)
	if f.count() != 1 || !slices.EqualFunc(first, second, slices.Equal) {
		t.Errorf("asked again: %d requests", f.count())
	}
	ask(skills(6))
	if n := len(f.requests[len(f.requests)-1].input); f.count() != 2 || n != 1 {
		t.Errorf("a new text: %d requests, the last with %d texts", f.count(), n)
	}
}

// EM-01 and EM-02: another model, of another width or of the same, never gets the vectors of the first one.
func TestEM02ModelsApart(t *testing.T) {
	f, dir := newFake(t, nil), t.TempDir()
	for _, model := range []string{"fake-a", "fake-b"} {
		c := embed.NewCache(dir, client(t, openai.Config{BaseURL: f.URL, Model: model}))
		if _, err := c.Embed(context.Background(), skills(3)); err != nil {
			t.Fatal(err)
		}
	}
	if f.count() != 2 || f.requests[1].model != "fake-b" || len(f.requests[1].input) != 3 {
		t.Errorf("%d requests, the last to %q", f.count(), f.requests[1].model)
	}
	if embed.File(dir, "a") == embed.File(dir, "b") {
		t.Error("two models share a file")
	}
}

func TestCacheSurvivesDamage(t *testing.T) {
	f, dir := newFake(t, nil), t.TempDir()
	c := embed.NewCache(dir, client(t, openai.Config{BaseURL: f.URL}))
	ask := func() {
		t.Helper()
		if v, err := c.Embed(context.Background(), skills(3)); err != nil || v[0] == nil {
			t.Fatalf("got %v %v", v, err)
		}
	}
	ask()
	path := embed.File(dir, c.Model())
	for _, data := range []string{"", "OSVECTR\n", "rubbish"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		before := f.count()
		ask()
		ask()
		if f.count() != before+1 {
			t.Errorf("file %q: %d requests, want 1", data, f.count()-before)
		}
	}
	blocked := embed.NewCache(path, client(t, openai.Config{BaseURL: f.URL})) // below a file nothing can be written
	if v, err := blocked.Embed(context.Background(), skills(1)); err != nil || v[0] == nil {
		t.Errorf("no place to write: got %v %v", v, err)
	}
}

func TestKey(t *testing.T) {
	a, b := embed.Text{Name: "a", Description: "b"}, embed.Text{Name: "ab"}
	if a.Key() == b.Key() || a.Key() != (embed.Text{Name: "a", Description: "b"}).Key() {
		t.Error("keys do not tell the parts apart")
	}
	if got, want := (embed.Text{Name: "a", Description: "b", Body: "c"}).Join(), "a\nb\n\nc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := embed.Query("c").Join(), "c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func builtin(t *testing.T) *embed.Static {
	t.Helper()
	s, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
