package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/store"
)

// childVar tells the test binary that it is a process that changes skills: what it does, the home, the folder, and at which step of the store it kills
// itself (0: it only counts them).
const childVar = "EVOLVE_TEST_CHILD"

func TestMain(m *testing.M) {
	sandbox.Main()
	if order := os.Getenv(childVar); order != "" {
		os.Exit(child(strings.Split(order, "\n")))
	}
	os.Exit(m.Run())
}

// The two texts between which the skill goes back and forth.
const (
	careless = "Step two.\n"
	careful  = "Step two, with care.\n"
)

func child(order []string) int {
	what, home, dir := order[0], order[1], order[2]
	at, _ := strconv.Atoi(order[3])
	points := 0
	st, err := store.Open(home, store.Options{Fast: true, Fault: func(string) {
		if points++; points == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		}
	}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for {
		if err := childStep(what, st, dir); err != nil {
			fmt.Println(err)
			return 1
		}
		if what != "loop" {
			fmt.Println(points)
			return 0
		}
	}
}

func childStep(what string, st *store.Store, dir string) error {
	edit, back := stepTwo, strings.NewReplacer("-"+careless, "-"+careful, "+"+careful, "+"+careless).Replace(stepTwo)
	req := fixOf(dir)
	if data, err := os.ReadFile(filepath.Join(dir, "SKILL.md")); err == nil && strings.Contains(string(data), careful) {
		edit, back = back, edit
	}
	if what == "capture" {
		req = captureOf(dir, aRun())
		edit = whole(skillText("monthly-report", steps))
	}
	e, err := evolve.New(evolve.Options{Store: st, Model: answers(edit, back)}) // another process may be between
	if err == nil {
		_, err = e.Evolve(context.Background(), req)
	}
	if what == "loop" && (errors.Is(err, review.ErrStale) || errors.Is(err, store.ErrLocked)) {
		err = nil
	}
	return err
}

// startChild runs a child and does not wait for it.
func startChild(t *testing.T, what, home, dir string, at int) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, out := exec.Command(os.Args[0]), &bytes.Buffer{}
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), childVar+"="+strings.Join([]string{what, home, dir, strconv.Itoa(at)}, "\n"))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

func runChild(t *testing.T, what, home, dir string, at int) (string, error) {
	t.Helper()
	cmd, out := startChild(t, what, home, dir, at)
	err := cmd.Wait()
	return strings.TrimSpace(out.String()), err
}

// checkWhole checks what a kill leaves: the folder has one of the two versions, whole, and at most one version of it is active, before and after the next
// writer has looked; then the skill can be changed again.
func checkWhole(t *testing.T, home, dir string) {
	t.Helper()
	st, err := store.Open(home, store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, when := range []string{"at once", "after recovery"} {
		text := readFile(t, filepath.Join(dir, "SKILL.md"))
		if text != skillText("one", "Step one.\n"+careless) && text != skillText("one", "Step one.\n"+careful) {
			t.Fatalf("%s: got %q", when, text)
		}
		if got := readFile(t, filepath.Join(dir, "ref/more.md")); got != "more\n" {
			t.Fatalf("%s: got another file %q", when, got)
		}
		active := 0
		for rec, err := range st.All(true) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Dir() == dir {
				active++
			}
		}
		if active > 1 {
			t.Fatalf("%s: %d versions are active", when, active)
		}
		if when == "at once" {
			if _, err := st.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if status, err := st.Status(dir); err != nil || status != store.Clean {
		t.Fatalf("got status %q, %v", status, err)
	}
	problems, err := st.Verify(t.Context())
	for _, p := range problems {
		if p.Severity == "error" {
			t.Errorf("store: %s", p)
		}
	}
	if err != nil || t.Failed() {
		t.Fatal(err)
	}
}

// killWorld is a home and a skill in memory.
func killWorld(t *testing.T) (home, dir string) {
	t.Helper()
	home, root := fastDir(t), fastDir(t)
	st, err := store.Open(home, store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	return home, addSkill(t, st, root, "one", map[string]string{"ref/more.md": "more\n"}).Dir()
}

// A process that is killed at any step of a fix leaves the old version or the new one.
func TestKillAtEveryStepOfAFix(t *testing.T) {
	home, dir := killWorld(t)
	out, err := runChild(t, "fix", home, dir, 0)
	points, _ := strconv.Atoi(out)
	if err != nil || points < 40 {
		t.Fatalf("got %q, %v, want the number of steps", out, err)
	}
	for at := 1; at <= points; at++ {
		home, dir := killWorld(t)
		if out, err := runChild(t, "fix", home, dir, at); err == nil {
			t.Fatalf("step %d: the process was not killed: %q", at, out)
		}
		checkWhole(t, home, dir)
		if out, err := runChild(t, "fix", home, dir, 0); err != nil {
			t.Fatalf("step %d: the next fix: %q, %v", at, out, err)
		}
		checkWhole(t, home, dir)
	}
}

func TestKillAtEveryStepOfACapture(t *testing.T) {
	home, root := fastDir(t), fastDir(t)
	out, err := runChild(t, "capture", home, root, 0)
	points, _ := strconv.Atoi(out)
	if err != nil || points < 40 {
		t.Fatalf("got %q, %v, want the number of steps", out, err)
	}
	for at := 1; at <= points; at++ {
		home, root := fastDir(t), fastDir(t)
		if out, err := runChild(t, "capture", home, root, at); err == nil {
			t.Fatalf("step %d: the process was not killed: %q", at, out)
		}
		st, err := store.Open(home, store.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		left, _ := filepath.Glob(filepath.Join(root, "*"))
		for _, dir := range left {
			if got := readFile(t, filepath.Join(dir, "SKILL.md")); got != skillText("monthly-report", steps) {
				t.Fatalf("step %d: got %q", at, got)
			}
		}
		if len(left) > 1 {
			t.Fatalf("step %d: got %v", at, left)
		}
		if hidden, _ := filepath.Glob(filepath.Join(root, ".os-*")); len(hidden) > 0 {
			t.Fatalf("step %d: %v stays", at, hidden)
		}
		checkStore(t, st)
		st.Close()
	}
}

// 200 kills at any time, over one skill whose history grows.
func TestRandomKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	home, dir := killWorld(t)
	began := time.Now()
	if out, err := runChild(t, "fix", home, dir, 0); err != nil {
		t.Fatalf("%q, %v", out, err)
	}
	longest := max(40*time.Millisecond, 2*time.Since(began)) // enough for a change, however slow the machine is
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		cmd, out := startChild(t, "loop", home, dir, 0)
		time.Sleep(time.Duration(r.Int64N(int64(longest))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("kill %d: the process ended by itself: %v, %q", n, err, out)
		}
		checkWhole(t, home, dir)
	}
	st, err := store.Open(home, store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	versions, err := st.Versions(dir)
	if err != nil || len(versions) < 20 {
		t.Errorf("got %d versions, %v, want some that were made before the kills", len(versions), err)
	}
}

// Processes that change eight folders at once all succeed; of those that change one folder, one goes on and the others are locked.
func TestProcessesAtOnce(t *testing.T) {
	home := fastDir(t)
	st, err := store.Open(home, store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for i := range 8 {
		dirs = append(dirs, addSkill(t, st, filepath.Join(fastDir(t), fmt.Sprint(i)), "one", nil).Dir())
	}
	var wg sync.WaitGroup
	for _, dir := range dirs {
		wg.Go(func() {
			if out, err := runChild(t, "fix", home, dir, 0); err != nil {
				t.Errorf("%s: %q, %v", dir, out, err)
			}
		})
	}
	wg.Wait()
	var mu sync.Mutex
	done := 0
	for range 8 {
		wg.Go(func() {
			out, err := runChild(t, "fix", home, dirs[0], 0)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !strings.Contains(out, "another change is under way") && !strings.Contains(out, "changed since") {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
	wg.Wait()
	versions, err := st.Versions(dirs[0])
	if err != nil || done == 0 || len(versions) != 2+done {
		t.Errorf("%d of 8 succeeded, and there are %d versions, %v", done, len(versions), err)
	}
	checkStore(t, st)
}
