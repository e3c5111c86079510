package store_test

import (
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

func TestTools(t *testing.T) {
	s := open(t, fastDir(t))
	var samples []store.ToolSample
	for i := range 10 {
		samples = append(samples, store.ToolSample{Key: "shell:run_shell", OK: true, MS: 2}, store.ToolSample{Key: "mcp:a:b", OK: i < 7, MS: 1})
	}
	if err := s.RecordTool(t.Context(), append(samples, store.ToolSample{Key: "mcp:a:never"})...); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, s.Home()).Tools()
	want := []store.ToolRecord{
		{Key: "mcp:a:b", ToolStats: store.ToolStats{Calls: 10, OK: 7, MS: 10, Recent: 10, RecentOK: 7}, Failures: 3},
		{Key: "mcp:a:never", ToolStats: store.ToolStats{Calls: 1, Recent: 1}, Failures: 1},
		{Key: "shell:run_shell", ToolStats: store.ToolStats{Calls: 10, OK: 10, MS: 20, Recent: 10, RecentOK: 10}},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
