package openai_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/openai"
)

// What an endpoint answered before it failed is remembered: with one that is too slow for all texts, each call gets further.
func TestCacheGetsFurther(t *testing.T) {
	var closed atomic.Bool
	f := newFake(t, func(w http.ResponseWriter, a asked) {
		if closed.Load() || slices.ContainsFunc(a.input, func(s string) bool { return strings.Contains(s, "skill-7") }) {
			refuse(w, http.StatusUnauthorized, "no")
			return
		}
		reply(w, a.input, 8)
	})
	c := embed.NewCache(t.TempDir(), client(t, openai.Config{BaseURL: f.URL, Batch: 1}))
	var err error
	for range 200 { // requests go out several at once, so that the refusal may come before any answer
		closed.Store(false)
		if _, err = c.Embed(context.Background(), skills(8)); !errors.Is(err, embed.ErrAuth) {
			t.Fatalf("got error %v, want %v", err, embed.ErrAuth)
		}
		closed.Store(true)
		if _, err = c.Embed(context.Background(), skills(3)); err == nil {
			return
		}
	}
	t.Errorf("got error %v, want the answers of earlier calls", err)
}

// A text that an endpoint refuses however short it is has no vector; the others have.
func TestRefusedText(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, a asked) {
		if slices.ContainsFunc(a.input, func(s string) bool { return strings.Contains(s, "skill-0") }) {
			refuse(w, http.StatusBadRequest, "content filter")
			return
		}
		reply(w, a.input, 8)
	})
	c := client(t, openai.Config{BaseURL: f.URL})
	got, err := c.Embed(context.Background(), skills(9))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if (v == nil) != (i == 0) {
			t.Errorf("text %d: got %d numbers", i, len(v))
		}
	}
	if w := c.Warnings(); len(w) != 1 || !strings.Contains(w[0], `"skill-0"`) || !strings.Contains(w[0], "content filter") {
		t.Errorf("got warnings %q", w)
	}
}

// The end of the time says which host did not answer.
func TestTimeoutNamesHost(t *testing.T) {
	stop := make(chan struct{})
	f := newFake(t, func(http.ResponseWriter, asked) { <-stop })
	t.Cleanup(func() { close(stop) })
	_, err := client(t, openai.Config{BaseURL: f.URL, Timeout: 50 * time.Millisecond}).Embed(context.Background(), skills(1))
	if !errors.Is(err, embed.ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("got error %v", err)
	}
}

// Many texts that are cut are a few warnings.
func TestWarningsBounded(t *testing.T) {
	c := client(t, openai.Config{BaseURL: newFake(t, nil).URL, MaxTokens: 2})
	if _, err := c.Embed(context.Background(), skills(20)); err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) != 6 || !strings.Contains(w[5], "15 more") {
		t.Errorf("got warnings %q", w)
	}
}
