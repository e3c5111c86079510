package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openspace-dev/openspace/pkg/store"
)

// A full disk (a small tmpfs) at every moment: what was acknowledged stays, the
// journal ends in a whole line, folders are old or new, and once there is room
// again everything goes on.
func TestFullDisk(t *testing.T) {
	disk := mountTmpfs(t, "size=400k")
	w := world{home: filepath.Join(disk, "home"), root: filepath.Join(disk, "root")}
	w.dir = makeSkill(t, w.root, "pdf", "first body")
	s := open(t, w.home)
	register(t, s, w.dir)

	ballast := filepath.Join(disk, "ballast")
	recorded := 0
	for room := 0; room <= 64<<10; room += 4 << 10 {
		leaveRoom(t, ballast, room)
		task := "task" + strconv.Itoa(room)
		a := store.Analysis{TaskID: task, ExecutionNote: strings.Repeat("x", 9000), SkillJudgments: []store.Judgment{{SkillID: "x"}}}
		ok, err := s.RecordAnalysis(t.Context(), a)
		if err != nil && !errors.Is(err, unix.ENOSPC) {
			t.Errorf("room %d: got %v, want no space", room, err)
		}
		if ok {
			recorded++
		}
		before := content(t, w.dir)
		_, err = s.Replace(t.Context(), w.dir, "", store.Record{}, func(stage string) error {
			return os.WriteFile(filepath.Join(stage, "SKILL.md"), []byte(text("pdf", task+strings.Repeat("y", 6000))), 0o644)
		})
		if err != nil && !errors.Is(err, unix.ENOSPC) {
			t.Errorf("room %d: got %v, want no space", room, err)
		}
		if now := content(t, w.dir); err != nil && now["SKILL.md"] != before["SKILL.md"] {
			t.Errorf("room %d: the folder has changed although %v", room, err)
		}
		if c, err := open(t, w.home).Counters("x"); err != nil || c.Selections != recorded {
			t.Errorf("room %d: got %+v, %v, want %d", room, c, err, recorded)
		}
		if entries, _ := os.ReadDir(w.root); len(entries) != 1 {
			t.Errorf("room %d: got %v beside the skill", room, entries)
		}
		checkSound(t, open(t, w.home))
		wantStatus(t, s, w.dir, store.Clean)
	}
	if recorded == 0 || recorded == 17 {
		t.Errorf("got %d of 17 analyses, want some refused and some not", recorded)
	}
}

// leaveRoom fills the disk so that about n bytes are left.
func leaveRoom(t *testing.T, ballast string, n int) {
	t.Helper()
	_ = os.Remove(ballast)
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, 4<<10)
	size := int64(0)
	for {
		m, err := f.Write(chunk)
		size += int64(m)
		if err != nil {
			break
		}
	}
	if err := f.Truncate(max(size-int64(n), 0)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A swap would carry a mounted file system away, and the removal of the old
// folder would empty it.
func TestReplaceRefusesMounts(t *testing.T) {
	s, dir, _ := fixture(t)
	inner := filepath.Join(dir, ".git")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", inner, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting is not permitted here: %v", err)
	}
	defer func() {
		if err := unix.Unmount(inner, 0); err != nil {
			t.Error(err)
		}
	}()
	writeFile(t, filepath.Join(inner, "precious"), "x")
	if _, err := s.Replace(t.Context(), dir, "", store.Record{}, edit(t, "two")); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want a refusal", err)
	}
	if got := readFile(t, filepath.Join(inner, "precious")); got != "x" {
		t.Errorf("got %q, want what is mounted untouched", got)
	}
}

// mountTmpfs mounts a small file system in memory, where that is permitted.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := fastDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	dir, err := store.Canonical(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A root that cannot be written: identity by path, no sidecar, and a clear
// error where the folder itself would have to change.
func TestReadOnlyRoot(t *testing.T) {
	root := mountTmpfs(t, "size=1m")
	dir := makeSkill(t, root, "pdf", "one")
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	s := open(t, fastDir(t))
	id, err := s.Identify(dir, "pdf")
	if err != nil {
		t.Fatal(err)
	}
	got := register(t, s, dir)
	if got.Record.SkillID != id.ID || got.Change != store.Imported {
		t.Errorf("got %+v, want an import as %q", got, id.ID)
	}
	if again := register(t, open(t, s.Home()), dir); again.Change != store.NoChange || again.Record.SkillID != id.ID {
		t.Errorf("got %+v, want the same record", again)
	}
	wantStatus(t, s, dir, store.Clean)
	_, err = s.Replace(t.Context(), dir, "", store.Record{}, func(string) error { return nil })
	if !errors.Is(err, unix.EROFS) {
		t.Errorf("got %v from replace, want read-only", err)
	}
	checkSound(t, s)
}
