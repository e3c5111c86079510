package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/store"
)

const text = "---\nname: notes\ndescription: takes notes\n---\nOne.\n"

// setup returns a store and a registered skill folder.
func setup(t *testing.T) (*store.Store, store.Record) {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "notes")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "SKILL.md"), text)
	reg, err := st.Register(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return st, reg.Record
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func content(text string) store.Content { return store.Content{"SKILL.md": {Data: []byte(text)}} }

func fix(head store.Record) review.Change {
	return review.Change{Kind: review.Fix, Dir: head.Dir(), Head: head.SkillID, Content: content(text + "Two.\n"),
		Record: store.Record{Lineage: store.Lineage{ChangeSummary: "say two", CreatedBy: "model"}}}
}

func captured(root, name string) review.Change {
	return review.Change{Kind: review.Captured, Dir: root, Record: store.Record{Name: name},
		Content: content("---\nname: " + name + "\ndescription: d\n---\nbody\n")}
}

func TestApplyFix(t *testing.T) {
	st, head := setup(t)
	rec, err := review.Apply(t.Context(), st, fix(head))
	if err != nil || rec.Lineage.Generation != 1 || read(t, rec.Path) != text+"Two.\n" {
		t.Fatalf("got %+v, %v", rec, err)
	}
	var meta map[string]any
	if err := json.Unmarshal([]byte(read(t, filepath.Join(rec.Dir(), ".upload_meta.json"))), &meta); err != nil {
		t.Fatal(err)
	}
	if meta["origin"] != "fixed" || meta["skill_id"] != rec.SkillID || meta["change_summary"] != "say two" || meta["created_by"] != "model" {
		t.Errorf("got sidecar %v", meta)
	}
	if _, err := review.Apply(t.Context(), st, fix(head)); !errors.Is(err, review.ErrStale) {
		t.Errorf("a second change of the old head: got %v, want ErrStale", err)
	}
}

// EV-06: a pinned skill is not changed, the answer says by what, and the pin survives a move and hand edits.
func TestEV06Pin(t *testing.T) {
	st, head := setup(t)
	if err := review.Pin(t.Context(), st, head.Dir(), "audited"); err != nil {
		t.Fatal(err)
	}
	_, err := review.Apply(t.Context(), st, fix(head))
	if !errors.Is(err, review.ErrPinned) || !strings.Contains(err.Error(), "audited") {
		t.Fatalf("got %v, want ErrPinned with the reason", err)
	}
	if got := read(t, head.Path); got != text {
		t.Errorf("got %q, want it untouched", got)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(head.Dir(), moved); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(moved, "SKILL.md"), text+"By hand.\n")
	if _, err := st.Register(t.Context(), moved, true); err != nil {
		t.Fatal(err)
	}
	if why, is, err := review.Pinned(st, moved); err != nil || !is || why != "audited" {
		t.Errorf("after a move: got %q, %v, %v", why, is, err)
	}
	if err := review.Unpin(t.Context(), st, moved); err != nil {
		t.Fatal(err)
	}
	if _, is, err := review.Pinned(st, moved); err != nil || is {
		t.Errorf("after unpin: got %v, %v", is, err)
	}
}

// B3: a name that is taken is cut before its number, never at its number, and what is there is not touched.
func TestNewFolderNeverTakesAnother(t *testing.T) {
	st, _ := setup(t)
	root, name := t.TempDir(), strings.Repeat("x", 45)+"-tail"
	seen := map[string]bool{}
	for range 3 {
		rec, err := review.Apply(t.Context(), st, captured(root, name))
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(rec.Dir())
		if seen[base] || base != rec.Name || len(base) > 50 || !strings.Contains(read(t, rec.Path), "name: "+base+"\n") {
			t.Errorf("got folder %q of skill %q", base, rec.Name)
		}
		seen[base] = true
	}
	if len(seen) != 3 {
		t.Errorf("got %v, want three folders", seen)
	}
}

// EV-05: what waits for approval is not active, can be looked at, and is refused when the file has changed since.
func TestEV05Proposals(t *testing.T) {
	st, head := setup(t)
	p, err := review.Save(st.Home(), fix(head), review.Proposal{Trigger: "analysis", Direction: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, head.Path); got != text {
		t.Fatalf("got %q before the approval", got)
	}
	all, err := review.List(st.Home())
	if err != nil || len(all) != 1 || all[0].ID != p.ID || all[0].Name != "notes" || all[0].Problem != "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	diff, err := all[0].Diff(st)
	if err != nil || len(diff) != 1 || !strings.Contains(diff[0].Patch, "+Two.") {
		t.Errorf("got %+v, %v", diff, err)
	}
	write(t, head.Path, text+"By hand.\n")
	if _, err := review.Approve(t.Context(), st, p.ID); !errors.Is(err, review.ErrStale) {
		t.Fatalf("got %v, want ErrStale", err)
	}
	if got := read(t, head.Path); got != text+"By hand.\n" {
		t.Errorf("got %q, want the hand edit", got)
	}
	if err := review.Reject(t.Context(), st, p.ID, "old"); err != nil {
		t.Fatal(err)
	}
	if all, err := review.List(st.Home()); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v after the rejection", all, err)
	}
	attempts, err := st.Attempts(head.SkillID, 5)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != review.Rejected || attempts[0].Error != "old" {
		t.Errorf("got %+v, %v", attempts, err)
	}
}

func TestApprove(t *testing.T) {
	st, head := setup(t)
	c := fix(head)
	c.Content["run.sh"] = store.Blob{Data: []byte("echo\n"), Exec: true}
	p, err := review.Save(st.Home(), c, review.Proposal{})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := review.Approve(t.Context(), st, p.ID)
	if err != nil || rec.Lineage.ChangeSummary != "say two" || read(t, rec.Path) != text+"Two.\n" {
		t.Fatalf("got %+v, %v", rec, err)
	}
	if info, err := os.Stat(filepath.Join(rec.Dir(), "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := review.Approve(t.Context(), st, p.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: got %v, want ErrNotFound", err)
	}
	root := t.TempDir()
	if p, err = review.Save(st.Home(), captured(root, "fresh"), review.Proposal{}); err != nil {
		t.Fatal(err)
	}
	if rec, err = review.Approve(t.Context(), st, p.ID); err != nil || rec.Lineage.Origin != store.OriginCaptured {
		t.Errorf("got %+v, %v", rec, err)
	}
}

// A proposal is put in place once: by one of several who approve at once, and not again when a process ended before it could note it.
func TestApproveOnce(t *testing.T) {
	st, head := setup(t)
	root := t.TempDir()
	for _, c := range []review.Change{fix(head), captured(root, "fresh")} {
		p, err := review.Save(st.Home(), c, review.Proposal{})
		if err != nil {
			t.Fatal(err)
		}
		dir, aside := filepath.Join(st.Home(), "proposals", p.ID), filepath.Join(t.TempDir(), "aside")
		if err := os.CopyFS(aside, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		ids := make(chan string, 4)
		for range cap(ids) {
			go func() {
				rec, err := review.Approve(context.Background(), st, p.ID)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("got %v, want ErrNotFound", err)
				}
				ids <- rec.SkillID
			}()
		}
		var made []string
		for range cap(ids) {
			if id := <-ids; id != "" {
				made = append(made, id)
			}
		}
		if len(made) != 1 {
			t.Fatalf("%s: got %v, want one", c.Kind, made)
		}
		if err := os.Rename(aside, dir); err != nil { // as it is when a process is killed in between
			t.Fatal(err)
		}
		if rec, err := review.Approve(t.Context(), st, p.ID); err != nil || rec.SkillID != made[0] {
			t.Errorf("%s: again: got %+v, %v", c.Kind, rec, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 1 {
		t.Errorf("got %v, want one folder", left)
	}
	if versions, err := st.Versions(head.Dir()); err != nil || len(versions) != 2 {
		t.Errorf("got %v, %v, want two versions", versions, err)
	}
}

func TestDamagedProposals(t *testing.T) {
	st, head := setup(t)
	good, err := review.Save(st.Home(), fix(head), review.Proposal{})
	if err != nil {
		t.Fatal(err)
	}
	info := filepath.Join(st.Home(), "proposals", good.ID, "proposal.json")
	whole := read(t, info)
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"no JSON":      {whole[:20], store.ErrCorrupt},
		"another id":   {strings.Replace(whole, good.ID, "p0", 1), store.ErrCorrupt},
		"newer format": {strings.Replace(whole, `"v": 1`, `"v": 9`, 1), store.ErrVersion},
	} {
		write(t, info, tt.text)
		if _, err := review.Approve(t.Context(), st, good.ID); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
		if all, err := review.List(st.Home()); err != nil || len(all) != 1 || all[0].Problem == "" {
			t.Errorf("%s: got %+v, %v, want its problem", name, all, err)
		}
	}
	write(t, info, whole)
	if err := os.Symlink("/etc/passwd", filepath.Join(st.Home(), "proposals", good.ID, "files", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := review.Approve(t.Context(), st, good.ID); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a link: got %v, want ErrCorrupt", err)
	}
	for _, id := range []string{"../x", "", "nope"} {
		if _, err := review.Open(st.Home(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: got %v, want ErrNotFound", id, err)
		}
	}
}
