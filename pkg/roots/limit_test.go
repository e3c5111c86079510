package roots

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The cap is tested from inside because 200,000 folders are slow to make.
func TestCap(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("g%02d", i), "s"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("g%02d", i), "s", "SKILL.md"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("g%02d", i), filepath.Join(dir, fmt.Sprintf("l%02d", i))); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := walkLimited(context.Background(), Root{Dir: dir}, 25)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Folders) != 4 || tree.Folders[3].Rel != "g03/s" {
		t.Errorf("got %d skills, want the first 4 (25 folders less the root and 20 groups)", len(tree.Folders))
	}
	if len(tree.Problems) != 1 || tree.Problems[0].Code != CodeTooManyFolders || tree.Problems[0].Path != filepath.Join(dir, "g04", "s") {
		t.Errorf("got problems %v, want one %s at g04/s", tree.Problems, CodeTooManyFolders)
	}
}
