package skill_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// real is one of the real files.
type real struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Text   string `json:"skill_md"`
}

// folder is the base name of the folder that the file came from.
func (r real) folder() string { return filepath.Base(filepath.Dir(r.ID)) }

// corpus reads the real skills, or skips the test when they are not there.
func corpus(tb testing.TB) []real {
	tb.Helper()
	dir := os.Getenv("OPENSPACE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, "skills.jsonl.gz")
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		tb.Skipf("the real skills are not at %s (set OPENSPACE_DATA): skipping", path)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all []real
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r real
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	if len(all) != 3063 {
		tb.Fatalf("got %d real skills, want 3063", len(all))
	}
	return all
}
