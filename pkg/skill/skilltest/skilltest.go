// Package skilltest gives tests the real skills of the large test data.
package skilltest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Real is a line of skills.jsonl.gz: a SKILL.md that somebody has published.
type Real struct {
	ID     string `json:"id"` // repository and path
	Source string `json:"source"`
	Text   string `json:"skill_md"`
}

// Folder is the base name of the folder that the file came from.
func (r Real) Folder() string { return filepath.Base(filepath.Dir(r.ID)) }

// count is how many skills there are.
const count = 3063

// Reals returns the real skills, for tests of a package two levels below the top. It skips the test when they are not in
// $OPENSPACE_DATA (../shared/data).
func Reals(tb testing.TB) (all []Real) {
	tb.Helper()
	dir := os.Getenv("OPENSPACE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "skills.jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("the real skills are not in %s (set OPENSPACE_DATA)", dir)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var r Real
		switch err := d.Decode(&r); {
		case err == io.EOF && len(all) == count:
			return all
		case err != nil:
			tb.Fatalf("got %d real skills, %v, want %d", len(all), err, count)
		}
		all = append(all, r)
	}
}
