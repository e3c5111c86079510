package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

var nouns = strings.Fields("pdf form table csv image sound video mail calendar map graph tree queue stack disk cloud script chart merge split")

// document makes a text that depends on the two numbers only; its path is the label.
func document(label uint32, version int) index.Document {
	r := rand.New(rand.NewPCG(uint64(label), uint64(version)))
	var words []string
	for range 20 + r.IntN(20) {
		words = append(words, nouns[r.IntN(len(nouns))])
	}
	d := index.Document{Doc: index.Doc{Rel: fmt.Sprint(label), Name: words[0], Description: words[1]}, Body: []byte(strings.Join(words, " "))}
	d.Sum[0] = byte(version)
	return d
}

func all(uint32) bool { return true }

func openCollection(t *testing.T, dir string, versions map[uint32]int) *index.Collection {
	t.Helper()
	c, err := index.OpenCollection(dir, func(d index.Doc) (uint32, bool) {
		n, err := strconv.Atoi(d.Rel)
		v, ok := versions[uint32(n)]
		return uint32(n), err == nil && ok && d.Sum[0] == byte(v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func found(t *testing.T, c *index.Collection, query string, k int, keep func(uint32) bool) []index.Found {
	t.Helper()
	res, err := c.Search(lexical.ParseQuery(query), k, keep)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// same compares a collection with one that was made of the same documents at once.
func same(t *testing.T, c *index.Collection, versions map[uint32]int) {
	t.Helper()
	fresh := openCollection(t, "", nil)
	defer fresh.Close()
	for l, v := range versions {
		if err := fresh.Add(l, document(l, v)); err != nil {
			t.Fatal(err)
		}
	}
	if c.Len() != len(versions) {
		t.Errorf("got %d documents, want %d", c.Len(), len(versions))
	}
	for _, q := range []string{"pdf form", "mail", "graph tree chart", "nothing"} {
		odd := func(l uint32) bool { return l%2 == 1 }
		for _, keep := range []func(uint32) bool{all, odd} {
			if got, want := found(t, c, q, 15, keep), found(t, fresh, q, 15, keep); !slices.Equal(got, want) {
				t.Errorf("%q: got %v, want %v", q, got, want)
			}
		}
	}
}

// Whatever was added, replaced, removed, merged, written and opened again: the answer is that of a collection
// made at once.
func TestCollection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	versions := map[uint32]int{}
	c := openCollection(t, dir, versions)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 6 {
		for range 1500 {
			l := uint32(r.IntN(4000))
			if r.IntN(4) == 0 {
				c.Remove(l)
				delete(versions, l)
				continue
			}
			versions[l]++
			if err := c.Add(l, document(l, versions[l])); err != nil {
				t.Fatal(err)
			}
			if r.IntN(100) == 0 {
				found(t, c, "pdf", 3, all)
			}
		}
		if err := c.Tend(); err != nil {
			t.Fatal(err)
		}
		same(t, c, versions)
		if round%2 == 1 {
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c = openCollection(t, dir, versions)
			same(t, c, versions)
		}
	}
	c.Close()
}

func TestCollectionFindsWhatWasAdded(t *testing.T) {
	c := openCollection(t, "", nil)
	defer c.Close()
	for l := range uint32(30) {
		d := index.Document{Doc: index.Doc{Rel: "x", Name: fmt.Sprintf("unique%d word", l)}}
		if err := c.Add(l, d); err != nil {
			t.Fatal(err)
		}
		if got := found(t, c, fmt.Sprintf("unique%d", l), 5, all); len(got) != 1 || got[0].Label != l || got[0].Score <= 0 || got[0].Score >= 1 {
			t.Fatalf("got %v, want document %d", got, l)
		}
	}
	c.Remove(7)
	if got := found(t, c, "unique7", 5, all); len(got) != 0 {
		t.Errorf("got %v after it was removed", got)
	}
	if got := found(t, c, "", 5, all); len(got) != 0 {
		t.Errorf("got %v for no words", got)
	}
}

func TestCollectionDropsDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	versions := map[uint32]int{}
	c := openCollection(t, dir, versions)
	for l := range uint32(100) {
		versions[l] = 1
		if err := c.Add(l, document(l, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q, %v, want one", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	c = openCollection(t, dir, versions)
	defer c.Close()
	if c.Len() != 0 || c.Has(1) {
		t.Errorf("got %d documents of a damaged file", c.Len())
	}
}

func TestCollectionConcurrently(t *testing.T) {
	c := openCollection(t, t.TempDir(), nil)
	defer c.Close()
	var adders, others sync.WaitGroup
	for w := range uint32(4) {
		adders.Go(func() {
			for i := range uint32(1000) {
				l := i*4 + w
				if err := c.Add(l, document(l, 1)); err != nil {
					t.Error(err)
				}
				if i%10 == 0 {
					c.Remove(l)
				}
			}
		})
	}
	stop := make(chan struct{})
	for _, f := range []func() error{
		c.Tend,
		func() error { _, err := c.Search(lexical.ParseQuery("pdf form"), 10, all); return err },
	} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := f(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adders.Wait()
	close(stop)
	others.Wait()
	if c.Len() != 3600 {
		t.Errorf("got %d documents, want 3600", c.Len())
	}
}
