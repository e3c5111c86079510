package store_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// Lines that a writer could have made, and some that it could not.
var lineSeeds = []string{
	store.SealLine(`{"v":1,"t":"2026-01-02T03:04:05Z","seq":1,"op":"tool","pid":2,"tool":{"key":"x","ok":true,"ms":3}}`),
	store.SealLine(`{"v":1,"t":"2026-01-02T03:04:05Z","seq":2,"op":"commit","pid":2,"commit":{"ops":[{"op":"put","record":{"skill_id":"a","path":"/a/SKILL.md","is_active":true}}],"expect":{"/a":""}}}`),
	store.SealLine(`{"v":1,"seq":3,"op":"commit","commit":{"ops":[{"op":"put"},{"op":"delete","id":"a"},{"op":"activate","id":"\u0000"}]}}`),
	store.SealLine(`{"v":1,"seq":4,"op":"analysis","analysis":{"task_id":"t","skill_judgments":[{"skill_id":"a"},null]}}`),
	store.SealLine(`{"v":1,"seq":4,"op":"commit","commit":null}`),
	store.SealLine(`{}`), `{"crc":"00000000"}`, `,"crc":"00000000"}`, ``, `{`, "\x00",
}

func FuzzLine(f *testing.F) {
	for _, line := range lineSeeds {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		again, err := store.CheckLine(line)
		if err != nil {
			return
		}
		third, err := store.CheckLine(bytes.TrimSuffix(again, []byte("\n")))
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("got %q, %v, want %q", third, err, again)
		}
	})
}

// FuzzJournal folds any JSON that carries a right checksum, and any bytes.
func FuzzJournal(f *testing.F) {
	for _, line := range lineSeeds {
		f.Add(line, true)
		f.Add(line, false)
	}
	f.Fuzz(func(t *testing.T, object string, seal bool) {
		if seal && object != "" {
			object = store.SealLine(object)
		}
		store.FoldLines([]byte(strings.Join(append(lineSeeds, object, object), "\n")))
	})
}

func FuzzTable(f *testing.F) {
	entries := map[string][]byte{"a": {}, "b": []byte("value"), "r1": {1, 1, 2, 3, 4, 5, '/', 'a'}}
	good, err := store.WriteTable(entries)
	if err != nil {
		f.Fatal(err)
	}
	empty, err := store.WriteTable(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, "a")
	f.Add(empty, "a")
	f.Add(good[:len(good)-1], "zz")
	f.Add([]byte("OSCATLG1"), "")
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		got, value, err := store.ReadTable(data, key)
		if err != nil || len(got) == 0 {
			return
		}
		// What the checks let through in order is found again.
		again, err := store.WriteTable(got)
		if err != nil {
			t.Fatal(err)
		}
		third, found, err := store.ReadTable(again, key)
		if err != nil || !maps.EqualFunc(got, third, bytes.Equal) || !bytes.Equal(found, got[key]) {
			t.Errorf("got %q, %q, %v, want %q", third, found, err, got)
		}
		_ = value
	})
}

// The store of each format version that was ever written can be read for ever.
func TestCompat(t *testing.T) {
	homes, err := filepath.Glob("testdata/compat/store-v?")
	if err != nil || len(homes) != 1 {
		t.Fatalf("got %q, %v, want the store of one version", homes, err)
	}
	for _, home := range homes {
		s := open(t, home)
		var got bytes.Buffer
		if err := s.Dump(&got); err != nil {
			t.Errorf("%s: %v", home, err)
		}
		golden := home + ".dump.jsonl"
		if *update {
			writeFile(t, golden, got.String())
		}
		want, err := os.ReadFile(golden)
		if err != nil || got.String() != string(want) {
			t.Errorf("%s: got\n%s, want\n%s, %v", home, got.String(), want, err)
		}
		if stats, err := s.Stats(); err != nil || stats.Records < 3 || stats.Analyses != 1 || stats.BadLines != 1 {
			t.Errorf("%s: got %+v, %v", home, stats, err)
		}
		for r, err := range s.All(false) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Diff("", r.SkillID); err != nil {
				t.Errorf("%s: %v", home, err)
			}
		}
		if found, err := s.Verify(t.Context()); err != nil || len(found) != 1 || found[0].Code != "bad-line" {
			t.Errorf("%s: got %v, %v, want the one bad line", home, found, err)
		}
	}
}
