package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

func TestVerifyFinds(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, s *store.Store, head store.Record)
		want   []string // codes
	}{
		{"nothing", func(*testing.T, *store.Store, store.Record) {}, nil},
		{"a changed object", func(t *testing.T, s *store.Store, head store.Record) {
			files, err := s.TreeFiles(head.Lineage.Tree)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, s.ObjectPath(files[0].SHA256), "changed")
		}, []string{"object-damaged"}},
		{"a changed tree", func(t *testing.T, s *store.Store, head store.Record) {
			overwrite(t, s.ObjectPath(head.Lineage.Tree), "changed")
		}, []string{"object-damaged"}},
		{"a missing object", func(t *testing.T, s *store.Store, head store.Record) {
			if err := os.Remove(s.ObjectPath(head.Lineage.Tree)); err != nil {
				t.Fatal(err)
			}
		}, []string{"object-missing"}},
		{"a damaged line", func(t *testing.T, s *store.Store, _ store.Record) {
			overwrite(t, s.SegmentPath(1), "{}\n"+readFile(t, s.SegmentPath(1)))
		}, []string{"bad-line"}},
		{"a torn line", func(t *testing.T, s *store.Store, _ store.Record) {
			overwrite(t, s.SegmentPath(1), readFile(t, s.SegmentPath(1))+"{")
		}, []string{"torn-line"}},
		{"a repeated number", func(t *testing.T, s *store.Store, _ store.Record) {
			overwrite(t, s.SegmentPath(1), readFile(t, s.SegmentPath(1))+store.SealLine(`{"v":1,"seq":1,"op":"x"}`)+"\n")
		}, []string{"seq-order"}},
		{"a commit that does not fit", func(t *testing.T, s *store.Store, head store.Record) {
			line := `{"v":1,"seq":9,"op":"commit","commit":{"ops":[{"op":"put","record":{"skill_id":"x","path":"` + head.Path + `","is_active":true}}]}}`
			overwrite(t, s.SegmentPath(1), readFile(t, s.SegmentPath(1))+store.SealLine(line)+"\n")
		}, []string{"commit-conflict"}},
		{"a missing segment", func(t *testing.T, s *store.Store, _ store.Record) {
			rename(t, s.SegmentPath(1), s.SegmentPath(2))
		}, []string{"segment-missing"}},
		{"a catalogue of another journal", func(t *testing.T, s *store.Store, _ store.Record) {
			if err := s.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			line := store.SealLine(`{"v":1,"seq":1,"op":"x"}`) + "\n"
			overwrite(t, s.SegmentPath(1), strings.Repeat(line, 10))
		}, []string{"catalogue", "seq-order", "seq-order", "seq-order", "seq-order", "seq-order", "seq-order", "seq-order", "seq-order", "seq-order"}},
		{"a format that cannot be read", func(t *testing.T, s *store.Store, _ store.Record) {
			overwrite(t, filepath.Join(s.Home(), "store/FORMAT"), "hello\n")
		}, []string{"store-format"}},
		{"a note that cannot be read", func(t *testing.T, s *store.Store, _ store.Record) {
			writeFile(t, filepath.Join(s.Home(), "store/intents/x.json"), `{"v":1,"dir":"/a/b","stage":"/etc","old":"/"}`)
		}, []string{"intent"}},
		{"an open change", func(t *testing.T, s *store.Store, _ store.Record) {
			writeFile(t, filepath.Join(s.Home(), "store/intents/x.json"), `{"v":1,"dir":"/a/b","stage":"/a/.os-stage-1","old":"/a/.os-old-1"}`)
		}, []string{"intent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, head := fixture(t)
			tt.damage(t, s, head)
			found, err := s.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				got = append(got, d.Code)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want codes %q", found, tt.want)
			}
		})
	}
}

func overwrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, content)
}

// A damaged catalogue is noticed and done without, wherever the damage is.
func TestDamagedCatalogueIsIgnored(t *testing.T) {
	s, dir, head := fixture(t)
	judge(t, s, "t")
	if err := s.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	good := []byte(readFile(t, s.CataloguePath()))
	if len(good) < 100 {
		t.Fatalf("got a catalogue of %d bytes", len(good))
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		if i%2 == 0 {
			bad = bad[:i]
		}
		writeFile(t, s.CataloguePath(), string(bad))
		fresh := open(t, s.Home())
		got, ok, err := fresh.HeadAt(dir)
		c, errC := fresh.Counters("x")
		if err != nil || errC != nil || !ok || got.SkillID != head.SkillID || c.Selections != 1 {
			t.Fatalf("byte %d: got %q, %v, %v, %+v, %v", i, got.SkillID, ok, err, c, errC)
		}
	}
}

func TestReadObjectChecksBytes(t *testing.T) {
	s, _, head := fixture(t)
	overwrite(t, s.ObjectPath(head.Lineage.Tree), "changed")
	if _, err := s.ReadObject(head.Lineage.Tree); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("got %v, want damaged", err)
	}
	if _, err := s.ReadObject(strings.Repeat("00", 32)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if _, err := s.ReadObject("../../etc/passwd"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want not valid", err)
	}
}

func TestFormatVersions(t *testing.T) {
	tests := []struct {
		name, format  string
		read, written bool
	}{
		{"this one", "openspace-store 1 1\n", true, true},
		{"missing", "", true, true},
		{"newer, readable", "openspace-store 2 1\n", true, false},
		{"newer", "openspace-store 3 2\n", false, false},
		{"garbage", "\x00\x01", false, false},
		{"another thing", "postgres 1 1\n", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir, head := fixture(t)
			path := filepath.Join(s.Home(), "store/FORMAT")
			overwrite(t, path, tt.format)
			if tt.format == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			fresh, err := store.Open(s.Home(), store.Options{})
			if (err == nil) != tt.read || err != nil && !errors.Is(err, store.ErrVersion) {
				t.Fatalf("got %v, want readable %v", err, tt.read)
			}
			if err != nil {
				return
			}
			defer fresh.Close()
			if got, ok, err := fresh.HeadAt(dir); err != nil || !ok || got.SkillID != head.SkillID {
				t.Errorf("got %q, %v, %v", got.SkillID, ok, err)
			}
			_, err = fresh.RecordAnalysis(t.Context(), store.Analysis{TaskID: "t"})
			if (err == nil) != tt.written || err != nil && !errors.Is(err, store.ErrVersion) {
				t.Errorf("got %v, want writable %v", err, tt.written)
			}
			if tt.written && readFile(t, path) != "openspace-store 1 1\n" {
				t.Errorf("got format %q", readFile(t, path))
			}
		})
	}
}

func TestUnknownValuesAreKept(t *testing.T) {
	s, dir, head := fixture(t)
	head.Category, head.Visibility = "ritual", "group"
	if err := s.Commit(t.Context(), nil, store.Put(head)); err != nil {
		t.Fatal(err)
	}
	line := store.SealLine(`{"v":1,"seq":50,"op":"dream","dream":{"a":1}}`) + "\n" + store.SealLine(`{"v":9,"seq":51,"op":"tool","tool":{"key":"x"}}`) + "\n"
	writeFile(t, s.SegmentPath(1), readFile(t, s.SegmentPath(1))+line)
	fresh := open(t, s.Home())
	got, _, err := fresh.HeadAt(dir)
	if err != nil || got.Category != "ritual" || got.Visibility != "group" {
		t.Errorf("got %+v, %v", got, err)
	}
	if stats, err := fresh.Stats(); err != nil || stats.BadLines != 0 || stats.Events != 51 {
		t.Errorf("got %+v, %v, want unknown events passed over", stats, err)
	}
	if tool, _ := fresh.Tool("x"); tool.Calls != 0 {
		t.Errorf("got %+v from a line of a later version", tool)
	}
	checkSound(t, fresh)
}

func TestDump(t *testing.T) {
	s, dir, head := fixture(t)
	judge(t, s, "t")
	if _, err := s.RecordAnalysis(t.Context(), store.Analysis{TaskID: "u", SkillJudgments: []store.Judgment{{SkillID: head.SkillID, SkillApplied: true}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordTool(t.Context(), store.ToolSample{Key: "shell"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Dump(&out); err != nil {
		t.Fatal(err)
	}
	var types []string
	for line := range strings.Lines(out.String()) {
		var v struct {
			Type    string `json:"type"`
			Path    string `json:"path"`
			Applied int    `json:"total_applied"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v.Type == "record" && (v.Path != filepath.Join(dir, skill.FileName) || v.Applied != 1) {
			t.Errorf("got %s", line)
		}
		types = append(types, v.Type)
	}
	if want := []string{"record", "analysis", "analysis", "tool"}; !slices.Equal(types, want) {
		t.Errorf("got %q, want %q", types, want)
	}
}

// A damaged line is an error when it had been written whole, and a warning when
// it is what a dead writer left.
func TestVerifyTellsLostFromTorn(t *testing.T) {
	flip := func(line, at int) func([][]byte) {
		return func(lines [][]byte) { lines[line][at] ^= 1 }
	}
	last := func(lines [][]byte) []byte { return lines[len(lines)-1] }
	for _, tt := range []struct {
		name   string
		damage func(lines [][]byte)
		want   skill.Severity
	}{
		{"a byte in the middle", flip(1, 50), skill.Error},
		{"a byte of the ending in the middle", func(l [][]byte) { l[1][len(l[1])-3] ^= 1 }, skill.Error},
		{"a letter of the checksum that is none", func(l [][]byte) { l[1][len(l[1])-5] = 'x' }, skill.Error},
		{"a byte of the last line", func(l [][]byte) { last(l)[50] ^= 1 }, skill.Error},
		{"an unfinished last line that was closed", func(l [][]byte) { l[len(l)-1] = append(last(l)[:30:30], '\n') }, skill.Warning},
		{"an unfinished line before a good one", func(l [][]byte) { l[0] = append([]byte("{\"v\":1,\"ha\n"), l[0]...) }, skill.Warning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, _ := fixture(t)
			for _, task := range []string{"1", "2", "3"} {
				judge(t, s, task)
			}
			lines := bytes.SplitAfter([]byte(readFile(t, s.SegmentPath(1))), []byte("\n"))
			lines = lines[:len(lines)-1]
			tt.damage(lines)
			overwrite(t, s.SegmentPath(1), string(bytes.Join(lines, nil)))
			found, err := open(t, s.Home()).Verify(t.Context())
			if err != nil || len(found) != 1 || found[0].Code != "bad-line" || found[0].Severity != tt.want {
				t.Errorf("got %+v, %v, want one bad-line of severity %s", found, err, tt.want)
			}
		})
	}
}
