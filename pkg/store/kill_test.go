package store_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// world is a store and one skill folder that a process is killed over.
type world struct{ home, root, dir string }

// killCases name an action, what is there before it, and how many steps it
// has at which the process is killed: a new step must be counted here.
var killCases = []struct {
	name   string
	setup  func(t *testing.T, w world)
	action string
	points int
	// unregistered: the folder may be unknown to the store afterwards.
	unregistered bool
	// creates: the folder may not exist afterwards.
	creates bool
}{
	{name: "import", setup: plainFolder, action: "register", points: 38, unregistered: true},
	{name: "hand edit", setup: dirtyFolder, action: "register", points: 25},
	{name: "move", setup: movedFolder, action: "register", points: 8, unregistered: true},
	{name: "replace", setup: knownFolder, action: "replace", points: 45},
	{name: "replace by two renames", setup: knownFolder, action: "replace-plain", points: 46},
	{name: "replace a dirty folder", setup: dirtyFolder, action: "replace", points: 59},
	{name: "create", setup: noFolder, action: "create", points: 50, unregistered: true, creates: true},
	{name: "create by mkdir", setup: noFolder, action: "create-plain", points: 51, unregistered: true, creates: true},
	{name: "rollback", setup: twoVersions, action: "rollback", points: 33},
	{name: "analysis and catalogue", setup: knownFolder, action: "analysis", points: 12},
	{name: "next segment", setup: fullSegment, action: "analysis", points: 14},
	{name: "rebuild", setup: knownFolder, action: "rebuild", points: 8},
	{name: "gc", setup: garbage, action: "gc", points: 6},
	{name: "recover before the swap", setup: killedAt("replace", "stage:synced"), action: "recover", points: 7},
	{name: "recover after the swap", setup: killedAt("replace", "swap:done"), action: "recover", points: 9},
	{name: "recover half a swap", setup: killedAt("replace-plain", "swap:half"), action: "recover-plain", points: 8},
	{name: "recover after two renames", setup: killedAt("replace-plain", "swap:done"), action: "recover-plain", points: 9},
	{name: "recover after the commit", setup: killedAt("replace", "clean:stage"), action: "recover", points: 8},
	{name: "recover a creation", setup: killedAt("create", "swap:done"), action: "recover", points: 8, unregistered: true, creates: true},
}

func plainFolder(t *testing.T, w world) {
	makeSkill(t, w.root, "pdf", "first body")
	writeFile(t, filepath.Join(w.dir, "notes/deep/more.md"), "more\n")
	writeFile(t, filepath.Join(w.dir, ".env"), "SECRET=1\n")
	writeFile(t, filepath.Join(w.dir, ".git/config"), "[core]\n")
}

func knownFolder(t *testing.T, w world) {
	plainFolder(t, w)
	register(t, open(t, w.home), w.dir)
}

func dirtyFolder(t *testing.T, w world) {
	knownFolder(t, w)
	writeFile(t, filepath.Join(w.dir, "SKILL.md"), text("pdf", "second body"))
}

func twoVersions(t *testing.T, w world) {
	dirtyFolder(t, w)
	register(t, open(t, w.home), w.dir)
}

func movedFolder(t *testing.T, w world) {
	knownFolder(t, w)
	other := filepath.Join(w.root, "other")
	if err := os.Rename(w.dir, other); err != nil {
		t.Fatal(err)
	}
	s := open(t, w.home)
	register(t, s, other)
	if err := os.Rename(other, w.dir); err != nil {
		t.Fatal(err)
	}
}

func noFolder(*testing.T, world) {}

// fullSegment leaves so little room that the next analysis starts a segment.
func fullSegment(t *testing.T, w world) {
	knownFolder(t, w)
	s := openWith(t, w.home, store.Options{Fast: true})
	a := bigAnalysis("")
	a.ExecutionNote = strings.Repeat("x", 3<<20)
	for i := 0; ; i++ {
		info, err := os.Stat(s.SegmentPath(1))
		if err != nil {
			t.Fatal(err)
		}
		room := store.SegmentSize - info.Size()
		if room < store.TailLimit {
			return
		}
		a.TaskID = "fill" + strconv.Itoa(i)
		a.ExecutionNote = a.ExecutionNote[:min(int64(len(a.ExecutionNote)), max(room-(200<<10), 1))]
		if _, err := s.RecordAnalysis(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// garbage leaves an old object that nobody names, an unfinished file and a
// stage without an intent.
func garbage(t *testing.T, w world) {
	knownFolder(t, w)
	s := open(t, w.home)
	old := time.Now().Add(-2 * time.Hour)
	sum := strings.Repeat("ab", 32)
	for _, path := range []string{s.ObjectPath(sum), filepath.Join(w.home, "store/objects/.os-tmp-1"), filepath.Join(w.root, ".os-stage-0123456789ab/x")} {
		writeFile(t, path, "garbage")
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// killedAt leaves what a process leaves that is killed at a point of an action.
func killedAt(action, point string) func(t *testing.T, w world) {
	return func(t *testing.T, w world) {
		setup := knownFolder
		if strings.HasPrefix(action, "create") {
			setup = noFolder
		}
		probe := newWorld(t)
		setup(t, probe)
		n := slices.Index(points(t, probe, action), point) + 1
		if n == 0 {
			t.Fatalf("action %q has no point %q", action, point)
		}
		setup(t, w)
		kill(t, w, action, n)
	}
}

func newWorld(t *testing.T) world {
	t.Helper()
	base := fastDir(t)
	w := world{home: filepath.Join(base, "home"), root: filepath.Join(base, "root")}
	w.dir = filepath.Join(w.root, "pdf")
	if err := os.Mkdir(w.root, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// fastDir is a folder in memory where there is one: these tests sync thousands
// of times, and a killed process loses nothing that a disk would keep.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "store-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	dir, err = store.Canonical(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// points runs an action to its end and returns the points that it passed.
func points(t *testing.T, w world, action string) []string {
	t.Helper()
	out, err := helperCommand(t, w.home, w.dir, action, "0").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s: %v: %s", action, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

func kill(t *testing.T, w world, action string, point int) {
	t.Helper()
	out, err := helperCommand(t, w.home, w.dir, action, strconv.Itoa(point)).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("%s: got %v, want killed: %s", action, err, out)
	}
}

// TestKillAtEveryStep kills a process after each step of each write path and
// then expects a whole store and a whole skill folder, old or new.
func TestKillAtEveryStep(t *testing.T) {
	if len(killCases) != 19 {
		t.Errorf("got %d cases, want 19", len(killCases))
	}
	for _, tt := range killCases {
		t.Run(tt.name, func(t *testing.T) {
			probe := newWorld(t)
			tt.setup(t, probe)
			names := points(t, probe, tt.action)
			if len(names) != tt.points {
				t.Errorf("got %d points, want %d: %q", len(names), tt.points, names)
			}
			step := 1
			if testing.Short() {
				step = 7
			}
			for n := 1; n <= len(names); n += step {
				t.Run(names[n-1]+"#"+strconv.Itoa(n), func(t *testing.T) {
					w := newWorld(t)
					tt.setup(t, w)
					before := content(t, w.dir)
					kill(t, w, tt.action, n)
					s := open(t, w.home)
					if _, err := s.Recover(t.Context()); err != nil {
						t.Errorf("got %v from recover", err)
					}
					checkWorld(t, s, w, before, tt.unregistered, tt.creates)
					if tt.action != "recover" && tt.action != "recover-plain" {
						again(t, s, w, tt.action)
					}
				})
			}
		})
	}
}

// again repeats an action after a crash: it must work, or find it done.
func again(t *testing.T, s *store.Store, w world, action string) {
	t.Helper()
	action = strings.TrimSuffix(action, "-plain")
	err := actions[action](s, w.dir)
	if err != nil && !errors.Is(err, store.ErrUnchanged) && !(action == "create" && errors.Is(err, store.ErrExists)) {
		t.Errorf("got %v from doing it again", err)
	}
	wantStatus(t, s, w.dir, store.Clean)
	checkSound(t, s)
}

// content reads all files of a folder but the id file.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != skill.IDFile {
			rel, _ := filepath.Rel(dir, path)
			out[rel] = readFile(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func checkWorld(t *testing.T, s *store.Store, w world, before map[string]string, unregistered, creates bool) {
	t.Helper()
	checkSound(t, s)
	entries, err := os.ReadDir(w.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "pdf" && e.Name() != ".os-stage-0123456789ab" {
			t.Errorf("got %q beside the skill, want nothing", e.Name())
		}
	}
	now := content(t, w.dir)
	head, ok, err := s.HeadAt(w.dir)
	if err != nil || !ok && !unregistered {
		t.Fatalf("got head %v, %v", ok, err)
	}
	if !exists(w.dir) && creates {
		if ok {
			t.Error("got a record without a folder")
		}
		return
	}
	for path, want := range before {
		got := now[path]
		edited := path == "SKILL.md" && (got == text("pdf", editedBody) || got == text("pdf", "first body"))
		if got != want && !edited {
			t.Errorf("got %q in %s, want %q", got, path, want)
		}
	}
	if id, _ := skill.ReadID(w.dir); ok && id != "" && id != head.SkillID && head.Lineage.CreatedBy != store.Human {
		t.Errorf("got id file %q, want %q", id, head.SkillID)
	}
	status, err := s.Status(w.dir)
	wantDirty := before["SKILL.md"] == text("pdf", "second body")
	if err != nil || status == store.Missing || status == store.Dirty && !wantDirty || status == store.Unregistered && !unregistered {
		t.Errorf("got status %q, %v", status, err)
	}
}

// checkSound expects that nothing is wrong with a store.
func checkSound(t testing.TB, s *store.Store) {
	t.Helper()
	found, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		t.Errorf("got problem %v", d)
	}
}
