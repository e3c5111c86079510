package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// copyHome copies a store, so that one can be damaged in many ways.
func copyHome(t *testing.T, home string) string {
	t.Helper()
	to := filepath.Join(fastDir(t), "home")
	if err := os.CopyFS(to, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	return to
}

func judge(t testing.TB, s *store.Store, task string) {
	t.Helper()
	a := store.Analysis{TaskID: task, TaskCompleted: true, SkillJudgments: []store.Judgment{{SkillID: "x", SkillApplied: true}}}
	if ok, err := s.RecordAnalysis(t.Context(), a); err != nil || !ok {
		t.Fatalf("got %v, %v for task %q", ok, err, task)
	}
}

// ST-03: the last line is cut at every length; what comes after it stands on a
// line of its own.
func TestTornTail(t *testing.T) {
	home := fastDir(t)
	s := open(t, home)
	judge(t, s, "one")
	judge(t, s, "two")
	journal := readFile(t, s.SegmentPath(1))
	last := len(journal) - strings.LastIndex(strings.TrimSuffix(journal, "\n"), "\n") - 1
	if last < 100 {
		t.Fatalf("got a last line of %d bytes", last)
	}
	for cut := 1; cut <= last; cut++ {
		home := copyHome(t, home)
		s := open(t, home)
		if err := os.Truncate(s.SegmentPath(1), int64(len(journal)-cut)); err != nil {
			t.Fatal(err)
		}
		// Only the LF is missing: the line counts once it has one.
		whole, empty := cut == 1, cut == last
		want := 1
		if got, err := s.Counters("x"); err != nil || got.Selections != want {
			t.Fatalf("cut %d: got %+v, %v before the next write, want %d", cut, got, err, want)
		}
		judge(t, s, "three")
		want = 2
		if whole {
			want = 3
		}
		for _, s := range []*store.Store{s, open(t, home)} {
			stats, err := s.Stats()
			got, _ := s.Counters("x")
			bad := uint64(1)
			if whole || empty {
				bad = 0
			}
			if err != nil || got.Selections != want || stats.BadLines != bad {
				t.Fatalf("cut %d: got %+v, %+v, %v, want %d selections and %d bad lines", cut, got, stats, err, want, bad)
			}
		}
		if whole || empty {
			checkSound(t, s)
		}
		if !strings.HasPrefix(readFile(t, s.SegmentPath(1)), journal[:len(journal)-cut]) {
			t.Fatalf("cut %d: what was there has changed", cut)
		}
	}
}

func TestDamagedLineHidesNoOther(t *testing.T) {
	s, dir, head := fixture(t)
	for i := range 3 {
		writeFile(t, filepath.Join(dir, "SKILL.md"), text("pdf", "body "+strconv.Itoa(i)))
		register(t, s, dir)
	}
	data := []byte(readFile(t, s.SegmentPath(1)))
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[2][50] ^= 1 // the second hand edit
	writeFile(t, s.SegmentPath(1), string(bytes.Join(lines, nil)))

	fresh := open(t, s.Home())
	now, ok, err := fresh.HeadAt(dir)
	if err != nil || !ok || now.Lineage.Generation != 3 {
		t.Errorf("got head %+v, %v, want the last version", now.Lineage, err)
	}
	if old, _, _ := fresh.Record(head.SkillID); old.IsActive {
		t.Error("got the first version active")
	}
	wantStatus(t, fresh, dir, store.Clean)
	found, err := fresh.Verify(t.Context())
	if err != nil || len(found) != 2 || found[0].Code != "bad-line" || found[0].Line != 3 || found[1].Code != "lineage" {
		t.Errorf("got %v, %v, want the bad line 3 and the lineage that it breaks", found, err)
	}
	if _, err := fresh.Rollback(t.Context(), dir, now.SkillID); err == nil {
		t.Error("got no error for a rollback to what is there")
	}
}

// ST-05: the journal is damaged and eight commands find it at once: nothing is
// set aside, nothing is lost.
func TestDamageFoundByEightAtOnce(t *testing.T) {
	w := newWorld(t)
	knownFolder(t, w)
	s := open(t, w.home)
	judge(t, s, "before")
	f, err := os.OpenFile(s.SegmentPath(1), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\x00\x00{\"v\":1,\"half a line"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	runAll(t, 8, func(int) []string { return []string{w.home, w.dir, "append", "0"} })
	entries, err := os.ReadDir(filepath.Join(w.home, "store/journal"))
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want one segment and no copy", entries, err)
	}
	fresh := open(t, w.home)
	stats, err := fresh.Stats()
	if err != nil || stats.BadLines != 1 || stats.Analyses != 1+8*perProcess {
		t.Errorf("got %+v, %v, want one bad line and %d analyses", stats, err, 1+8*perProcess)
	}
	wantStatus(t, fresh, w.dir, store.Clean)
}
