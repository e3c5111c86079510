package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Limits of the texts of a record, in bytes.
const (
	maxName    = 256
	maxLine    = 200
	maxText    = 16 << 10
	maxItems   = 64
	maxFlagged = 20 // findings that are told
)

// create publishes a staged artifact (POST /records).
func (s *Server) create(c *call) error {
	var req api.Create
	if err := s.decode(c, &req); err != nil {
		return err
	}
	if err := tidy(&req, c.caller); err != nil {
		return err
	}
	hash, ok := s.stagedHash(req.ArtifactID, c.caller)
	if !ok {
		return noArtifact(req.ArtifactID)
	}
	a, err := s.artifact(c.r.Context(), hash)
	if errors.Is(err, ErrNotFound) {
		return noArtifact(req.ArtifactID)
	}
	if err != nil {
		return err
	}
	r, err := s.newRecord(c, &req, a)
	if err != nil {
		return err
	}
	defer s.hold(req.RecordID, a.fingerprint)()
	return s.publish(c, req.RecordID, r)
}

func noArtifact(id string) error {
	return refuse(api.ErrNotFound, "no staged artifact %q; staged files are kept for a day", clip(id))
}

func clip(text string) string {
	if len(text) > maxLine {
		text = text[:maxLine] + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// tidy checks what a client says about a record and fills in what it leaves out.
func tidy(req *api.Create, c *caller) error {
	if !ValidRecordID(req.RecordID) {
		return refuse(api.ErrInvalid, "record id %q: want 1 to 240 bytes on one line without backslashes, no part that is empty, begins with a dot or is a word of the API, and no leading hyphen", clip(req.RecordID))
	}
	switch problem, known := api.CheckParents(req.Origin, len(req.ParentSkillIDs)); {
	case !known:
		return refuse(api.ErrInvalid, "origin %q: want imported, captured, derived or fixed", clip(req.Origin))
	case problem != "":
		return refuse(api.ErrInvalid, "%s", problem)
	}
	var err error
	if req.Visibility, req.Groups, err = allowedVisibility(req.Visibility, req.Groups, c); err != nil {
		return err
	}
	if req.Level == "" {
		req.Level = api.Level
	}
	if err := errors.Join(checkText("level", req.Level, maxLine), checkText("created_by", req.CreatedBy, maxLine),
		checkText("change_summary", req.ChangeSummary, maxText)); err != nil {
		return err
	}
	if req.Tags, err = tidyList("tags", req.Tags); err != nil {
		return err
	}
	req.ParentSkillIDs, err = tidyList("parent_skill_ids", req.ParentSkillIDs)
	return err
}

// allowedVisibility checks who shall see a record. A group record without groups is what old clients send for
// a private one.
func allowedVisibility(v string, groups []string, c *caller) (string, []string, error) {
	if v == api.Group && len(groups) == 0 {
		v = api.Private
	}
	switch v {
	case api.Public, api.Private:
		if len(groups) > 0 {
			return "", nil, refuse(api.ErrInvalid, "groups are for the visibility %s", api.Group)
		}
		return v, nil, nil
	case api.Group:
	default:
		return "", nil, refuse(api.ErrInvalid, "visibility %q: want public, private or %s", clip(v), api.Group)
	}
	for _, g := range groups {
		if !slices.Contains(c.Groups, g) && (c.Scope != ScopeAdmin || !validName(g)) {
			return "", nil, refuse(api.ErrForbidden, "the key is not of the group %q", clip(g))
		}
	}
	return v, sorted(groups), nil
}

func checkText(field, text string, most int) error {
	switch {
	case len(text) > most:
		return refuse(api.ErrInvalid, "%s is longer than %d bytes", field, most)
	case !utf8.ValidString(text):
		return refuse(api.ErrInvalid, "%s is not UTF-8", field)
	}
	return nil
}

// tidyList removes blanks and repetitions.
func tidyList(field string, list []string) (out []string, err error) {
	if len(list) > maxItems {
		return nil, refuse(api.ErrInvalid, "%s has more than %d items", field, maxItems)
	}
	for _, item := range list {
		item = strings.TrimSpace(item)
		if item == "" || slices.Contains(out, item) {
			continue
		}
		if strings.IndexFunc(item, unicode.IsControl) >= 0 {
			return nil, refuse(api.ErrInvalid, "%s: %q has control characters", field, clip(item))
		}
		if err := checkText(field, item, maxName); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// newRecord makes a record of what the client says and what the artifact holds.
func (s *Server) newRecord(c *call, req *api.Create, a *artifact) (*record, error) {
	sk := a.skill
	if sk == nil {
		return nil, refuse(api.ErrInvalid, "%s holds no text that can be read", skill.FileName)
	}
	name := sk.Name
	if name == "" { // the folder's name does not travel; the id begins with the name that the client saw
		name, _, _ = strings.Cut(req.RecordID, "__")
	}
	if strings.IndexFunc(name, unicode.IsControl) >= 0 || len(name) > maxName {
		return nil, refuse(api.ErrInvalid, "the name %q is longer than %d bytes or has control characters", clip(name), maxName)
	}
	r := &record{
		Name: name, Description: strings.ToValidUTF8(sk.Description, "\ufffd"), Visibility: req.Visibility, Groups: req.Groups, Origin: req.Origin,
		ParentSkillIDs: req.ParentSkillIDs, Tags: req.Tags, Level: req.Level, CreatedBy: req.CreatedBy, ChangeSummary: req.ChangeSummary,
		License: clip(sk.License), Version: clip(sk.Version), Owner: c.caller.Owner, Fingerprint: a.fingerprint, Archive: a.hash, SizeBytes: a.size,
		FileCount: a.files, SafetyFlags: a.report.Flags, Signature: req.Signature,
	}
	if len(r.Description) > maxText {
		r.Description = strings.ToValidUTF8(r.Description[:maxText], "")
	}
	if err := s.checkSignature(r); err != nil {
		return nil, err
	}
	if r.Visibility != api.Private {
		if err := safeToShow(a); err != nil {
			return nil, err
		}
	}
	return r, s.keepDiff(c.r.Context(), req, r)
}

// checkSignature holds a signature to the content that the server has.
func (s *Server) checkSignature(r *record) error {
	if r.Signature == nil {
		if s.o.NeedSignature {
			return refuse(api.ErrSignature, "this registry takes signed skills only")
		}
		return nil
	}
	if err := r.Signature.Verify(r.Fingerprint, r.Name); err != nil {
		return refuse(api.ErrSignature, "%v (fingerprint %s, name %q)", err, r.Fingerprint, r.Name)
	}
	return nil
}

// safeToShow refuses what the safety scan blocks.
func safeToShow(a *artifact) error {
	if a.report.Verdict != safety.Block {
		return nil
	}
	e := refuse(api.ErrUnsafe, "the safety scan blocks it: %s", strings.Join(a.report.Flags, ", "))
	for _, f := range a.report.Findings {
		if len(e.Findings) < maxFlagged && (f.Severity == safety.Critical || f.Severity == safety.High) {
			e.Findings = append(e.Findings, api.Finding{Rule: f.Rule, Severity: string(f.Severity), Path: f.Path, Line: f.Line, Message: f.Message})
		}
	}
	return e
}

// keepDiff stores the content diff of a record with one parent. That of a record without a parent says what
// the artifact says.
func (s *Server) keepDiff(ctx context.Context, req *api.Create, r *record) (err error) {
	if req.ContentDiff == nil || *req.ContentDiff == "" || len(r.ParentSkillIDs) != 1 || len(*req.ContentDiff) > s.o.Limits.Diff {
		return nil
	}
	r.Diff, err = s.storage.PutBlob(ctx, []byte(*req.ContentDiff))
	return err
}

// hold makes everything that concerns an id or a content wait for the one that holds it, and returns what lets it go.
func (s *Server) hold(id, fingerprint string) (release func()) {
	a, b := hashKey("id " + id)[:2], fingerprint[:2]
	i, j := rawByte(a), rawByte(b)
	if i > j {
		i, j = j, i
	}
	s.stripes[i].Lock()
	if i == j {
		return s.stripes[i].Unlock
	}
	s.stripes[j].Lock()
	return func() {
		s.stripes[j].Unlock()
		s.stripes[i].Unlock()
	}
}

func rawByte(hex string) (n byte) {
	fmt.Sscanf(hex, "%02x", &n)
	return n
}

// publish decides what becomes of a record and stores it. Its id and content are held.
func (s *Server) publish(c *call, id string, r *record) error {
	for try := 0; ; try++ {
		prev, done, err := s.decide(c, id, r)
		if done || err != nil {
			return err
		}
		now := s.newTime()
		r.CreatedAt, r.UpdatedAt = now, now
		seq, err := s.put(c.r.Context(), id, r, prev)
		switch {
		case errors.Is(err, ErrConflict) && try < 3: // another server on the same storage was first
			if err := s.follow(c.r.Context()); err != nil {
				return err
			}
			continue
		case errors.Is(err, ErrNotFound):
			return refuse(api.ErrNotFound, "the staged artifact has been collected; stage it again")
		case err != nil:
			return err
		}
		c.w.Header().Set("Location", recordURL(id))
		c.w.Header().Set("ETag", etag(seq))
		c.json(http.StatusCreated, r.public(id, 0))
		return nil
	}
}

// decide says whether a record may be made: it answers a repetition by itself, and refuses an id or a content
// that is taken.
func (s *Server) decide(c *call, id string, r *record) (prev uint64, done bool, err error) {
	s.view.mu.RLock()
	label, taken := s.view.labels[id]
	var e entry
	if taken {
		e = s.view.entries[label]
	}
	seen := taken && s.view.sees(c.caller, &e)
	s.view.mu.RUnlock()
	content := rawHash(r.Fingerprint)
	switch {
	case taken && e.owner != c.caller.owner && (e.deleted || e.content != content || !seen):
		return 0, false, refuse(api.ErrIDTaken, "the record id %q is taken", id)
	case taken && e.deleted:
		prev = e.seq
	case taken && e.content != content:
		return 0, false, refuse(api.ErrIDTaken, "the record id %q is taken by other content", id)
	case taken && e.owner != c.caller.owner:
		return 0, false, contentExists(id)
	case taken:
		return 0, true, s.sendRecord(c, id)
	}
	if twin := s.view.twin(c.caller, content, id); twin != "" {
		return 0, false, contentExists(twin)
	}
	return prev, false, nil
}

func contentExists(id string) error {
	e := refuse(api.ErrContentExists, "the same content is there as record %q", id)
	e.ExistingRecordID = id
	return e
}

// newTime returns a time that is later than any before it, as the order of records needs it.
func (s *Server) newTime() string {
	now := time.Now().UnixNano()
	for {
		last := s.lastTime.Load()
		now = max(now, last+1)
		if s.lastTime.CompareAndSwap(last, now) {
			return formatTime(time.Unix(0, now))
		}
	}
}
