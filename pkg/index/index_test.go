package index_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
)

// write makes a skill folder whose file is old enough for its stamp to be trusted.
func write(t *testing.T, root, rel, name, description, body string) {
	t.Helper()
	dir := filepath.Join(root, rel)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func settle() { time.Sleep(60 * time.Millisecond) }

func open(t *testing.T, root, dir string) *index.Index {
	t.Helper()
	x, err := index.Open(context.Background(), roots.Root{Dir: root}, index.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// find returns "name score" of each match, best first.
func find(t *testing.T, s index.Set, query string) []string {
	t.Helper()
	scores, err := s.Score(lexical.ParseQuery(query))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range scores.Top(100) {
		d, err := s.Doc(m.Ref)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %v", d.Name, m.Score))
	}
	return out
}

func names(matches []string) string {
	var n []string
	for _, m := range matches {
		n = append(n, strings.Fields(m)[0])
	}
	return strings.Join(n, " ")
}

func TestSearch(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "pdf", "convert documents to PDF", "")
	write(t, root, "group/b", "docx", "edit word documents", "")
	write(t, root, "c", "sql", "tune queries", "")
	write(t, root, "d", "mp", "把公众号文章转成周报", "")
	write(t, root, "e", "lang", "C++ and C# and node.js tools", "")
	write(t, root, "f", "c-lang", "only c here", "")
	x := open(t, root, dir)
	if x.Len() != 6 || x.State() != index.Checked || len(x.Warnings()) > 0 {
		t.Fatalf("got %d skills, state %s, warnings %q", x.Len(), x.State(), x.Warnings())
	}
	for query, want := range map[string]string{
		"convert word document to pdf": "pdf docx",
		"公众号":                          "mp",
		"c++":                          "lang",
		"nodejs":                       "lang",
		"node.js":                      "lang",
		"tuning query":                 "sql",
		"nothing like it":              "",
		"DOCUMENT":                     "pdf docx",
	} {
		got := names(find(t, index.Set{x}, query))
		if query == "DOCUMENT" {
			if len(strings.Fields(got)) != 2 {
				t.Errorf("%q: got %q, want both documents", query, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// The exact form counts more than another form of its stem.
func TestExactFormFirst(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "testing things", "")
	write(t, root, "b", "two", "tested things", "")
	x := open(t, root, dir)
	for query, want := range map[string]string{"testing": "one two", "tested": "two one"} {
		if got := names(find(t, index.Set{x}, query)); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// SR-05: a word scores above zero however many skills have it.
func TestSmallStores(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for df := 1; df <= n; df++ {
			root, dir := t.TempDir(), t.TempDir()
			for i := range n {
				word := "other"
				if i < df {
					word = "needle"
				}
				write(t, root, fmt.Sprint(i), fmt.Sprintf("s%d", i), word, "")
			}
			got := find(t, index.Set{open(t, root, dir)}, "needle")
			if len(got) != df {
				t.Errorf("%d of %d: got %q", df, n, got)
			}
		}
	}
}

// An index brought up to date scores to the last bit like one built from nothing.
func TestUpdateEqualsRebuild(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	put := func(i int, word string) {
		write(t, root, fmt.Sprintf("g%d/s%02d", i%3, i), fmt.Sprintf("skill-%d", i), word+" things", strings.Repeat(word+" body ", i+1))
	}
	for i := range 20 {
		put(i, "alpha")
	}
	open(t, root, dir)
	settle()
	for step := range 14 {
		put(step, "beta")
		put(30+step, "alpha beta")
		if err := os.RemoveAll(filepath.Join(root, fmt.Sprintf("g%d/s%02d", (19-step)%3, 19-step))); err != nil {
			t.Fatal(err)
		}
		x := open(t, root, dir)
		fresh := open(t, root, t.TempDir())
		for _, q := range []string{"alpha", "beta", "alpha things", "body skill"} {
			if got, want := find(t, index.Set{x}, q), find(t, index.Set{fresh}, q); fmt.Sprint(sorted(got)) != fmt.Sprint(sorted(want)) {
				t.Fatalf("step %d, %q:\ngot  %q\nwant %q", step, q, got, want)
			}
		}
	}
}

func sorted(s []string) []string {
	s = append([]string(nil), s...)
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s
}

func TestNoticesEveryChange(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "first", "")
	write(t, root, "b", "two", "second", "")
	open(t, root, dir)
	check := func(what, query, want string) {
		t.Helper()
		if got := names(find(t, index.Set{open(t, root, dir)}, query)); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	write(t, root, "a", "one", "third", "")
	check("edited at once", "third", "one")
	check("edited at once", "first", "")
	settle()
	check("settled", "third", "one")
	old := time.Now().Add(-time.Hour)
	write(t, root, "a", "one", "fifth", "")
	os.Chtimes(filepath.Join(root, "a/SKILL.md"), old, old)
	check("edited to the same size under an old time", "fifth", "one")
	os.Rename(filepath.Join(root, "b"), filepath.Join(root, "moved"))
	check("moved", "second", "two")
	write(t, root, "deep/er/c", "three", "deeper", "")
	check("new in a new group", "deeper", "three")
	os.RemoveAll(filepath.Join(root, "a"))
	check("deleted", "fifth", "")
	os.WriteFile(filepath.Join(root, "moved/SKILL.md"), []byte{'-', '-', 0xff, 0xfe}, 0o644)
	check("no longer text", "second", "")
	x := open(t, root, dir)
	if p := x.Problems(); len(p) != 1 || p[0].Code != "not-utf8" {
		t.Errorf("got problems %+v, want not-utf8", p)
	}
	settle()
	open(t, root, dir)
	write(t, root, "moved", "two", "mended", "")
	check("mended", "mended", "two")
	if p := open(t, root, dir).Problems(); len(p) != 0 {
		t.Errorf("got problems %+v after mending", p)
	}
}

func TestNoRefresh(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "first", "")
	open(t, root, dir)
	write(t, root, "b", "two", "first", "")
	x, err := index.Open(context.Background(), roots.Root{Dir: root}, index.Options{Dir: dir, NoRefresh: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got := names(find(t, index.Set{x}, "first")); got != "one" || x.State() != index.Unchecked {
		t.Errorf("got %q, state %s", got, x.State())
	}
}

func TestMissingRoot(t *testing.T) {
	root, dir := filepath.Join(t.TempDir(), "none"), t.TempDir()
	x := open(t, root, dir)
	if x.Len() != 0 || len(x.Warnings()) != 0 {
		t.Errorf("got %d skills, warnings %q", x.Len(), x.Warnings())
	}
	if e, _ := os.ReadDir(dir); len(e) != 0 {
		t.Errorf("a missing root left %v", e)
	}
	write(t, root, "a", "one", "first", "")
	if got := names(find(t, index.Set{open(t, root, dir)}, "first")); got != "one" {
		t.Errorf("got %q after the root came to be", got)
	}
	os.RemoveAll(root)
	if x := open(t, root, dir); x.Len() != 0 {
		t.Errorf("got %d skills after the root went away", x.Len())
	}
}

// Several roots are searched with the document frequencies of all together.
func TestSet(t *testing.T) {
	a, b, both, dir := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	write(t, a, "x", "one", "alpha beta", "")
	write(t, b, "y", "two", "alpha", "")
	write(t, both, "x", "one", "alpha beta", "")
	write(t, both, "y", "two", "alpha", "")
	set := index.Set{open(t, a, dir), open(t, b, dir)}
	if got, want := find(t, set, "alpha beta"), find(t, index.Set{open(t, both, dir)}, "alpha beta"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every byte of an index file may be wrong: the search gives the right answer, builds anew, or says that the
// index is damaged.
func TestDamage(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	for i := range 12 {
		write(t, root, fmt.Sprint(i), fmt.Sprintf("skill-%d", i), "alpha beta", "gamma")
	}
	settle()
	want := fmt.Sprint(find(t, index.Set{open(t, root, dir)}, "alpha gamma"))
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(files) < 3 {
		t.Fatalf("index of %d files", len(files))
	}
	pristine := map[string][]byte{}
	for _, f := range files {
		pristine[f], _ = os.ReadFile(f)
	}
	damage := func(f string, at int, bad []byte) {
		os.RemoveAll(filepath.Dir(f))
		os.MkdirAll(filepath.Dir(f), 0o700)
		for name, data := range pristine {
			if name == f {
				data = bad
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(find(t, index.Set{open(t, root, dir)}, "alpha gamma")); got != want {
			t.Fatalf("%s damaged at %d: got %s, want %s", filepath.Base(f), at, got, want)
		}
	}
	for f, good := range pristine {
		for at := 0; at < len(good); at += 1 + len(good)/40 {
			damage(f, at, flip(good, at))
			damage(f, at, good[:at])
		}
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x55
	return b
}

func TestInspect(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	r := roots.Root{Dir: root}
	if s := index.Inspect(r, dir, true); s.Exists || s.Problem != nil {
		t.Errorf("without an index: got %+v", s)
	}
	write(t, root, "a", "one", "needle", "")
	write(t, root, "b", "two", "needle", "")
	settle()
	open(t, root, dir)
	os.RemoveAll(filepath.Join(root, "b"))
	open(t, root, dir)
	if s := index.Inspect(r, dir, true); !s.Exists || s.Skills != 1 || s.Bytes == 0 || s.Problem != nil {
		t.Errorf("got %+v", s)
	}
	x, err := index.Rebuild(context.Background(), r, index.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	if s := index.Inspect(r, dir, true); s.Deleted != 0 || s.Skills != 1 {
		t.Errorf("after building anew: got %+v", s)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "MANIFEST"))
	if len(files) != 1 {
		t.Fatalf("got manifests %q", files)
	}
	os.WriteFile(files[0], []byte("x"), 0o600)
	if s := index.Inspect(r, dir, false); s.Exists || s.Problem == nil {
		t.Errorf("damaged: got %+v", s)
	}
}
