package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// ErrStale: the skill is no longer what the change was made for.
var ErrStale = errors.New("the skill has changed since")

// Kind is what a change does.
type Kind string

// The kinds.
const (
	Fix      Kind = "fix"      // the next version of a folder
	Derived  Kind = "derived"  // a new folder beside its parents
	Captured Kind = "captured" // a new folder
)

// Change is a new version of a skill, complete and not yet in place.
type Change struct {
	Kind    Kind
	Dir     string        // of a fix: the folder; else the folder that the new one is made in
	Head    string        // of a fix: the id that must be the head
	Record  store.Record  // of it count what store.Replace or store.Create takes; Name is the name of a new folder
	Content store.Content // all files
}

// maxTries is how many names are tried for a new folder.
const maxTries = 50

// Apply puts a change in place. A pinned skill is ErrPinned.
func Apply(ctx context.Context, st *store.Store, c Change) (store.Record, error) {
	if c.Kind == Fix {
		return c.replace(ctx, st)
	}
	var err error
	for n := 1; n <= maxTries; n++ {
		var rec store.Record
		if rec, err = c.create(ctx, st, numbered(c.Record.Name, n)); !errors.Is(err, store.ErrExists) {
			return rec, err
		}
	}
	return store.Record{}, fmt.Errorf("find a free name for %q in %q: %w", c.Record.Name, c.Dir, err)
}

func (c Change) replace(ctx context.Context, st *store.Store) (store.Record, error) {
	if err := CheckPin(st, c.Dir); err != nil {
		return store.Record{}, err
	}
	head, ok, err := st.Record(c.Head)
	if err == nil && !ok {
		err = fmt.Errorf("version %q: %w", c.Head, store.ErrNotFound)
	}
	if err != nil {
		return store.Record{}, err
	}
	had, err := st.Content(head)
	if err != nil {
		return store.Record{}, err
	}
	rec, err := st.Replace(ctx, c.Dir, c.Head, c.Record, func(stage string) error { return c.Content.Write(stage, had) })
	if errors.Is(err, store.ErrConflict) {
		return store.Record{}, fmt.Errorf("%w: %w", ErrStale, err)
	}
	if err != nil {
		return store.Record{}, err
	}
	writeMeta(rec)
	return rec, nil
}

func (c Change) create(ctx context.Context, st *store.Store, name string) (store.Record, error) {
	content, err := renamed(c.Content, name)
	if err != nil {
		return store.Record{}, err
	}
	rec, err := st.Create(ctx, filepath.Join(c.Dir, name), c.Record, func(stage string) error { return content.Write(stage, nil) })
	if err != nil {
		return store.Record{}, err
	}
	writeMeta(rec)
	return rec, nil
}

// renamed gives the skill in a content another name.
func renamed(c store.Content, name string) (store.Content, error) {
	main := c[skill.FileName]
	if s, _ := skill.Parse(main.Data, ""); s != nil && s.Name == name {
		return c, nil
	}
	data, err := skill.SetField(main.Data, "name", name)
	if err != nil {
		return nil, fmt.Errorf("name the skill %q: %w", name, err)
	}
	out := store.Content{}
	for path, b := range c {
		out[path] = b
	}
	out[skill.FileName] = store.Blob{Data: data, Exec: main.Exec}
	return out, nil
}

// maxName is the length of a name, in characters.
const maxName = 50

// numbered returns the n-th name that is tried for a folder. The name gives way, never its number: a name cut at its end would be that of
// another skill.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	end := "-" + strconv.Itoa(n)
	for utf8.RuneCountInString(name) > maxName-len(end) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return skill.SanitizeName(name + end)
}

// meta is .upload_meta.json: what an upload says about the version, and which version that is.
type meta struct {
	Origin         string   `json:"origin"`
	ParentSkillIDs []string `json:"parent_skill_ids"`
	ChangeSummary  string   `json:"change_summary"`
	CreatedBy      string   `json:"created_by"`
	Tags           []string `json:"tags"`
	SkillID        string   `json:"skill_id"`
}

// writeMeta notes for an upload what the folder's version is. The change is made by then, and without the note an upload asks the store, so
// that it could not be written is no error.
func writeMeta(rec store.Record) {
	m := meta{rec.Lineage.Origin, rec.Lineage.ParentSkillIDs, rec.Lineage.ChangeSummary, rec.Lineage.CreatedBy, rec.Tags, rec.SkillID}
	if m.CreatedBy == "" {
		m.CreatedBy = "openspace"
	}
	for _, l := range []*[]string{&m.ParentSkillIDs, &m.Tags} {
		if *l == nil {
			*l = []string{}
		}
	}
	if data, err := json.MarshalIndent(m, "", "  "); err == nil {
		_ = atomicfile.Write(filepath.Join(rec.Dir(), skill.MetaFile), append(data, '\n'), 0o644)
	}
}
