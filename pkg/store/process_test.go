package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/store"
)

// perProcess is how many analyses each appending process writes.
const perProcess = 25

// appendMany is what one of many processes does: perProcess analyses, each
// judging one skill.
func appendMany(s *store.Store, dir string) error {
	for i := range perProcess {
		a := store.Analysis{TaskID: "task_" + strconv.Itoa(os.Getpid()) + "_" + strconv.Itoa(i), TaskCompleted: true,
			SkillJudgments: []store.Judgment{{SkillID: "pdf__imp_00000000", SkillApplied: i%2 == 0}}}
		if ok, err := s.RecordAnalysis(context.Background(), a); err != nil || !ok {
			return fmt.Errorf("analysis %d: recorded %v: %w", i, ok, err)
		}
	}
	return nil
}

// runAll runs n helper processes at once and expects all to succeed.
func runAll(t *testing.T, n int, args func(i int) []string) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		cmd := helperCommand(t, args(i)...)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
		})
	}
	wg.Wait()
}

func TestManyProcessesAppend(t *testing.T) {
	n := 64
	if testing.Short() {
		n = 8
	}
	home := fastDir(t)
	runAll(t, n, func(int) []string { return []string{home, home, "append", "0"} })
	s := open(t, home)
	got, err := s.Counters("pdf__imp_00000000")
	got.Last = time.Time{}
	total := n * perProcess
	applied := n * ((perProcess + 1) / 2)
	if want := (store.Counters{Selections: total, Applied: applied, Completions: applied}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	lines := strings.Split(strings.TrimSuffix(readFile(t, s.SegmentPath(1)), "\n"), "\n")
	if len(lines) != total {
		t.Errorf("got %d lines, want %d", len(lines), total)
	}
	checkSound(t, s)
}

// ST-01: long lines do not interleave either.
func TestManyGoroutinesAppendLongLines(t *testing.T) {
	home := fastDir(t)
	var wg sync.WaitGroup
	for g := range 10 {
		s := openWith(t, home, store.Options{Fast: true})
		wg.Go(func() {
			for i := range 100 {
				a := store.Analysis{TaskID: fmt.Sprint(g, "_", i), ExecutionNote: strings.Repeat("long ", 4096*(i%2)), SkillJudgments: []store.Judgment{{SkillID: "x"}}}
				if ok, err := s.RecordAnalysis(context.Background(), a); err != nil || !ok {
					t.Errorf("got %v, %v", ok, err)
				}
			}
		})
	}
	wg.Wait()
	s := open(t, home)
	if c, err := s.Counters("x"); err != nil || c.Selections != 1000 {
		t.Errorf("got %+v, %v, want 1000 selections", c, err)
	}
	checkSound(t, s)
}

func TestOneStoreManyGoroutines(t *testing.T) {
	w := newWorld(t)
	knownFolder(t, w)
	s := openWith(t, w.home, store.Options{Fast: true})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 25 {
				a := store.Analysis{TaskID: fmt.Sprint(g, "_", i), SkillJudgments: []store.Judgment{{SkillID: "x"}}}
				if ok, err := s.RecordAnalysis(context.Background(), a); err != nil || !ok {
					t.Errorf("got %v, %v", ok, err)
				}
				_, ok, err := s.HeadAt(w.dir)
				if status, errS := s.Status(w.dir); err != nil || errS != nil || !ok || status != store.Clean {
					t.Errorf("got %v, %v, %q, %v", ok, err, status, errS)
				}
			}
			if err := s.Rebuild(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c, err := s.Counters("x"); err != nil || c.Selections != 100 {
		t.Errorf("got %+v, %v, want 100", c, err)
	}
	checkSound(t, s)
}

// ST-04: two imports at once from a clean store: both are listed.
func TestTwoImportsAtOnce(t *testing.T) {
	for range 10 {
		w := newWorld(t)
		dirs := []string{makeSkill(t, w.root, "a", "one"), makeSkill(t, w.root, "b", "one")}
		runAll(t, 2, func(i int) []string { return []string{w.home, dirs[i], "register", "0"} })
		s := open(t, w.home)
		for _, dir := range dirs {
			wantStatus(t, s, dir, store.Clean)
		}
		checkSound(t, s)
	}
}

// Two writers change one folder from the same head: one wins, the other is
// told about the conflict, and the folder is the winner's.
func TestTwoWritersOnOneFolder(t *testing.T) {
	w := newWorld(t)
	knownFolder(t, w)
	head, _, err := open(t, w.home).HeadAt(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		s := open(t, w.home)
		wg.Go(func() {
			_, errs[i] = s.Replace(context.Background(), w.dir, head.SkillID, store.Record{}, func(stage string) error {
				return os.WriteFile(filepath.Join(stage, "SKILL.md"), []byte(text("pdf", fmt.Sprint("writer ", i))), 0o644)
			})
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case !errors.Is(err, store.ErrConflict):
			t.Errorf("got %v from writer %d, want a conflict", err, i)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	if got, want := readFile(t, filepath.Join(w.dir, "SKILL.md")), text("pdf", fmt.Sprint("writer ", winner)); got != want {
		t.Errorf("got %q on disk, want %q", got, want)
	}
	s := open(t, w.home)
	wantStatus(t, s, w.dir, store.Clean)
	checkSound(t, s)
}

// The same, with writers in the way of the folder's lock.
func TestLockedFolderNamesHolder(t *testing.T) {
	w := newWorld(t)
	knownFolder(t, w)
	s := open(t, w.home)
	_, err := s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
		other := openWith(t, w.home, store.Options{LockWait: 20 * time.Millisecond})
		_, err := other.Rollback(context.Background(), w.dir, "x")
		if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
			t.Errorf("got %v, want locked by pid %d", err, os.Getpid())
		}
		if ok, err := other.RecordAnalysis(context.Background(), store.Analysis{TaskID: "meanwhile"}); err != nil || !ok {
			t.Errorf("got %v, %v: the journal must be free during an edit", ok, err)
		}
		return errEdit
	})
	if !errors.Is(err, errEdit) {
		t.Errorf("got %v, want the edit's own error", err)
	}
}

var errEdit = errors.New("no idea")

// Readers see a state that only grows while segments rotate and the catalogue
// is replaced.
func TestReadersDuringWrites(t *testing.T) {
	home := fastDir(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			long := openWith(t, home, store.Options{})
			last := 0
			for n := 0; ; n++ {
				s := long
				if n%2 == 0 {
					s, _ = store.Open(home, store.Options{})
				}
				c, err := s.Counters("x")
				if err != nil || c.Selections < last {
					t.Errorf("got %d after %d, %v", c.Selections, last, err)
					return
				}
				last = c.Selections
				if s != long {
					_ = s.Close()
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	s := openWith(t, home, store.Options{Fast: true})
	for i := range 60 {
		a := store.Analysis{TaskID: strconv.Itoa(i), ExecutionNote: strings.Repeat("x", 600<<10), SkillJudgments: []store.Judgment{{SkillID: "x"}}}
		if _, err := s.RecordAnalysis(t.Context(), a); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	for _, path := range []string{s.SegmentPath(3), s.CataloguePath()} {
		if !exists(path) {
			t.Errorf("got no %s: the test did not reach what it is about", path)
		}
	}
	if c, err := open(t, home).Counters("x"); err != nil || c.Selections != 60 {
		t.Errorf("got %+v, %v, want 60", c, err)
	}
	checkSound(t, s)
}

// A reader that lives long goes over to newer catalogues, and does without.
func TestLongLivedReader(t *testing.T) {
	home := fastDir(t)
	reader := open(t, home)
	writer := openWith(t, home, store.Options{Fast: true})
	for i := range 6 {
		var samples []store.ToolSample
		for j := range 3000 {
			samples = append(samples, store.ToolSample{Key: fmt.Sprint("tool", i, "_", j), OK: true, MS: 1})
		}
		if err := writer.RecordTool(t.Context(), samples...); err != nil {
			t.Fatal(err)
		}
		judge(t, writer, strconv.Itoa(i))
		if i == 3 {
			if err := os.Remove(writer.CataloguePath()); err != nil {
				t.Fatal(err)
			}
		}
		c, err := reader.Counters("x")
		tool, errT := reader.Tool(fmt.Sprint("tool", i, "_", 2999))
		if err != nil || errT != nil || c.Selections != i+1 || tool.Calls != 1 {
			t.Errorf("got %+v, %v, %+v, %v after %d rounds", c, err, tool, errT, i+1)
		}
	}
	checkSound(t, reader)
}
