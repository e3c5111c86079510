package transfer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func anyOwner(d *transfer.Download) { d.AnyOwner = true }

// update updates a folder and demands a status.
func (a *agent) update(dir, want string, change ...func(*transfer.Download)) wire.Imported {
	a.t.Helper()
	res, err := a.downloader(change...).Update(a.t.Context(), dir)
	if err != nil || res.Status != want {
		a.t.Fatalf("got %+v, %v, want %s", res, err, want)
	}
	return res
}

// released is a skill that ann published twice and bob imported in its first version.
func released(t *testing.T) (ann, bob *agent, dir, first, second string) {
	c := newCommunity(t, "")
	ann, bob = c.agent("ann"), c.agent("bob")
	mine := ann.skill("weather", weather("v1")...)
	first = ann.publish(mine).RecordID
	dir = bob.fetch(first).SkillDir
	ann.write(filepath.Join(mine, "SKILL.md"), weather("v2")[1])
	second = ann.publish(mine).RecordID
	return ann, bob, dir, first, second
}

func TestUpdate(t *testing.T) {
	_, bob, dir, first, second := released(t)
	res := bob.update(dir, transfer.StatusUpdated)
	if res.SkillID != second || res.PreviousSkillID != first || res.SkillDir != dir {
		t.Errorf("got %+v", res)
	}
	if got := bob.read(filepath.Join(dir, "SKILL.md")); !strings.Contains(got, "v2") {
		t.Errorf("got %q", got)
	}
	bob.wantID(dir, second)
	bob.wantStatus(dir, store.Clean)
	bob.update(dir, transfer.StatusUnchanged)
	if rec, ok, err := bob.store.HeadAt(dir); err != nil || !ok || rec.Lineage.ParentSkillIDs[0] != first {
		t.Errorf("got %+v, %v, want the version before as its parent", rec, err)
	}
	if _, err := bob.store.Rollback(t.Context(), dir, first); err != nil {
		t.Errorf("roll back: %v", err)
	}
	bob.wantNoStages()
}

// Local edits are refused, and with force they become a version.
func TestUpdateOfAnEditedSkill(t *testing.T) {
	_, bob, dir, first, second := released(t)
	bob.write(filepath.Join(dir, "SKILL.md"), weather("mine")[1])
	_, err := bob.downloader().Update(t.Context(), dir)
	if e := wantCode(t, err, wire.Exists, "changed here"); !strings.Contains(e.Hint, "--force") || e.SkillID != first {
		t.Errorf("got %+v", e)
	}
	if _, err := bob.store.Register(t.Context(), dir, true); err != nil {
		t.Fatal(err)
	}
	_, err = bob.downloader().Update(t.Context(), dir)
	wantCode(t, err, wire.Exists, "changed here")
	bob.update(dir, transfer.StatusUpdated, force)
	bob.wantID(dir, second)
	if versions, err := bob.store.Versions(dir); err != nil || len(versions) != 3 {
		t.Errorf("got %d versions, %v, want three", len(versions), err)
	}
}

// A fix of somebody else is not taken unasked.
func TestUpdateFromSomebodyElse(t *testing.T) {
	c := newCommunity(t, "")
	ann, bob, eve := c.agent("ann"), c.agent("bob"), c.agent("eve")
	first := ann.publish(ann.skill("weather", weather("v1")...)).RecordID
	dir := bob.fetch(first).SkillDir
	theirs := eve.fetch(first).SkillDir
	eve.write(filepath.Join(theirs, "SKILL.md"), weather("evil")[1])
	fork := eve.publish(theirs).RecordID
	if res := bob.update(dir, transfer.StatusAvailable); res.LatestSkillID != fork || len(res.Warnings) != 1 {
		t.Errorf("got %+v", res)
	}
	bob.wantID(dir, first)
	bob.update(dir, transfer.StatusUpdated, anyOwner)
	bob.wantID(dir, fork)
}

func TestPin(t *testing.T) {
	_, bob, dir, first, _ := released(t)
	d := bob.downloader()
	for range 2 {
		if res, err := d.Pin(t.Context(), dir, true); err != nil || res.Status != transfer.StatusPinned || res.SkillID != first {
			t.Fatalf("got %+v, %v", res, err)
		}
	}
	bob.update(dir, transfer.StatusPinned)
	bob.update(dir, transfer.StatusPinned, force)
	if res, err := d.Pin(t.Context(), dir, false); err != nil || res.Action != "unpin" {
		t.Fatalf("got %+v, %v", res, err)
	}
	bob.update(dir, transfer.StatusUpdated)
}

func TestUpdateDryRun(t *testing.T) {
	_, bob, dir, first, second := released(t)
	res := bob.update(dir, transfer.StatusUpdated, func(d *transfer.Download) { d.DryRun = true })
	if !res.DryRun || res.SkillID != second {
		t.Errorf("got %+v", res)
	}
	bob.wantID(dir, first)
}

func TestDiff(t *testing.T) {
	_, bob, dir, _, second := released(t)
	bob.write(filepath.Join(dir, "mine.txt"), "mine\n")
	before := tree(t, dir)
	got, err := bob.downloader().Diff(t.Context(), dir)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if d := got[0]; d.Path != "SKILL.md" || d.Change != "modified" || d.From != "disk" || d.To != second || !strings.Contains(d.Diff, "+# Weather v2") {
		t.Errorf("got %+v", d)
	}
	if d := got[1]; d.Path != "mine.txt" || d.Change != "removed" {
		t.Errorf("got %+v", d)
	}
	if after := tree(t, dir); len(after) != len(before) || after["SKILL.md"] != before["SKILL.md"] {
		t.Error("a diff changed the folder")
	}
	bob.wantNoStages()
}

func TestLocate(t *testing.T) {
	_, bob, dir, first, _ := released(t)
	d := bob.downloader()
	for _, name := range [][2]string{{dir, ""}, {"", first}, {"/no/such", first}} {
		if got, err := d.Locate(name[0], name[1]); err != nil || got != dir {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	_, err := d.Locate("/no/such", "nothing__clo_00000001")
	wantCode(t, err, wire.NotFound)
	// A skill that was made here has nothing to be compared with.
	own := bob.skill("own", weather("own")...)
	_, err = d.Update(t.Context(), own)
	wantCode(t, err, wire.NotFound, "did not come from a registry")
}

// A registry that keeps no versions is not an error.
func TestUpdateFromAnOldRegistry(t *testing.T) {
	a := liar(t, `{"record_id":"x__clo_00000001","name":"weather","items":null}`, zipped(t, "SKILL.md", skillText))
	dir := a.fetch("x__clo_00000001").SkillDir
	a.update(dir, transfer.StatusUnchanged)
}

// A second folder of one skill, in another root, is updated too.
func TestUpdateOfASecondFolder(t *testing.T) {
	_, bob, dir, first, second := released(t)
	bob.root = filepath.Join(bob.home, "elsewhere")
	other := bob.fetch(first).SkillDir
	if other == dir {
		t.Fatalf("got %s twice", dir)
	}
	bob.update(other, transfer.StatusUpdated)
	if got := bob.read(filepath.Join(other, "SKILL.md")); !strings.Contains(got, "v2") {
		t.Errorf("got %q", got)
	}
	bob.wantID(other, second)
	bob.wantID(dir, first)
	if _, err := bob.uploader().Plan(t.Context(), other, api.Private); err != nil {
		t.Error(err)
	}
}
