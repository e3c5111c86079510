package transfer

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The outcomes of an upload, as the record of it names them.
const (
	StatusDuplicate = "duplicate"
	StatusDryRun    = "dry_run"
	ActionCreated   = "created"
	ActionExists    = "exists (idempotent)"
)

// Upload says how skill folders are published.
type Upload struct {
	Client *cloud.Client // may be nil for Plan
	Store  *store.Store
	Jobs   int // how many folders are sent at once

	Groups      []string // who may see a group's skill
	Said        Said
	SignKey     ed25519.PrivateKey // nil: unsigned
	AllowSecret bool
	NoWriteBack bool // leave .skill_id and the store alone
	Limits      Limits
}

// Uploader publishes skill folders. Its methods wait for their results, and are meant to be called by many
// goroutines at once, more of them than Jobs: ids are written back together.
type Uploader struct {
	Upload
	origins  origins
	slots    slots
	busy     keyed
	adopting *group[store.Adoption, error]
}

// NewUploader returns an Uploader.
func NewUploader(u Upload) *Uploader {
	return &Uploader{
		Upload: u, origins: newOrigins(u.Store), slots: newSlots(u.Jobs),
		adopting: &group[store.Adoption, error]{work: func(as []store.Adoption) []error {
			return u.Store.Adopt(context.Background(), as)
		}},
	}
}

// Plan is an upload as far as it goes without asking anybody.
type Plan struct {
	Package *Package
	Result  wire.Upload
	meta    meta
	history history
}

// Plan reads a folder, settles what would be told about it and checks it. Nothing is changed.
func (u *Uploader) Plan(ctx context.Context, dir, visibility string) (*Plan, error) {
	p, err := u.plan(ctx, dir, visibility, true)
	if err == nil {
		p.Result.Status = StatusDryRun
	}
	return p, err
}

func (u *Uploader) plan(ctx context.Context, dir, visibility string, look bool) (*Plan, error) {
	dir, err := store.Canonical(dir)
	if err != nil {
		return nil, wire.Errorf(wire.NotFound, "%w", err)
	}
	pack, err := Pack(dir, u.Limits)
	if err != nil {
		return nil, err
	}
	if err := u.CheckSecrets(pack); err != nil {
		return nil, err
	}
	p := &Plan{Package: pack}
	if p.history, err = u.past(ctx, dir, look); err != nil {
		return nil, err
	}
	var warnings []string
	if p.meta, warnings, err = u.describe(pack, p.history); err != nil {
		return nil, err
	}
	p.Result = wire.Upload{
		Status: StatusSuccess, SkillDir: dir, Name: pack.Name, Description: pack.Description, Visibility: visibility,
		FileCount: len(pack.Files), SizeBytes: pack.Size, LeftOut: len(pack.LeftOut), Warnings: warnings,
	}
	p.tell()
	return p, nil
}

// tell puts the description into the result.
func (p *Plan) tell() {
	r, m := &p.Result, p.meta
	r.Origin, r.ParentSkillIDs, r.Tags, r.CreatedBy, r.ChangeSummary = m.origin, m.parents, m.tags, m.createdBy, m.summary
}

// CheckSecrets refuses what looks like a secret, naming file and line, unless AllowSecret says otherwise.
func (u Upload) CheckSecrets(p *Package) error {
	if u.AllowSecret {
		return nil
	}
	found := p.Secrets()
	if len(found) == 0 {
		return nil
	}
	var places []string
	for _, f := range found[:min(len(found), 5)] {
		places = append(places, fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.Message))
	}
	more := ""
	if n := len(found) - len(places); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	err := wire.Errorf(wire.Unsafe, "skill %q would publish a secret: %s%s", p.Name, strings.Join(places, ", "), more).
		WithHint("remove it, name the file in %s, or say --allow-secret if it is none", skill.IgnoreFile)
	err.Path = found[0].Path
	return err
}

// Publish sends a folder and writes the id that it got back. visibility is api.Public, api.Private or api.Group.
func (u *Uploader) Publish(ctx context.Context, dir, visibility string) (wire.Upload, error) {
	release, err := u.busy.alone(ctx, dir)
	if err != nil {
		return wire.Upload{}, err
	}
	defer release()
	p, err := u.send(ctx, dir, visibility)
	if err != nil {
		return wire.Upload{}, err
	}
	p.Package.Files = nil // the wait for the disk needs no memory
	u.writeBack(p)
	return p.Result, nil
}

// send is Publish without writing the id back.
func (u *Uploader) send(ctx context.Context, dir, visibility string) (*Plan, error) {
	release, err := u.slots.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := u.plan(ctx, dir, visibility, u.NoWriteBack)
	if err != nil {
		return nil, err
	}
	id, done, err := u.proposed(ctx, p)
	if err != nil || done {
		return p, err
	}
	staged, err := u.Client.Stage(ctx, p.Package.Files)
	if err != nil {
		return nil, err
	}
	for _, l := range staged.Stats.LeftOut {
		p.warn("the registry leaves out %q: %s", l.Path, l.Reason)
	}
	rec, outcome, err := u.Client.Create(ctx, u.request(ctx, p, id, staged.ArtifactID), p.Package.Name)
	if err != nil {
		return nil, err
	}
	p.Result.ArtifactID = cmp.Or(rec.ArtifactID, staged.ArtifactID)
	p.came(rec.RecordID, outcome)
	return p, nil
}

func (p *Plan) warn(format string, args ...any) {
	p.Result.Warnings = append(p.Result.Warnings, fmt.Sprintf(format, args...))
}

// came fills in what the registry made of it.
func (p *Plan) came(id string, outcome cloud.Outcome) {
	r := &p.Result
	r.RecordID, r.SkillID = id, id
	switch outcome {
	case cloud.Created:
		r.Action = ActionCreated
	case cloud.Exists:
		r.Action = ActionExists
	case cloud.Duplicate:
		r.Status, r.ExistingRecordID = StatusDuplicate, id
		r.Message = "the same content is there already as " + id
	}
}

// proposed chooses the record id. done says that the registry has the record with this content already.
func (u *Uploader) proposed(ctx context.Context, p *Plan) (id string, done bool, err error) {
	fresh := skill.NewID(p.Package.Name, "clo")
	id = cmp.Or(p.history.published, p.history.claimed)
	if id == "" {
		return fresh, false, nil
	}
	rec, err := u.Client.Record(ctx, id)
	switch {
	case wire.CodeOf(err) == wire.NotFound && p.history.published != "":
		return id, false, nil
	case wire.CodeOf(err) == wire.NotFound:
		return fresh, false, nil
	case err != nil:
		return "", false, err
	case rec.Fingerprint == p.Package.Fingerprint:
		p.came(id, cloud.Exists)
		p.Result.ArtifactID, p.Result.Visibility = rec.ArtifactID, cmp.Or(rec.Visibility, p.Result.Visibility)
		return id, true, nil
	case rec.Fingerprint == "": // a registry without fingerprints decides by itself
		return id, false, nil
	}
	return fresh, false, u.succeeds(p, id)
}

// succeeds makes a folder that nobody recorded a fix of what it was once, unless something says what it is.
func (u *Uploader) succeeds(p *Plan, id string) error {
	if p.history.known || u.Said.Origin != nil || u.Said.Parents != nil || len(p.meta.parents) > 0 || p.meta.origin != store.OriginImported {
		return nil
	}
	p.meta.origin, p.meta.parents = store.OriginFixed, []string{id}
	p.tell()
	return p.meta.check()
}

func (u *Uploader) request(ctx context.Context, p *Plan, id, artifact string) api.Create {
	m := p.meta
	req := api.Create{
		RecordID: id, ArtifactID: artifact, Origin: m.origin, Visibility: p.Result.Visibility, Groups: u.Groups,
		ParentSkillIDs: append([]string{}, m.parents...), Tags: append([]string{}, m.tags...), Level: api.Level,
		CreatedBy: m.createdBy, ChangeSummary: m.summary,
	}
	if u.SignKey != nil {
		req.Signature = api.Sign(u.SignKey, p.Package.Fingerprint, p.Package.Name)
		p.Result.SignedBy = req.Signature.KeyID()
	}
	if text := u.contentDiff(ctx, p); text != "" {
		req.ContentDiff = &text
	}
	return req
}

// maxContentDiff is the most that is sent to be looked at, in bytes.
const maxContentDiff = 1 << 20

// contentDiff is the change that a public skill makes to nothing or to its only parent; "" when there is none
// to show.
func (u *Uploader) contentDiff(ctx context.Context, p *Plan) string {
	if p.Result.Visibility != api.Public || len(p.meta.parents) > 1 {
		return ""
	}
	var before store.Side
	if len(p.meta.parents) == 1 {
		var err error
		if before, err = u.filesOf(ctx, p.meta.parents[0]); err != nil {
			p.warn("no content_diff: %v", err)
			return ""
		}
	}
	files, err := store.Compare(before, memorySide(p.Package.Files))
	if err != nil {
		p.warn("no content_diff: %v", err)
	}
	var out strings.Builder
	for _, f := range files {
		if !f.Binary {
			out.WriteString(f.Patch)
		}
	}
	if out.Len() > maxContentDiff {
		p.warn("no content_diff: it would have %d bytes, at most %d are sent", out.Len(), maxContentDiff)
		return ""
	}
	return out.String()
}

// memorySide is the side of a comparison that an archive's files make.
func memorySide(files []api.File) store.Side {
	content, exec := map[string][]byte{}, map[string]bool{}
	for _, f := range files {
		content[f.Path], exec[f.Path] = f.Data, f.Exec
	}
	return store.MemorySide(content, exec)
}

// filesOf returns the files of a version from the store, else from the registry.
func (u *Uploader) filesOf(ctx context.Context, id string) (store.Side, error) {
	if side, err := u.Store.VersionSide(id); err == nil {
		return side, nil
	}
	sp := &spool{}
	defer sp.close()
	if _, err := u.Client.Download(ctx, id, u.Limits.Archive, sp.reset); err != nil {
		return store.Side{}, err
	}
	a, err := OpenArchive(sp.reader(), sp.size, u.Limits)
	if err != nil {
		return store.Side{}, err
	}
	var files []api.File
	err = a.each(func(f api.File, drop bool) error {
		if !drop {
			files = append(files, f)
		}
		return nil
	})
	return memorySide(files), err
}

// writeBack gives folder and store the id that the registry knows, so that the next version has a parent that
// others know too.
func (u *Uploader) writeBack(p *Plan) {
	r := p.Result
	if u.NoWriteBack || r.RecordID == "" || !skill.ValidID(r.RecordID) {
		return
	}
	if p.history.known && p.history.head.SkillID == r.RecordID {
		return
	}
	err := u.adopting.ask(store.Adoption{Dir: r.SkillDir, ID: r.RecordID, Visibility: r.Visibility})
	switch {
	case errors.Is(err, store.ErrConflict):
		p.warn("the id was not written back: %v", err)
	case err != nil:
		p.warn("the id was not written back: %v; the same command again does it", err)
	}
}
