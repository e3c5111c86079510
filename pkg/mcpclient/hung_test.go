package mcpclient_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpclient"
)

// A server that hangs at its start costs the first task its time, and not the ones after it, also in other processes. That is forgotten
// when it works, and when it is configured otherwise.
func TestHungServer(t *testing.T) {
	cache, ready := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "ready")
	hung := func(limit time.Duration, env ...string) mcpclient.Server {
		s := peer(t, "slow", "hang-until", append(env, "READY_FILE="+ready)...)
		s.StartTimeout = limit
		return s
	}
	warned := func(s mcpclient.Server, want string) {
		t.Helper()
		f := openIn(t, cache, s, peer(t, "good", "good"))
		defer f.Close()
		all, warnings := f.Tools(t.Context(), f.env)
		if len(all) == 0 || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "MCP server slow: its tools are left out: it did not tell ") || !strings.Contains(warnings[0], want) {
			t.Errorf("got %d tools, %q, want %q", len(all), warnings, want)
		}
	}
	warned(hung(time.Second), "within 1s")
	warned(hung(time.Hour), "as it hung when it was started before") // an hour is not waited for
	warned(hung(time.Second, "OTHER=x"), "within 1s")
	warned(hung(time.Hour, "OTHER=x"), "as it hung when it was started before")
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := openIn(t, cache, hung(time.Hour, "OTHER=x"))
	for start := time.Now(); ; { // on a slow machine it takes longer to start than it is waited for
		if all, _ := f.Tools(t.Context(), f.env); len(all) == 1 {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("a server that works now is not there")
		}
	}
	f.Close()
	files, err := filepath.Glob(filepath.Join(cache, "slow-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %q, %v, want one file", files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || strings.Contains(string(text), "failed_at") {
		t.Errorf("got %s, %v, want no word of the failures", text, err)
	}
}

// What is known of a server's tools stays known when it hangs.
func TestHungLater(t *testing.T) {
	cache, ready := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "ready")
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := peer(t, "slow", "hang-until", "READY_FILE="+ready)
	first := openIn(t, cache, s)
	if all, warnings := first.Tools(t.Context(), first.env); len(all) != 1 || len(warnings) > 0 {
		t.Fatalf("got %d tools, %q", len(all), warnings)
	}
	first.Close()
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	s.StartTimeout = time.Second
	second := openIn(t, cache, s)
	all, _ := second.Tools(t.Context(), second.env)
	if len(all) != 1 {
		t.Fatalf("got %d tools, want those of the cache", len(all))
	}
	set, _ := second.set(t)
	if res := call(t, set, "slow__do", nil); !strings.Contains(res.Content, "within 1s") {
		t.Errorf("got %+v, want that it did not start", res)
	}
	second.Close()
	third := openIn(t, cache, s)
	if all, warnings := third.Tools(t.Context(), third.env); len(all) != 1 || len(warnings) > 0 {
		t.Errorf("got %d tools, %q, want those of the cache", len(all), warnings)
	}
}
