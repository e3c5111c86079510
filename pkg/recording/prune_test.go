package recording_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/recording"
)

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-48 * time.Hour)
	for i := range 4 {
		r := create(t, dir, fmt.Sprint("t", i), recording.Meta{})
		fill(t, r, "plain")
		if i != 0 {
			must(t, r.Close(recording.Outcome{Status: "success"})) // t0 runs
		}
		time.Sleep(2 * time.Millisecond)
	}
	old := func(keep int, before time.Time) (names []string) {
		all, _, err := recording.List(dir)
		must(t, err)
		for _, s := range recording.Old(all, keep, before) {
			names = append(names, s.Name)
		}
		return names
	}
	tests := []struct {
		name   string
		keep   int
		before time.Time
		want   []string
	}{
		{"nothing asked", -1, time.Time{}, []string{"t3", "t2", "t1"}},
		{"keep two", 2, time.Time{}, []string{"t1"}},
		{"keep all", 9, time.Time{}, nil},
		{"none is so old", -1, long, nil},
		{"all are so old", -1, time.Now(), []string{"t3", "t2", "t1"}},
		{"both", 1, time.Now(), []string{"t2", "t1"}},
	}
	for _, tt := range tests {
		if got := old(tt.keep, tt.before); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "t0"))
	must(t, err)
	for _, e := range entries {
		must(t, os.Chtimes(filepath.Join(dir, "t0", e.Name()), long, long))
	}
	if got := old(3, time.Time{}); !reflect.DeepEqual(got, []string{"t0"}) {
		t.Errorf("got %q, want the one that was killed long ago", got)
	}
	s := open(t, dir, "t0")
	if size, err := s.Size(); err != nil || size < 1000 {
		t.Errorf("got %d bytes, %v", size, err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, ".removing-t0", "x"), 0o700), s.Remove(), os.MkdirAll(filepath.Join(dir, ".removing-t9", "x"), 0o700), recording.Sweep(dir))
	entries, err = os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("got %v, %v, want three recordings", entries, err)
	}
}
