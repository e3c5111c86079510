package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
)

// A power cut may lose the swap and keep the line, if a disk does not do what
// it says: then the committed content is put in place from the stage.
func TestRecoverLostSwap(t *testing.T) {
	for _, action := range []string{"replace", "replace-plain", "create"} {
		for _, half := range []bool{false, true} {
			w := newWorld(t)
			killedAt(action, "journal:synced")(t, w)
			stage, old := hidden(t, w.root, ".os-stage-"), hidden(t, w.root, ".os-old-")
			switch {
			case action == "create":
				rename(t, w.dir, filepath.Join(w.root, ".os-stage-"+intentTag(t, w)))
			case action == "replace-plain":
				rename(t, w.dir, filepath.Join(w.root, ".os-stage-"+intentTag(t, w)))
				if !half {
					rename(t, old, w.dir)
				}
			default:
				rename(t, w.dir, w.dir+"-new")
				rename(t, stage, w.dir)
				rename(t, w.dir+"-new", stage)
			}
			s := open(t, w.home)
			if n, err := s.Recover(t.Context()); n != 1 || err != nil {
				t.Errorf("%s: got %d, %v, want 1 recovered", action, n, err)
			}
			if got := readFile(t, filepath.Join(w.dir, "SKILL.md")); got != text("pdf", editedBody) {
				t.Errorf("%s: got %q, want the committed content", action, got)
			}
			if entries, _ := os.ReadDir(w.root); len(entries) != 1 {
				t.Errorf("%s: got %v beside the skill", action, entries)
			}
			wantStatus(t, s, w.dir, store.Clean)
			checkSound(t, s)
		}
	}
}

// hidden finds the one folder with that prefix, "" if there is none.
func hidden(t *testing.T, root, prefix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil || len(found) > 1 {
		t.Fatalf("got %q, %v", found, err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// intentTag is the random part of the names of the one change under way.
func intentTag(t *testing.T, w world) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.home, "store/intents/*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("got %q, %v", found, err)
	}
	name := filepath.Base(found[0])
	return name[:len(name)-len(".json")]
}

func TestCopyFileKeepsTimeAndMode(t *testing.T) {
	dir := fastDir(t)
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeFile(t, from, "content")
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(from, when, when); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(from, 0o640); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.CopyFile(from, to, info); err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(to)
	if err != nil || readFile(t, to) != "content" || !got.ModTime().Equal(when) || got.Mode() != info.Mode() {
		t.Errorf("got %v, %v, want the same time and mode", got, err)
	}
	if err := store.CopyFile(from, to, info); err == nil {
		t.Error("got no error for a target that exists")
	}
}
