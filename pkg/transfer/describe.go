package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Said is what a user says about an upload. What is nil was not said.
type Said struct {
	Origin        *string
	Parents       *[]string
	Tags          *[]string
	CreatedBy     *string
	ChangeSummary *string
}

// meta is what the registry is told about a skill beyond its files.
type meta struct {
	origin    string
	parents   []string
	tags      []string
	createdBy string
	summary   string
}

// history is what is known of a folder's past.
type history struct {
	head      store.Record
	known     bool   // the store has head
	edited    bool   // the folder is no longer what head says
	published string // the registry's id of exactly this content; "" when it has none, or that is not known
	claimed   string // the id in .skill_id of a folder that the store does not know
}

// past finds out what is known of a folder. A hand edit is recorded unless look says to leave everything as it is.
func (u *Uploader) past(ctx context.Context, dir string, look bool) (h history, err error) {
	if h.head, h.known, err = u.Store.HeadAt(dir); err != nil {
		return h, err
	}
	if !h.known {
		id, _ := skill.ReadID(dir)
		if !u.origins.isLocal(id) {
			h.claimed = id
		}
		return h, nil
	}
	tree, err := store.Snapshot(dir)
	if err != nil {
		return h, err
	}
	h.edited = tree.Hash != h.head.Lineage.Tree
	if h.edited && !look {
		reg, err := u.Store.Register(ctx, dir, false)
		if err != nil {
			return h, err
		}
		h.head, h.edited = reg.Record, false
	}
	switch {
	case h.edited:
	case !u.origins.isLocal(h.head.SkillID):
		h.published = h.head.SkillID
	case h.head.Lineage.Restores != "":
		h.published, err = u.origins.id(h.head.SkillID)
	}
	return h, err
}

// meta returns what the store says about a folder's version.
func (h history) meta() meta {
	l := h.head.Lineage
	m := meta{l.Origin, l.ParentSkillIDs, h.head.Tags, l.CreatedBy, l.ChangeSummary}
	if h.edited {
		m = meta{store.OriginFixed, []string{h.head.SkillID}, h.head.Tags, store.Human, "edited by hand"}
	}
	if l.Restores != "" && !h.edited { // its content is that of another version
		m.origin, m.parents = store.OriginFixed, l.ParentSkillIDs
	}
	return m
}

// sidecar is .upload_meta.json. Null and missing are the same.
type sidecar struct {
	Origin         string   `json:"origin"`
	ParentSkillIDs []string `json:"parent_skill_ids"`
	ChangeSummary  string   `json:"change_summary"`
	CreatedBy      string   `json:"created_by"`
	Tags           []string `json:"tags"`
	SkillID        string   `json:"skill_id"` // of the version that it was written for
}

// anonymous is the creator that sidecars name when nobody is known.
const anonymous = "openspace"

// maxSidecar bounds a sidecar, in bytes.
const maxSidecar = 1 << 20

// readSidecar returns the sidecar of a folder if it belongs to the version there; else nil and, when there is
// one, a warning.
func readSidecar(dir string, h history) (*sidecar, string) {
	path := filepath.Join(dir, skill.MetaFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSidecar {
		return nil, skill.MetaFile + " is ignored: it is no plain small file"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Sprintf("%s is ignored: %v", skill.MetaFile, err)
	}
	var s *sidecar
	if !utf8.Valid(data) || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) || json.Unmarshal(data, &s) != nil {
		return nil, skill.MetaFile + " is ignored: it is no JSON object of the right form"
	}
	if h.stale(s, info.ModTime()) {
		return nil, skill.MetaFile + " is ignored: it was written for another version"
	}
	return s, ""
}

// stale tells whether a sidecar belongs to another version than the one in the folder.
func (h history) stale(s *sidecar, written time.Time) bool {
	id := h.claimed
	if h.known {
		id = h.head.SkillID
	}
	if s.SkillID != "" {
		return s.SkillID != id || h.edited
	}
	return h.known && (h.edited || h.head.Lineage.CreatedAt.After(written.Add(coarse)))
}

// coarse is how far the times of files may lag behind the clock.
const coarse = 2 * time.Second

// describe settles what the registry is told, from the strongest source that says it.
func (u *Uploader) describe(p *Package, h history) (meta, []string, error) {
	m := meta{origin: store.OriginImported, tags: p.Tags}
	if h.known {
		m = h.meta()
	}
	var warnings []string
	side, warning := readSidecar(p.Dir, h)
	if warning != "" {
		warnings = append(warnings, warning)
	}
	if side != nil {
		side.over(&m)
	}
	u.Said.over(&m)
	if m.createdBy == store.Human || m.createdBy == anonymous {
		m.createdBy = ""
	}
	if len(m.tags) == 0 {
		m.tags = p.Tags
	}
	var err error
	if m.parents, err = u.origins.parents(m.parents); err != nil {
		return m, warnings, err
	}
	return m, warnings, m.check()
}

// over puts what a sidecar says over what was known. Origin and parents belong together.
func (s *sidecar) over(m *meta) {
	if s.Origin != "" {
		m.origin, m.parents = s.Origin, s.ParentSkillIDs
	}
	if len(s.Tags) > 0 {
		m.tags = s.Tags
	}
	if s.CreatedBy != "" && s.CreatedBy != anonymous {
		m.createdBy = s.CreatedBy
	}
	if s.ChangeSummary != "" {
		m.summary = s.ChangeSummary
	}
}

func (s Said) over(m *meta) {
	if s.Origin != nil {
		if *s.Origin != m.origin {
			m.parents = nil
		}
		m.origin = *s.Origin
	}
	for _, l := range []struct {
		said *[]string
		to   *[]string
	}{{s.Parents, &m.parents}, {s.Tags, &m.tags}} {
		if l.said != nil {
			*l.to = slices.Clone(*l.said)
		}
	}
	for _, l := range []struct{ said, to *string }{{s.CreatedBy, &m.createdBy}, {s.ChangeSummary, &m.summary}} {
		if l.said != nil {
			*l.to = *l.said
		}
	}
}

// check holds origin and parents against each other.
func (m meta) check() error {
	problem, known := api.CheckParents(m.origin, len(m.parents))
	switch {
	case !known:
		return wire.Errorf(wire.Invalid, "unknown origin %q", m.origin).WithHint("use imported, captured, derived or fixed")
	case problem != "":
		return wire.Errorf(wire.Invalid, "%s, there are %d", problem, len(m.parents)).WithHint("say --origin and --parent-ids")
	}
	return nil
}
