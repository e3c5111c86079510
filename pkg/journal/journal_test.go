package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/journal"
)

func object(i int) []byte { return fmt.Appendf(nil, `{"n":%d}`, i) }

// read returns the good lines after p and how many bad ones there were.
func read(t *testing.T, j *journal.Journal, p *journal.Position) (good []string, bad int) {
	t.Helper()
	if err := j.Replay(p, collect(&good, &bad)); err != nil {
		t.Fatal(err)
	}
	return good, bad
}

func collect(good *[]string, bad *int) journal.Visit {
	return func(_ journal.Place, line []byte, ok bool) error {
		if !ok {
			*bad++
			return nil
		}
		*good = append(*good, string(line))
		return nil
	}
}

func TestAppendAndRead(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(dir)
	defer j.Close()
	var end, reader journal.Position
	if !j.Unchanged(end) {
		t.Error("an empty journal has changed")
	}
	places, err := j.Append(&end, [][]byte{object(1), object(2)})
	if err != nil {
		t.Fatal(err)
	}
	if j.Unchanged(reader) {
		t.Error("a journal with lines has not changed")
	}
	good, bad := read(t, j, &reader)
	want := []string{string(journal.Seal(object(1))), string(journal.Seal(object(2)))}
	if !slices.Equal(good, want) || bad != 0 || reader != end || !j.Unchanged(reader) {
		t.Errorf("got %q, %d bad, position %v, want %q, 0, %v", good, bad, reader, want, end)
	}
	for i, at := range places {
		if line, err := j.Read(at); err != nil || string(line) != want[i] {
			t.Errorf("got %q, %v, want %q", line, err, want[i])
		}
	}
	if _, err := j.Read(journal.Place{Seg: 1, Off: 1, Len: 10}); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("got %v for a place between lines, want ErrDamaged", err)
	}
}

// A process that died in the middle of a line leaves a line that the next one ends and nobody takes for good, or that is whole.
func TestTornEnd(t *testing.T) {
	for _, tt := range []struct {
		name, tail string
		good, bad  int
	}{
		{"half a line", `{"n":9`, 3, 1},
		{"whole line without its end", string(journal.Seal(object(9))), 4, 0},
		{"nothing", "", 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			j := journal.New(dir)
			defer j.Close()
			var end journal.Position
			if _, err := j.Append(&end, [][]byte{object(1), object(2)}); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(filepath.Join(dir, "000001.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(tt.tail)
			f.Close()

			var reader journal.Position
			if good, _ := read(t, j, &reader); len(good) != 2 {
				t.Errorf("a reader got %d lines, want the 2 that are ended", len(good))
			}
			var good []string
			bad := 0
			end = journal.Position{}
			if err := j.CatchUp(&end, collect(&good, &bad)); err != nil {
				t.Fatal(err)
			}
			if _, err := j.Append(&end, [][]byte{object(3)}); err != nil {
				t.Fatal(err)
			}
			good, bad = read(t, j, new(journal.Position))
			if len(good) != tt.good || bad != tt.bad {
				t.Errorf("got %d good and %d bad lines, want %d and %d", len(good), bad, tt.good, tt.bad)
			}
		})
	}
}

func TestSegments(t *testing.T) {
	j := journal.New(t.TempDir())
	defer j.Close()
	var end journal.Position
	long := []byte(`{"s":"` + strings.Repeat("x", 3<<20) + `"}`)
	for range 8 {
		if _, err := j.Append(&end, [][]byte{long}); err != nil {
			t.Fatal(err)
		}
	}
	if segs, err := j.Segments(); len(segs) != 2 || err != nil {
		t.Errorf("got segments %v, %v, want two", segs, err)
	}
	if good, bad := read(t, j, new(journal.Position)); len(good) != 8 || bad != 0 {
		t.Errorf("got %d good and %d bad lines, want 8 and 0", len(good), bad)
	}
	if _, err := j.Append(&end, [][]byte{[]byte(`{"s":"` + strings.Repeat("x", journal.MaxLine) + `"}`)}); err == nil {
		t.Error("a line over the limit was taken")
	}
	if !j.Unchanged(end) {
		t.Error("a refused line left something behind")
	}
}

// A long bad line hides nothing after it.
func TestLongLine(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("y", journal.MaxLine+10) + "\n" + string(journal.Seal(object(1))) + "\n\n"
	if err := os.WriteFile(filepath.Join(dir, "000001.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j := journal.New(dir)
	defer j.Close()
	if good, bad := read(t, j, new(journal.Position)); len(good) != 1 || bad != 1 {
		t.Errorf("got %d good and %d bad lines, want 1 and 1", len(good), bad)
	}
}

func TestShrunk(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(dir)
	defer j.Close()
	var end journal.Position
	if _, err := j.Append(&end, [][]byte{object(1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "000001.jsonl"), 3); err != nil {
		t.Fatal(err)
	}
	if err := j.Replay(&end, collect(new([]string), new(int))); !errors.Is(err, journal.ErrShrunk) {
		t.Errorf("got %v, want ErrShrunk", err)
	}
}

func TestCompact(t *testing.T) {
	j := journal.New(t.TempDir())
	defer j.Close()
	var end journal.Position
	var objects [][]byte
	for i := range 10 {
		objects = append(objects, object(i))
	}
	if _, err := j.Append(&end, objects); err != nil {
		t.Fatal(err)
	}
	n := 0
	saved, err := j.Compact(1, func(journal.Place, []byte) bool { n++; return n%2 == 0 })
	if err != nil || saved <= 0 {
		t.Fatalf("got %d, %v", saved, err)
	}
	good, bad := read(t, j, new(journal.Position))
	if len(good) != 5 || bad != 0 || !strings.HasPrefix(good[0], `{"n":1,`) {
		t.Errorf("got %q and %d bad lines", good, bad)
	}
}

// FuzzReplay: whatever the bytes, a replay ends, covers the file, and calls no line good that Seal did not make.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\n\n{}\n"))
	f.Add(append(journal.Seal(object(1)), '\n'))
	f.Add(append(journal.Seal(object(1)), `{"n":2,"crc":"00000000"}`...))
	f.Add([]byte(`{"n":1,"crc":"1234567` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "000001.jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		j := journal.New(dir)
		defer j.Close()
		var p journal.Position
		err := j.CatchUp(&p, func(at journal.Place, line []byte, good bool) error {
			if !good {
				return nil
			}
			cut := len(line) - len(`,"crc":"00000000"}`)
			if again := journal.Seal(append(line[:cut:cut], '}')); string(again) != string(line) {
				t.Errorf("line %q counts as good, Seal makes %q", line, again)
			}
			if back, err := j.Read(at); err != nil || string(back) != string(line) {
				t.Errorf("line %q came back as %q, %v", line, back, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "000001.jsonl"))
		if err != nil || info.Size() != p.Off && p.Seg != 0 {
			t.Errorf("read to %d of %v", p.Off, info)
		}
	})
}
