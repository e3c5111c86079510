package index_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/roots"
)

// letters is an embedder whose vectors count letters: texts of like letters are near.
type letters struct {
	model string
	calls int // documents embedded so far
	err   error
}

func (e *letters) Model() string { return e.model }
func (e *letters) Dim() int      { return 26 }

func (e *letters) Embed(_ context.Context, docs []index.Document) ([][]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.calls += len(docs)
	out := make([][]float32, len(docs))
	for i, d := range docs {
		out[i] = vectorOf(d.Description)
	}
	return out, nil
}

func vectorOf(text string) []float32 {
	v := make([]float32, 26)
	none := true
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' {
			v[r-'a']++
			none = false
		}
	}
	if none {
		return nil
	}
	return v
}

func openWith(t *testing.T, root, dir string, e index.Embedder) *index.Index {
	t.Helper()
	x, err := index.Open(context.Background(), roots.Root{Dir: root}, index.Options{Dir: dir, Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// near returns the names of the nearest skills.
func near(t *testing.T, x *index.Index, text string) string {
	t.Helper()
	s := index.Set{x}
	matches, err := s.Near(vectorOf(text), 2)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range matches {
		d, err := s.Doc(m.Ref)
		if err != nil {
			t.Fatal(err)
		}
		c, ok, err := s.Cosines(vectorOf(text), []index.Ref{m.Ref}, []index.Doc{d})
		if err != nil || !ok[0] || c[0] < m.Score-0.001 || c[0] > m.Score+0.001 {
			t.Errorf("%s: cosine %v %v %v, in the list %v", d.Name, c, ok, err, m.Score)
		}
		out = append(out, d.Name)
	}
	return strings.Join(out, " ")
}

func TestVectors(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	write(t, root, "b", "two", "bbbb", "")
	write(t, root, "c", "three", "cccc", "")
	write(t, root, "d", "none", "1234", "")
	settle()
	e := &letters{model: "letters"}
	if got := near(t, openWith(t, root, dir, e), "aaab"); got != "one two" {
		t.Errorf("got %q", got)
	}
	openWith(t, root, dir, e)
	if e.calls != 4 {
		t.Errorf("embedded %d documents in two searches, want 4", e.calls)
	}
	write(t, root, "e", "four", "aaaab", "")
	if got := near(t, openWith(t, root, dir, e), "aaab"); got != "four one" || e.calls != 5 {
		t.Errorf("after adding one: got %q, %d embedded", got, e.calls)
	}
	os.RemoveAll(filepath.Join(root, "e"))
	if got := near(t, openWith(t, root, dir, e), "aaab"); got != "one two" {
		t.Errorf("after removing one: got %q", got)
	}
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, "z")); err != nil {
		t.Fatal(err)
	}
	if got := near(t, openWith(t, root, dir, e), "aaab"); got != "one two" || e.calls > 6 {
		t.Errorf("after moving one: got %q, %d embedded", got, e.calls)
	}
}

// Vectors of one model are never searched with another's, and come back when the first is used again.
func TestVectorsOfTwoModels(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	settle()
	first, second := &letters{model: "first"}, &letters{model: "second"}
	if w := openWith(t, root, dir, first).Warnings(); len(w) > 0 {
		t.Errorf("the first model: got warnings %q", w)
	}
	if w := openWith(t, root, dir, second).Warnings(); len(w) != 1 || !strings.Contains(w[0], "second") {
		t.Errorf("the second model: got warnings %q", w)
	}
	write(t, root, "b", "two", "bbbb", "")
	settle()
	openWith(t, root, dir, second)
	if got := near(t, openWith(t, root, dir, first), "bb"); got != "two one" {
		t.Errorf("got %q", got)
	}
	if first.calls != 2 || second.calls != 2 {
		t.Errorf("embedded %d and %d documents, want 2 and 2", first.calls, second.calls)
	}
}

// An embedder that fails costs the vectors and a warning, not the search; the next one goes on where it stopped.
func TestVectorsFail(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	e := &letters{model: "letters", err: errors.New("no network")}
	x := openWith(t, root, dir, e)
	if w := x.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no network") {
		t.Errorf("got warnings %q", w)
	}
	if got := names(find(t, index.Set{x}, "aaaa")); got != "one" || (index.Set{x}).Embedded() {
		t.Errorf("got %q, embedded %v", got, (index.Set{x}).Embedded())
	}
	e.err = nil
	if x := openWith(t, root, dir, e); (index.Set{x}).Embedded() {
		t.Error("a failing endpoint is asked again at once")
	}
	failed, _ := filepath.Glob(filepath.Join(dir, "*", "*.failed"))
	if len(failed) != 1 {
		t.Fatalf("got marks %q", failed)
	}
	os.Remove(failed[0])
	if got := near(t, openWith(t, root, dir, e), "a"); got != "one" {
		t.Errorf("got %q after the endpoint came back", got)
	}
}

// A damaged matrix is made again; without a place to write, vectors are in memory.
func TestVectorsDamaged(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	settle()
	e := &letters{model: "letters"}
	openWith(t, root, dir, e)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "vectors-*.osv"))
	if len(files) != 1 {
		t.Fatalf("got matrices %q", files)
	}
	for _, bad := range []string{"", "x", strings.Repeat("y", 400)} {
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		x := openWith(t, root, dir, e)
		if got := near(t, x, "a"); got != "one" {
			t.Errorf("damaged to %d bytes: got %q, warnings %q", len(bad), got, x.Warnings())
		}
	}
	if got := near(t, openWith(t, root, "/proc/none", e), "a"); got != "one" {
		t.Errorf("in memory: got %q", got)
	}
}

// late is an embedder that does not know its width, such as one that remembers the vectors of an endpoint it has not
// asked yet.
type late struct{ letters }

func (*late) Dim() int { return 0 }

// The width of the vectors decides, not what the embedder knows of it.
func TestVectorsOfUnknownWidth(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	write(t, root, "b", "two", "bbbb", "")
	settle()
	e := &late{letters{model: "letters"}}
	for _, step := range []struct {
		does, want string
		change     func()
	}{
		{"nothing", "one two", func() {}},
		{"remove one", "one", func() { os.RemoveAll(filepath.Join(root, "b")) }},
		{"add one", "one three", func() { write(t, root, "c", "three", "aacc", ""); settle() }},
	} {
		step.change()
		x := openWith(t, root, dir, e)
		if got := near(t, x, "aaab"); got != step.want || len(x.Warnings()) > 0 {
			t.Errorf("%s: got %q, warnings %q, want %q", step.does, got, x.Warnings(), step.want)
		}
	}
}

// wide gives vectors of one number more than letters, under the same name.
type wide struct{ letters }

func (*wide) Dim() int { return 27 }

func (e *wide) Embed(ctx context.Context, docs []index.Document) ([][]float32, error) {
	out, err := e.letters.Embed(ctx, docs)
	for i := range out {
		out[i] = append(out[i], 0)
	}
	return out, err
}

// EM-01: a model that changes its width under the same name gets a matrix made anew, with or without a new skill.
func TestVectorsOfAnotherWidth(t *testing.T) {
	for _, added := range []bool{false, true} {
		root, dir := t.TempDir(), t.TempDir()
		write(t, root, "a", "one", "aaaa", "")
		settle()
		openWith(t, root, dir, &letters{model: "letters"})
		if added {
			write(t, root, "b", "two", "bbbb", "")
			settle()
		}
		x := openWith(t, root, dir, &wide{letters{model: "letters"}})
		if s := (index.Set{x}); !s.Embedded() || !s.Fits(27) || len(x.Warnings()) > 0 {
			t.Errorf("added %v: embedded %v, fits %v, warnings %q", added, s.Embedded(), s.Fits(27), x.Warnings())
		}
	}
}

// A search that is given up is no reason to leave the endpoint alone.
func TestVectorsGivenUp(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	ctx, cancel := context.WithCancel(context.Background())
	_, err := index.Open(ctx, roots.Root{Dir: root}, index.Options{Dir: dir, Embedder: &givesUp{letters{model: "letters"}, cancel}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if got := near(t, openWith(t, root, dir, &letters{model: "letters"}), "a"); got != "one" {
		t.Errorf("got %q", got)
	}
}

type givesUp struct {
	letters
	cancel func()
}

func (e *givesUp) Embed(ctx context.Context, _ []index.Document) ([][]float32, error) {
	e.cancel()
	return nil, ctx.Err()
}

// An index that is built anew counts its generations anew, which says nothing about vectors.
func TestVectorsAfterRebuild(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a", "one", "aaaa", "")
	settle()
	e := &letters{model: "letters"}
	openWith(t, root, dir, e)
	manifests, _ := filepath.Glob(filepath.Join(dir, "*", "MANIFEST"))
	if len(manifests) != 1 {
		t.Fatalf("got manifests %q", manifests)
	}
	os.Remove(manifests[0])
	write(t, root, "b", "two", "bbbb", "")
	settle()
	if got := near(t, openWith(t, root, dir, e), "bb"); got != "two one" || e.calls != 2 {
		t.Errorf("got %q, %d embedded", got, e.calls)
	}
}
