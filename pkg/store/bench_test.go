package store_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// benchSize is how many records the benchmarks have.
const benchSize = 100_000

// benchStore makes a journal of benchSize records and its catalogue.
func benchStore(b *testing.B) (home, root string) {
	b.Helper()
	home, root = b.TempDir(), b.TempDir()
	root, err := store.Canonical(root)
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Generate(home, root, benchSize); err != nil {
		b.Fatal(err)
	}
	s := open(b, home)
	if err := s.Rebuild(b.Context()); err != nil {
		b.Fatal(err)
	}
	if info, err := os.Stat(s.CataloguePath()); err == nil {
		b.Logf("catalogue: %d bytes", info.Size())
	}
	return home, root
}

// BenchmarkCold opens the store anew for each question, as a short process does.
func BenchmarkCold(b *testing.B) {
	home, root := benchStore(b)
	ask := func(name string, question func(s *store.Store, i int) error) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i = (i + 7919) % benchSize {
				s, err := store.Open(home, store.Options{})
				if err == nil {
					err = question(s, i)
				}
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	questions := func(tail string) {
		ask("HeadAt"+tail, func(s *store.Store, i int) error {
			_, ok, err := s.HeadAt(filepath.Join(root, "skill-"+strconv.Itoa(i)))
			if !ok {
				b.Errorf("no head %d", i)
			}
			return err
		})
		ask("Record"+tail, func(s *store.Store, i int) error {
			_, ok, err := s.Record(store.GeneratedID(i))
			if !ok {
				b.Errorf("no record %d", i)
			}
			return err
		})
		ask("Counters"+tail, func(s *store.Store, i int) error {
			c, err := s.Counters(store.GeneratedID(i / 10 * 10))
			if c.Selections == 0 {
				b.Errorf("got %+v of %d", c, i)
			}
			return err
		})
		ask("Line"+tail, func(s *store.Store, i int) error {
			_, err := s.Line(store.GeneratedID(i))
			return err
		})
	}
	questions("/tail=0")
	longTail(b, home)
	questions("/tail=max")
}

// longTail appends as much as writers leave behind a catalogue.
func longTail(b *testing.B, home string) {
	s := openWith(b, home, store.Options{Fast: true})
	before, err := os.Stat(s.CataloguePath())
	if err != nil {
		b.Fatal(err)
	}
	limit := journalSize(b, home) + store.TailLimit + before.Size()/store.TailShare - 8192
	for i := 0; journalSize(b, home) < limit; i++ {
		a := store.Analysis{TaskID: "tail_" + strconv.Itoa(i), ExecutionNote: text("note", "some words about how it went"),
			SkillJudgments: []store.Judgment{{SkillID: store.GeneratedID(i)}}}
		if _, err := s.RecordAnalysis(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
	after, err := os.Stat(s.CataloguePath())
	if err != nil || !os.SameFile(before, after) {
		b.Fatalf("the catalogue was made anew, %v", err)
	}
}

func journalSize(tb testing.TB, home string) (n int64) {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join(home, "store/journal"))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			tb.Fatal(err)
		}
		n += info.Size()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// BenchmarkRebuild reads the whole journal and writes the catalogue.
func BenchmarkRebuild(b *testing.B) {
	home, _ := benchStore(b)
	for b.Loop() {
		s := open(b, home)
		if err := s.Rebuild(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAll reads every record.
func BenchmarkAll(b *testing.B) {
	home, _ := benchStore(b)
	s := open(b, home)
	for b.Loop() {
		n := 0
		for _, err := range s.All(true) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != benchSize {
			b.Fatalf("got %d records, want %d", n, benchSize)
		}
	}
}

// BenchmarkAppend writes one analysis, synced, and keeps the catalogue fresh.
func BenchmarkAppend(b *testing.B) {
	home, _ := benchStore(b)
	for _, mode := range []struct {
		name string
		fast bool
	}{{"synced", false}, {"fast", true}} {
		b.Run(mode.name, func(b *testing.B) {
			s := openWith(b, home, store.Options{Fast: mode.fast})
			for i := 0; b.Loop(); i++ {
				a := store.Analysis{TaskID: mode.name + strconv.Itoa(b.N) + "_" + strconv.Itoa(i), SkillJudgments: []store.Judgment{{SkillID: store.GeneratedID(i % benchSize)}}}
				if _, err := s.RecordAnalysis(b.Context(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
