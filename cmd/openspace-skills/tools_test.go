package main

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// What the key and the calls of a tool say.
func TestUseOf(t *testing.T) {
	for _, c := range []struct {
		key                           string
		calls, ok                     int
		backend, server, name, status string
	}{
		{"shell:run_shell", 9, 9, "shell", "", "run_shell", "ok"},
		{"mcp:shop:pack", 4, 0, "mcp", "shop", "pack", "few"},
		{"mcp:shop:pack", 5, 0, "mcp", "shop", "pack", "failing"},
		{"mcp:a:b:pack", 5, 5, "mcp", "a:b", "pack", "ok"},
	} {
		got := useOf(store.ToolRecord{Key: c.key, ToolStats: store.ToolStats{Calls: c.calls, OK: c.ok, Recent: c.calls, RecentOK: c.ok}})
		if got.Backend != c.backend || got.Server != c.server || got.Name != c.name || got.Status != c.status {
			t.Errorf("%s: got %+v, want %+v", c.key, got, c)
		}
	}
}
