package task_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// commands returns the commands of the suite as sh scripts: anything that speaks the line protocol may stand in their place.
func commands(t *testing.T, scripts map[string]string) task.Commands {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return task.Commands{
		Find: func(name string) (string, error) {
			if _, ok := scripts[name]; !ok {
				return "", wire.Errorf(wire.NotFound, "no %s", name)
			}
			return filepath.Join(dir, name), nil
		},
		Dir: dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "STATE=" + dir},
		Search: func(dirs []string) []string { return dirs },
	}
}

// echo answers each question with one hit whose name is the question, and with the end of the answer.
const echo = `
while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
	query=$(printf '%s' "$line" | sed 's/.*"query":"\([^"]*\)".*/\1/')
	case $query in
	die) echo once >>"$STATE/died"; [ "$(wc -l <"$STATE/died")" -gt 1 ] || exit 3 ;;
	always) echo '{"type":"error","code":"corrupt","message":"broken index","exit":10}' >&2; exit 10 ;;
	error) echo '{"type":"error","id":"'"$id"'","code":"usage","message":"bad query"}'; continue ;;
	slow) sleep 30 ;;
	esac
	echo '{"type":"zz-grease","id":"'"$id"'"}'
	echo '{"type":"hit","id":"'"$id"'","skill_id":"'"$1$query"'","score":0.5}'
	echo '{"type":"result","id":"'"$id"'","status":"success"}'
done
`

func finder(t *testing.T, c task.Commands) *task.Finder {
	t.Helper()
	f := task.NewFinder(context.Background(), c)
	t.Cleanup(f.Close)
	return f
}

func find(f *task.Finder, query string) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	hits, err := f.Find(ctx, wire.Query{Query: query, Limit: 5})
	for _, h := range hits {
		ids = append(ids, h.SkillID)
	}
	return ids, err
}

func TestFinder(t *testing.T) {
	f := finder(t, commands(t, map[string]string{"openspace-search": echo}))
	for range 2 {
		if ids, err := find(f, "pdf"); err != nil || !slices.Equal(ids, []string{"pdf"}) {
			t.Errorf("got %q, %v", ids, err)
		}
	}
	if _, err := find(f, "error"); wire.CodeOf(err) != wire.Usage || !strings.Contains(err.Error(), "bad query") {
		t.Errorf("got %v", err)
	}
	if ids, err := find(f, "after"); err != nil || !slices.Equal(ids, []string{"after"}) {
		t.Errorf("after an error: got %q, %v", ids, err)
	}
}

// Many tasks ask one process; each gets its own answer.
func TestFinderIsShared(t *testing.T) {
	f := finder(t, commands(t, map[string]string{"openspace-search": echo}))
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			want := fmt.Sprintf("q%d", i)
			if ids, err := find(f, want); err != nil || !slices.Equal(ids, []string{want}) {
				t.Errorf("got %q, %v, want %s", ids, err, want)
			}
		})
	}
	all.Wait()
}

// A process that died is started again; one that always dies is an error with its own words.
func TestFinderDies(t *testing.T) {
	f := finder(t, commands(t, map[string]string{"openspace-search": echo}))
	if ids, err := find(f, "die"); err != nil || !slices.Equal(ids, []string{"die"}) {
		t.Errorf("got %q, %v", ids, err)
	}
	if _, err := find(f, "always"); wire.CodeOf(err) != wire.Corrupt || !strings.Contains(err.Error(), "broken index") {
		t.Errorf("got %v", err)
	}
	if ids, err := find(f, "after"); err != nil || !slices.Equal(ids, []string{"after"}) {
		t.Errorf("after a death: got %q, %v", ids, err)
	}
}

func TestFinderIsCanceled(t *testing.T) {
	f := finder(t, commands(t, map[string]string{"openspace-search": echo}))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Find(ctx, wire.Query{Query: "slow"}); err == nil {
		t.Error("a question that was given up has an answer")
	}
	f.Close()
	if _, err := find(f, "pdf"); err == nil {
		t.Error("a closed finder answers")
	}
}

func TestFinderIsMissing(t *testing.T) {
	f := finder(t, commands(t, nil))
	if _, err := find(f, "pdf"); wire.CodeOf(err) != wire.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestFinderOfMoreFolders(t *testing.T) {
	f := finder(t, commands(t, map[string]string{"openspace-search": echo}))
	more, end := f.With([]string{"/more/"})
	defer end()
	if ids, err := find(more, "pdf"); err != nil || !slices.Equal(ids, []string{"/more/pdf"}) {
		t.Errorf("got %q, %v", ids, err)
	}
	if same, _ := f.With(nil); same != f {
		t.Error("without folders it is another finder")
	}
}

// download answers about each hit by its id.
const download = `
while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
	case $line in
	*refused*) echo '{"type":"error","id":"'"$id"'","code":"unsafe","message":"blocked"}' ;;
	*silent*) ;;
	*) echo '{"type":"imported","id":"'"$id"'","status":"success","skill_id":"x","name":"x","skill_dir":"/skills/x"}' ;;
	esac
done
`

func TestFetch(t *testing.T) {
	chosen := []wire.Hit{{SkillID: "here", SkillDir: "/here"}, {SkillID: "there", Name: "there"}, {SkillID: "refused"}, {SkillID: "silent"}}
	here, imports := task.Fetch(context.Background(), commands(t, map[string]string{"openspace-download-skill": download}), chosen)
	if len(here) != 2 || here[0].SkillDir != "/here" || here[1].SkillDir != "/skills/x" {
		t.Errorf("got %+v", here)
	}
	want := []wire.Import{
		{SkillID: "there", Name: "there", ImportStatus: "success", LocalPath: "/skills/x"},
		{SkillID: "refused", ImportStatus: "error", Error: "blocked"},
	}
	if len(imports) != 3 || !slices.Equal(imports[:2], want) || imports[2].ImportStatus != "error" || imports[2].Error == "" {
		t.Errorf("got %+v", imports)
	}
	here, imports = task.Fetch(context.Background(), commands(t, nil), chosen[:2])
	if len(here) != 1 || len(imports) != 1 || !strings.Contains(imports[0].Error, "no openspace-download-skill") {
		t.Errorf("without the command: got %+v, %+v", here, imports)
	}
}
