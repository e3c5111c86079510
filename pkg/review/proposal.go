package review

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// Proposal is a change that waits for somebody's yes.
type Proposal struct {
	V  int    `json:"v"`
	ID string `json:"id"`

	Kind    Kind   `json:"kind"`
	Trigger string `json:"trigger"` // what asked for it: analysis, tool_degradation, metric_monitor, manual
	// SkillID is the head that a fix was made for; empty for a new folder.
	SkillID        string    `json:"skill_id,omitempty"`
	SkillDir       string    `json:"skill_dir"` // of a fix: the folder; else the folder that the new one is made in
	Name           string    `json:"name"`
	Description    string    `json:"description,omitempty"`
	ParentSkillIDs []string  `json:"parent_skill_ids,omitempty"`
	Direction      string    `json:"direction"`
	ChangeSummary  string    `json:"change_summary"`
	Category       string    `json:"category,omitempty"`
	Tools          []string  `json:"tool_dependencies,omitempty"`
	SourceTaskID   string    `json:"source_task_id,omitempty"`
	CreatedBy      string    `json:"created_by,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
	Exec           []string  `json:"exec,omitempty"` // the files that can be executed
	Warnings       []string  `json:"warnings,omitempty"`

	// Problem says why the proposal cannot be used; only List sets it.
	Problem string `json:"-"`

	home string
}

const (
	proposalVersion = 1
	infoFile        = "proposal.json"
	filesDir        = "files"
	maxInfo         = 1 << 20  // bytes of proposal.json
	maxFiles        = 64 << 20 // bytes of all files together
)

// folder is where proposals wait.
func folder(home string) string { return filepath.Join(home, "proposals") }

// Save keeps a change for later. Of p the fields about the change itself are filled from it.
func Save(home string, c Change, p Proposal) (Proposal, error) {
	p.V, p.home, p.ID = proposalVersion, home, strings.ReplaceAll(skill.NewID("p", "x"), "__x_", "")
	p.Kind, p.SkillDir, p.SkillID = c.Kind, c.Dir, c.Head
	p.ParentSkillIDs, p.Category, p.Tools = c.Record.Lineage.ParentSkillIDs, c.Record.Category, c.Record.ToolDependencies
	p.SourceTaskID, p.CreatedBy, p.ChangeSummary = c.Record.Lineage.SourceTaskID, c.Record.Lineage.CreatedBy, c.Record.Lineage.ChangeSummary
	if s, _ := skill.Parse(c.Content[skill.FileName].Data, ""); s != nil {
		p.Name, p.Description = cmp.Or(c.Record.Name, s.Name), s.Description
	}
	for name, b := range c.Content {
		if b.Exec {
			p.Exec = append(p.Exec, name)
		}
	}
	slices.Sort(p.Exec)
	if err := p.write(c.Content); err != nil {
		return Proposal{}, fmt.Errorf("keep a proposal for %q: %w", c.Dir, err)
	}
	return p, nil
}

// write makes the folder of a proposal: aside, and in place with one rename.
func (p Proposal) write(content store.Content) error {
	if err := os.MkdirAll(folder(p.home), 0o700); err != nil {
		return err
	}
	sweep(folder(p.home))
	tmp, err := os.MkdirTemp(folder(p.home), tmpPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(filepath.Join(tmp, filesDir), 0o700); err != nil {
		return err
	}
	if err := content.Write(filepath.Join(tmp, filesDir), nil); err != nil {
		return err
	}
	data, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = atomicfile.Write(filepath.Join(tmp, infoFile), append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(tmp, p.dir())
	}
	if err == nil {
		err = atomicfile.SyncDir(folder(p.home))
	}
	return err
}

// tmpPrefix begins the names of folders that are being made or removed.
const tmpPrefix = ".os-tmp-"

// sweep removes what others left in there that were killed: what nobody has changed for an hour.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), tmpPrefix) && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

func (p Proposal) dir() string { return filepath.Join(folder(p.home), p.ID) }

// List returns all proposals, oldest first. One that cannot be read has a Problem.
func List(home string) ([]Proposal, error) {
	entries, err := os.ReadDir(folder(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list proposals: %w", err)
	}
	var out []Proposal
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := Open(home, e.Name())
		if errors.Is(err, store.ErrNotFound) {
			continue // decided meanwhile
		}
		if err != nil {
			p = Proposal{ID: e.Name(), Problem: err.Error(), home: home}
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Proposal) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out, nil
}

// Open returns the proposal with that id.
func Open(home, id string) (Proposal, error) {
	p := Proposal{home: home}
	if !skill.ValidID(id) {
		return p, fmt.Errorf("proposal %q: %w", id, store.ErrNotFound)
	}
	path := filepath.Join(folder(home), id, infoFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return p, fmt.Errorf("proposal %q: %w", id, store.ErrNotFound)
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxInfo) {
		err = store.ErrCorrupt
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err == nil && json.Unmarshal(data, &p) != nil || p.ID != id && err == nil {
		err = store.ErrCorrupt
	}
	if err == nil && p.V > proposalVersion {
		err = fmt.Errorf("format %d, this program reads up to %d: %w", p.V, proposalVersion, store.ErrVersion)
	}
	if err != nil {
		return p, fmt.Errorf("read proposal %q: %w", id, err)
	}
	return p, nil
}

// Content returns the files of the version that is proposed.
func (p Proposal) Content() (store.Content, error) {
	content, size := store.Content{}, int64(0)
	root, err := os.OpenRoot(filepath.Join(p.dir(), filesDir))
	if err != nil {
		return nil, fmt.Errorf("read proposal %q: %w", p.ID, err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); !info.Mode().IsRegular() || size > maxFiles {
			return fmt.Errorf("%s: %w", name, store.ErrCorrupt)
		}
		data, err := root.ReadFile(name)
		content[name] = store.Blob{Data: data, Exec: slices.Contains(p.Exec, name)}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read proposal %q: %w", p.ID, err)
	}
	return content, nil
}

// Diff returns what the proposal would change: beside the version that it was made for, or beside its only parent, else all as added.
func (p Proposal) Diff(st *store.Store) ([]store.FileDiff, error) {
	content, err := p.Content()
	if err != nil {
		return nil, err
	}
	from := p.SkillID
	if from == "" && len(p.ParentSkillIDs) == 1 {
		from = p.ParentSkillIDs[0]
	}
	before, err := st.VersionSide(from)
	if err != nil {
		return nil, err
	}
	return store.Compare(before, content.Side())
}

// newID is the id of the skill that a proposal becomes.
func newID(name, proposal string) string {
	id := skill.NewID(name, "v0")
	return id[:strings.LastIndex(id, "_")+1] + strings.TrimPrefix(proposal, "p")
}

// change returns the proposal as what can be put in place.
func (p Proposal) change() (Change, error) {
	content, err := p.Content()
	id := "" // of a new folder: the same however often it is put in place
	if p.Kind != Fix {
		id = newID(p.Name, p.ID)
	}
	return Change{Kind: p.Kind, Dir: p.SkillDir, Head: p.SkillID, Content: content, Record: store.Record{
		SkillID: id, Name: p.Name, Category: p.Category, ToolDependencies: p.Tools,
		Lineage: store.Lineage{
			Origin: map[Kind]string{Derived: store.OriginDerived, Captured: store.OriginCaptured}[p.Kind], ParentSkillIDs: p.ParentSkillIDs,
			SourceTaskID: p.SourceTaskID, ChangeSummary: p.ChangeSummary, CreatedBy: p.CreatedBy,
		},
	}}, err
}
