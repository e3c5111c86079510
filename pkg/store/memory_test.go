package store_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

func TestMemorySide(t *testing.T) {
	dir := makeSkill(t, t.TempDir(), "pdf", "body")
	disk, err := store.DiskSide(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{"SKILL.md": []byte(text("pdf", "body"))}
	if got, err := store.Compare(disk, store.MemorySide(content, nil)); err != nil || len(got) != 0 {
		t.Errorf("the same files: got %+v, %v", got, err)
	}
	content["run"] = []byte("x\n")
	got, err := store.Compare(disk, store.MemorySide(content, map[string]bool{"run": true}))
	if err != nil || len(got) != 1 || got[0].Change != "added" || !strings.Contains(got[0].Patch, "new file mode 100755") {
		t.Errorf("got %+v, %v", got, err)
	}
}
