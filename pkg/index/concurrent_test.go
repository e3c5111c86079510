package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
)

// Many open, refresh and search the same index while skills come: nobody fails, and nobody misses what was
// there before it opened.
func TestManyAtOnce(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	const skills, searchers = 30, 6
	written := make(chan int, skills)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(written)
		for i := range skills {
			write(t, root, fmt.Sprintf("s%02d", i), fmt.Sprintf("skill-%d", i), "needle", "")
			written <- i
		}
	})
	for range searchers {
		group.Go(func() {
			for i := range written {
				if n, err := count(root, dir); err != nil || n < i+1 {
					t.Errorf("after skill %d: found %d, %v", i, n, err)
				}
			}
		})
	}
	group.Wait()
	if n, err := count(root, dir); n != skills || err != nil {
		t.Errorf("in the end found %d, %v; want %d", n, err, skills)
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "*", "seg-*"))
	if len(segments) == 0 || len(segments) > 9 {
		t.Errorf("%d segments are left", len(segments))
	}
}

func count(root, dir string) (int, error) {
	x, err := index.Open(context.Background(), roots.Root{Dir: root}, index.Options{Dir: dir})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	scores, err := index.Set{x}.Score(lexical.ParseQuery("needle"))
	if err != nil {
		return 0, err
	}
	return len(scores.Top(1000)), nil
}

// A directory that cannot be written, and one that is full, cost a warning and time, never the answer.
func TestReadOnly(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "needle", "")
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{filepath.Join(blocked, "index"), "/proc/none/index"} {
		x := open(t, root, where)
		if got := names(find(t, index.Set{x}, "needle")); got != "one" || len(x.Warnings()) != 1 {
			t.Errorf("%s: got %q, warnings %q", where, got, x.Warnings())
		}
	}
}

// The index of a root that was moved is built anew at its new place, and two names of one root share an index.
func TestRootNames(t *testing.T) {
	base, dir := t.TempDir(), t.TempDir()
	root := filepath.Join(base, "root")
	write(t, root, "a", "one", "needle", "")
	link := filepath.Join(base, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	open(t, root, dir)
	x := open(t, link, dir)
	refs, err := index.Set{x}.Named("one")
	if err != nil || len(refs) != 1 {
		t.Fatalf("got %v, %v", refs, err)
	}
	d, _ := index.Set{x}.Doc(refs[0])
	if got := (index.Set{x}).Dir(refs[0], d); got != filepath.Join(link, "a") {
		t.Errorf("got folder %q below the name that was given", got)
	}
	if e, _ := os.ReadDir(dir); len(e) != 1 {
		t.Errorf("got %d indexes for one root", len(e))
	}
}
