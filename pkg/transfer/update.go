package transfer

import (
	"context"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// markPin is the kind of the store's mark on a folder that stays at its version.
const (
	markPin = "pin"
	pinned  = "pinned"
)

// Locate returns the folder of an installed skill: one that holds a skill, or one below the root that has the
// record id.
func (d *Downloader) Locate(dir, id string) (string, error) {
	if dir != "" && holdsSkill(dir) {
		return store.Canonical(dir)
	}
	if id != "" {
		found, err := d.installed.find(id)
		if found != "" || err != nil {
			return found, err
		}
		rec, ok, err := d.Store.Record(id)
		if err != nil {
			return "", err
		}
		if ok && rec.IsActive && holdsSkill(rec.Dir()) {
			return rec.Dir(), nil
		}
	}
	name := id
	if name == "" {
		name = dir
	}
	return "", wire.Errorf(wire.NotFound, "no skill %q is installed", name).WithHint("openspace-download-skill %s imports it", name)
}

// Pin makes Update pass over a folder, or ends that.
func (d *Downloader) Pin(ctx context.Context, dir string, on bool) (wire.Result, error) {
	res := wire.Result{Status: pinned, Action: markPin, SkillDir: dir}
	mark := store.Mark{Kind: markPin, Key: dir, State: pinned}
	if !on {
		res.Status, res.Action, mark.State = "unpinned", "unpin", ""
	}
	var err error
	if res.SkillID, err = d.origins.folder(dir); err != nil {
		return res, err
	}
	old, _, err := d.Store.MarkState(mark)
	if err == nil && old != mark.State {
		err = d.Store.RecordMark(ctx, mark)
	}
	return res, err
}

// newer is what a registry has in the line of an installed skill.
type newer struct {
	id          string // of the installed one
	fingerprint string // of its content, if the registry says
	ours        string // newest version of the same publisher
	any         string // newest version of anybody
	notes       []string
}

// look asks the registry for newer versions of what a folder holds.
func (d *Downloader) look(ctx context.Context, dir string) (newer, error) {
	id, err := d.origins.folder(dir)
	if err != nil {
		return newer{}, err
	}
	if id == "" {
		return newer{}, wire.Errorf(wire.NotFound, "the skill in %q did not come from a registry", dir)
	}
	if d.Client == nil {
		return newer{}, wire.Errorf(wire.Usage, "no registry")
	}
	release, err := d.slots.take(ctx)
	if err != nil {
		return newer{}, err
	}
	defer release()
	n := newer{id: id, ours: id, any: id}
	v, err := d.Client.Versions(ctx, id)
	if wire.CodeOf(err) == wire.NotFound { // no such record, or a registry that keeps no versions
		if _, err := d.Client.Record(ctx, id); err != nil {
			return n, missing(err, id)
		}
		n.notes = append(n.notes, "the registry does not tell about versions")
		return n, nil
	}
	n.pick(v)
	return n, err
}

// pick chooses among the versions of a line, oldest first.
func (n *newer) pick(v api.Versions) {
	seen := false
	for _, r := range v.Items {
		if r.RecordID == n.id {
			seen, n.fingerprint = true, r.Fingerprint
		} else if seen && r.Deprecated == "" && r.RecordID != "" {
			n.any = r.RecordID
		}
	}
	if v.Latest != "" {
		n.ours = v.Latest
	}
	if n.any == n.id {
		n.any = n.ours
	}
}

// Update brings an installed skill to its newest version.
func (d *Downloader) Update(ctx context.Context, dir string) (wire.Imported, error) {
	release, err := d.busy.alone(ctx, dir)
	if err != nil {
		return wire.Imported{}, err
	}
	defer release()
	state, _, err := d.Store.MarkState(store.Mark{Kind: markPin, Key: dir})
	if err != nil {
		return wire.Imported{}, err
	}
	if state == pinned {
		id, err := d.origins.folder(dir)
		return d.stays(StatusPinned, id, dir, err)
	}
	n, err := d.look(ctx, dir)
	if err != nil {
		return wire.Imported{}, err
	}
	want := n.ours
	if d.AnyOwner {
		want = n.any
	}
	switch {
	case want == n.id && n.any == n.id:
		return d.stays(StatusUnchanged, n.id, dir, nil, n.notes...)
	case want == n.id:
		res, err := d.stays(StatusAvailable, n.id, dir, nil, "a newer version is from somebody else; --any-owner takes it")
		res.LatestSkillID = n.any
		return res, err
	}
	if err := d.untouched(dir, n); err != nil {
		return wire.Imported{}, err
	}
	c, err := d.fetch(ctx, want)
	if err != nil {
		return wire.Imported{}, err
	}
	return d.replace(ctx, c, dir)
}

// stays is the result for a folder that is left alone.
func (d *Downloader) stays(status, id, dir string, err error, notes ...string) (wire.Imported, error) {
	res := wire.Imported{Status: status, SkillID: id, SkillDir: dir, LocalPath: dir, DryRun: d.DryRun, Warnings: notes}
	if s, _, lerr := skill.Load(dir); lerr == nil && s != nil {
		res.Name, res.Description = s.Name, s.Description
	}
	return res, err
}

// untouched refuses a folder that holds something else than what came from the registry.
func (d *Downloader) untouched(dir string, n newer) error {
	if d.Force {
		return nil
	}
	same, err := d.holds(dir, n)
	if err != nil || same {
		return err
	}
	e := wire.Errorf(wire.Exists, "the skill in %q was changed here", dir).
		WithHint("openspace-download-skill --diff shows the difference; --force keeps the change as a version in the store and updates")
	e.SkillID, e.Path = n.id, dir
	return e
}

// holds tells whether a folder has the content of the installed version: by the store, and where that does
// not know it by the registry.
func (d *Downloader) holds(dir string, n newer) (bool, error) {
	rec, ok, err := d.Store.HeadAt(dir)
	if err == nil && !ok {
		rec, ok, err = d.Store.Record(n.id)
	}
	if err != nil {
		return false, err
	}
	if !ok {
		p, err := Pack(dir, d.Limits)
		return err == nil && p.Fingerprint == n.fingerprint, err
	}
	tree, err := store.Snapshot(dir)
	return tree.Hash == rec.Lineage.Tree && (rec.SkillID == n.id || rec.Lineage.Restores == n.id), err
}

// Diff returns what Update with AnyOwner would change, file by file. Nothing is changed.
func (d *Downloader) Diff(ctx context.Context, dir string) ([]wire.Diff, error) {
	n, err := d.look(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := d.fetch(ctx, n.any)
	if err != nil {
		return nil, err
	}
	defer c.close()
	before, err := store.DiskSide(dir)
	if err != nil {
		return nil, err
	}
	after, err := store.DiskSide(c.stage)
	if err != nil {
		return nil, err
	}
	changes, err := store.Compare(before, after)
	var out []wire.Diff
	for _, f := range changes {
		d := wire.Diff{SkillDir: dir, From: "disk", To: n.any, Path: f.Path, Change: f.Change}
		if !f.Binary {
			d.Diff = f.Patch
		}
		out = append(out, d)
	}
	return out, err
}
