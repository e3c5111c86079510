package transfer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The states of an imported skill.
const (
	StatusSuccess   = "success"        // it came and is in place
	StatusExists    = "already_exists" // it was there
	StatusUpdated   = "updated"        // another version, or its original content, took its place
	StatusUnchanged = "unchanged"      // there is nothing newer
	StatusAvailable = "available"      // there is something newer that was not taken
	StatusPinned    = "pinned"         // it stays as it is
)

// Download says how skills are imported.
type Download struct {
	Client *cloud.Client // may be nil for archives
	Store  *store.Store
	Root   string // absolute; made when it is missing
	Jobs   int    // how many skills are fetched and unpacked at once

	Force    bool // fetch what is there again, over local edits
	AnyOwner bool // update to versions of other publishers as well
	DryRun   bool

	RequireSignature bool
	SignedBy         []string // if not empty: only skills signed by one of these keys
	Policy           safety.Policy
	Limits           Limits
}

// Downloader imports skills below one root. Its methods wait for their results, and are meant to be called by
// many goroutines at once, more of them than Jobs: what is ready is put in place together.
type Downloader struct {
	Download
	origins   origins
	installed *installed
	slots     slots
	busy      keyed // ids and folders under way
	placing   *group[*candidate, placed]
}

// NewDownloader returns a Downloader; it reads and writes nothing yet.
func NewDownloader(d Download) *Downloader {
	o := newOrigins(d.Store)
	res := &Downloader{
		Download: d, origins: o, installed: &installed{root: d.Root, origins: o, names: map[string]bool{}}, slots: newSlots(d.Jobs),
	}
	res.placing = &group[*candidate, placed]{work: res.place}
	return res
}

// Import makes sure that the skill with this record id is below the root.
func (d *Downloader) Import(ctx context.Context, id string) (wire.Imported, error) {
	if !skill.ValidID(id) {
		return wire.Imported{}, wire.Errorf(wire.Invalid, "%q cannot be the id of a skill", id)
	}
	release, err := d.busy.alone(ctx, id)
	if err != nil {
		return wire.Imported{}, err
	}
	defer release()
	dir, err := d.installed.find(id)
	if err != nil {
		return wire.Imported{}, err
	}
	if dir != "" && !d.Force {
		return d.there(ctx, id, dir)
	}
	c, err := d.fetch(ctx, id)
	if err != nil {
		return wire.Imported{}, err
	}
	if dir != "" {
		return d.replace(ctx, c, dir)
	}
	return d.add(ctx, c)
}

// ImportArchive imports the skill in an archive on disk. It has the same id each time.
func (d *Downloader) ImportArchive(ctx context.Context, path string) (wire.Imported, error) {
	c, err := d.open(ctx, path)
	if err != nil {
		return wire.Imported{}, err
	}
	release, err := d.busy.alone(ctx, c.id)
	if err != nil {
		return wire.Imported{}, errors.Join(err, c.close())
	}
	defer release()
	dir, err := d.installed.find(c.id)
	switch {
	case err != nil:
		return wire.Imported{}, errors.Join(err, c.close())
	case dir != "" && !d.Force:
		res, err := d.there(ctx, c.id, dir)
		return res, errors.Join(err, c.close())
	case dir != "":
		return d.replace(ctx, c, dir)
	}
	return d.add(ctx, c)
}

// there describes a skill that is installed.
func (d *Downloader) there(ctx context.Context, id, dir string) (wire.Imported, error) {
	res := wire.Imported{Status: StatusExists, SkillID: id, SkillDir: dir, LocalPath: dir, DryRun: d.DryRun}
	s, _, err := skill.Load(dir)
	if err != nil {
		return res, err
	}
	if s != nil {
		res.Name, res.Description = s.Name, s.Description
	}
	status, err := d.Store.Status(dir)
	switch {
	case err != nil:
		return res, err
	case status == store.Dirty:
		res.Warnings = append(res.Warnings, "it was edited here; --force keeps the edit as a version in the store and fetches the skill again")
	case status == store.Unregistered && !d.DryRun:
		err = d.register(ctx, id, dir)
	}
	return res, err
}

// register records a folder that came without a record: from another program, or from a run that was killed.
// A second folder of a skill has none.
func (d *Downloader) register(ctx context.Context, id, dir string) error {
	_, known, err := d.Store.Record(id)
	if err == nil && !known {
		_, err = d.Store.Register(ctx, dir, false)
	}
	return err
}

// candidate is a skill that was fetched, checked and scanned, unpacked in a stage beside its later place.
type candidate struct {
	id      string
	record  api.Record // zero for an archive
	skill   *skill.Skill
	archive *Archive
	stage   string // "" in a dry run
	res     wire.Imported
}

// close removes the stage, if it is still there.
func (c *candidate) close() error {
	if c.stage == "" {
		return nil
	}
	return os.RemoveAll(c.stage)
}

// fetch brings a skill from the registry.
func (d *Downloader) fetch(ctx context.Context, id string) (*candidate, error) {
	release, err := d.slots.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if d.Client == nil {
		return nil, wire.Errorf(wire.Usage, "no registry")
	}
	rec, err := d.Client.Record(ctx, id)
	if err != nil {
		return nil, missing(err, id)
	}
	c := &candidate{id: id, record: rec}
	if d.DryRun {
		c.skill = &skill.Skill{Name: cmp.Or(rec.Name, id), Description: rec.Description}
		c.describe("")
		return c, nil
	}
	if err := os.MkdirAll(d.Root, 0o755); err != nil {
		return nil, err
	}
	sp := &spool{dir: d.Root}
	defer sp.close()
	art, err := d.Client.Download(ctx, id, d.Limits.Archive, sp.reset)
	if err != nil {
		return nil, missing(err, id)
	}
	sig := art.Signature
	if sig == nil {
		sig = rec.Signature
	}
	return c, d.unpack(c, sp.reader(), sp.size, sig, rec.Fingerprint, art.Fingerprint)
}

// missing points at the registry, not at what is here.
func missing(err error, id string) error {
	res := wire.AsError(err)
	if res.Code == wire.NotFound {
		res.SkillID = id
		res.Hint = "openspace-search --source cloud WORDS finds skills in the registry"
	}
	return res
}

// open reads an archive on disk.
func (d *Downloader) open(ctx context.Context, path string) (*candidate, error) {
	release, err := d.slots.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	f, err := os.Open(path)
	if err != nil {
		return nil, wire.Errorf(wire.NotFound, "%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.Root, 0o755); err != nil {
		return nil, err
	}
	c := &candidate{}
	return c, d.unpack(c, f, info.Size(), nil)
}

// unpack checks an archive, unpacks it into a stage and scans that. Whatever fails removes the stage.
func (d *Downloader) unpack(c *candidate, r io.ReaderAt, size int64, sig *api.Signature, fingerprints ...string) (err error) {
	if c.archive, err = OpenArchive(r, size, d.Limits); err != nil {
		return err
	}
	text, err := c.archive.SkillFile()
	if err != nil {
		return err
	}
	var problems []skill.Diagnostic
	if c.skill, problems = skill.Parse(text, c.record.Name); c.skill == nil {
		return wire.Errorf(wire.Invalid, "%s of the archive: %s", skill.FileName, problems[0].Message)
	}
	if c.stage, err = makeStage(d.Root); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := os.Chmod(c.stage, 0o755); err != nil {
		return err
	}
	sum, err := c.archive.Unpack(c.stage)
	if err != nil {
		return err
	}
	for _, want := range fingerprints {
		if want != "" && want != sum {
			return wire.Errorf(wire.Unsafe, "the archive does not hold the content that the registry has a record of")
		}
	}
	c.id = cmp.Or(c.id, c.skill.Name+"__imp_"+sum[:8])
	c.describe(sig.KeyID())
	if err := d.checkSignature(sig, sum, c); err != nil {
		return err
	}
	return d.scan(c)
}

// makeStage makes a folder with a name that package store takes for a stage's, so that its gc finds one that was left behind.
func makeStage(root string) (string, error) {
	var tag [6]byte
	rand.Read(tag[:])
	dir := filepath.Join(root, fmt.Sprintf(".os-stage-%x", tag))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, nil
}

// describe begins the result.
func (c *candidate) describe(signedBy string) {
	r := c.record
	c.res = wire.Imported{
		Status: StatusSuccess, SkillID: c.id, Name: c.skill.Name, Description: c.skill.Description, Visibility: r.Visibility, Origin: r.Origin,
		ParentSkillIDs: r.ParentSkillIDs, CreatedBy: cmp.Or(r.CreatedBy, r.Owner), SignedBy: signedBy,
	}
	if r.Deprecated != "" {
		c.res.Warnings = append(c.res.Warnings, "deprecated: "+r.Deprecated)
	}
	if c.archive == nil {
		return
	}
	c.res.Files = c.archive.Paths()
	if c.archive.Wrapper != "" {
		c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("the folder %q that everything lay in was taken off", c.archive.Wrapper))
	}
	for _, l := range c.archive.Dropped {
		if l.Reason != skill.ReasonSidecar && l.Reason != skill.ReasonEditor {
			c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("left out %q: %s", l.Path, l.Reason))
		}
	}
}

// checkSignature holds a signature against the content, and against what is asked for.
func (d *Downloader) checkSignature(sig *api.Signature, sum string, c *candidate) error {
	if sig != nil {
		if err := sig.Verify(sum, c.skill.Name); err != nil {
			return wire.Errorf(wire.Unsafe, "%w", err)
		}
	}
	switch {
	case sig == nil && (d.RequireSignature || len(d.SignedBy) > 0):
		return wire.Errorf(wire.Unsafe, "skill %q is not signed", c.id)
	case len(d.SignedBy) > 0 && !slices.Contains(d.SignedBy, sig.KeyID()):
		return wire.Errorf(wire.Unsafe, "skill %q is signed by %s, which is not among the keys to trust", c.id, sig.KeyID())
	}
	return nil
}

// scan judges the stage. What is blocked goes to quarantine.
func (d *Downloader) scan(c *candidate) error {
	report, err := safety.ScanDir(c.stage, d.Policy)
	if err != nil {
		return err
	}
	c.res.SafetyFlags = report.Flags
	if report.Verdict != safety.Block {
		return nil
	}
	dir := filepath.Join(d.Store.Home(), "quarantine", folderName(c.id, c.id))
	blocked := wire.Errorf(wire.Unsafe, "skill %q is blocked: %s", c.id, worst(report.Findings)).
		WithHint("openspace-skills scan %s shows all findings", dir)
	blocked.SkillID, blocked.Path = c.id, dir
	if err := d.quarantine(c, dir); err != nil {
		blocked.Path, blocked.Hint = "", fmt.Sprintf("it was removed, because it could not be put aside: %v", err)
	}
	return blocked
}

// worst describes the finding that weighs most.
func worst(found []safety.Finding) string {
	rank := []safety.Severity{safety.Critical, safety.High, safety.Medium, safety.Low}
	w := slices.MinFunc(found, func(a, b safety.Finding) int { return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity) })
	place := w.Path
	if w.Line > 0 {
		place = fmt.Sprintf("%s:%d", w.Path, w.Line)
	}
	return fmt.Sprintf("%s (%s in %s)", w.Message, w.Rule, place)
}

// quarantine puts the content where no agent looks. It is unpacked anew, since that place may be on another disk.
func (d *Downloader) quarantine(c *candidate, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_, err := c.archive.Unpack(dir)
	return err
}

// storeRecord is what the store is told beyond what the folder says.
func (c *candidate) storeRecord() store.Record {
	r := store.Record{SkillID: c.id, Visibility: c.record.Visibility, CreatorID: cmp.Or(c.record.Owner, c.record.CreatedBy)}
	if len(c.record.Tags) > 0 {
		r.Tags = c.record.Tags
	}
	r.Lineage.CreatedBy, r.Lineage.ChangeSummary = cmp.Or(c.record.CreatedBy, c.record.Owner), c.record.ChangeSummary
	return r
}

// replace puts the skill into the place of another version of it. A hand edit becomes a version of its own first.
func (d *Downloader) replace(ctx context.Context, c *candidate, dir string) (wire.Imported, error) {
	defer c.close()
	before, err := d.origins.folder(dir)
	if err != nil {
		return wire.Imported{}, err
	}
	c.res.Status, c.res.SkillDir, c.res.LocalPath, c.res.DryRun = StatusUpdated, dir, dir, d.DryRun
	if before != c.id {
		c.res.PreviousSkillID = before
	}
	if d.DryRun {
		return c.res, nil
	}
	rec := c.storeRecord()
	if _, known, err := d.Store.Record(c.id); err != nil {
		return wire.Imported{}, err
	} else if known { // then the version gets an id of its own, and this says what it is
		rec.Lineage.Restores = c.id
	}
	_, err = d.Store.Replace(ctx, dir, "", rec, func(stage string) error { return swapContent(c.stage, stage) })
	if errors.Is(err, store.ErrUnchanged) {
		c.res.Status = StatusUnchanged
		if err = nil; before != c.id {
			err = d.Store.Adopt(ctx, []store.Adoption{{Dir: dir, ID: c.id}})[0]
		}
	}
	if err == nil {
		d.installed.replace(before, c.id, dir)
	}
	return c.res, err
}

// swapContent gives a folder the content of another one, which is used up.
func swapContent(from, to string) error {
	for _, dir := range []string{to, from} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if dir == to {
				err = os.RemoveAll(filepath.Join(to, e.Name()))
			} else {
				err = os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
