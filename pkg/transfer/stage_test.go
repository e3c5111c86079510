package transfer_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
)

// What an import left that was killed is found by the collection of the store, by its name, also where nothing was imported before.
func TestStageIsCollected(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "skills")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	stage, err := transfer.MakeStage(root)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(home, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for want, age := range []time.Duration{0, 2 * time.Hour} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(stage, then, then); err != nil {
			t.Fatal(err)
		}
		if got, err := st.GC(t.Context(), false); err != nil || got.Folders != want {
			t.Errorf("%s old: got %+v, %v, want %d folders", age, got, err, want)
		}
	}
	if _, err := os.Lstat(stage); err == nil {
		t.Errorf("%s is still there", stage)
	}
}
