package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) show() *cli.Command {
	var body bool
	return &cli.Command{
		Name: "show", Short: "show all that is known of a skill or a version", Args: "ID|NAME|DIR…", Stdin: "ids, names or folders, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&body, "body", false, "show the instructions too")
		},
		Run: a.onTargets(func(_ context.Context, l *lookup, in cli.Input, t target) error {
			rec, err := l.full(t, body)
			if err != nil {
				return err
			}
			rec.ID = in.ID
			return l.env.Out.Emit(rec)
		}),
	}
}

// full is a skill record with all that is known.
type full struct {
	wire.Skill
	Active      bool            `json:"active,omitempty"` // what its folder holds, as far as the store knows
	Status      string          `json:"status,omitempty"` // of the folder: clean, dirty, missing or unregistered
	Pinned      bool            `json:"pinned,omitempty"` // runs do not change it
	PinReason   string          `json:"pin_reason,omitempty"`
	Frontmatter map[string]any  `json:"frontmatter,omitempty"`
	Files       []wire.File     `json:"files,omitempty"`
	LeftOut     []wire.File     `json:"left_out,omitempty"`
	Counters    *store.Counters `json:"counters,omitempty"`
	Lineage     *store.Lineage  `json:"lineage,omitempty"`
}

// Typed returns a copy with its type set.
func (f full) Typed() wire.Record {
	f.Skill = f.Skill.Typed().(wire.Skill)
	f.Files, f.LeftOut = typedFiles(f.Files), typedFiles(f.LeftOut)
	return f
}

func typedFiles(in []wire.File) (out []wire.File) {
	for _, file := range in {
		out = append(out, file.Typed().(wire.File))
	}
	return out
}

// full collects what the folder and the store say of a target.
func (l *lookup) full(t target, body bool) (full, error) {
	rec := full{Active: !t.old()}
	var s *skill.Skill
	var err error
	if t.old() {
		s, err = l.fromStore(t, &rec)
	} else {
		s, err = l.fromDisk(t, &rec)
	}
	if err != nil {
		return rec, err
	}
	if body {
		rec.Body = string(s.Body)
	}
	rec.Frontmatter = frontmatter(s)
	rec.SkillID, rec.SkillDir = t.id, t.dir
	rec.PinReason, rec.Pinned, err = review.Pinned(l.st, t.dir)
	if err != nil || !t.known {
		return rec, err
	}
	rec.Origin, rec.Generation = t.rec.Lineage.Origin, t.rec.Lineage.Generation
	n, err := l.st.Counters(t.id)
	rec.Counters, rec.Quality, rec.Lineage = &n, quality(n), &t.rec.Lineage
	return rec, err
}

// fromDisk reads the folder of a target.
func (l *lookup) fromDisk(t target, rec *full) (*skill.Skill, error) {
	s, found, err := skill.Load(t.dir)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, wire.Errorf(wire.Invalid, "no usable skill in %q: %s", t.dir, reasons(found))
	}
	rec.Skill = describe(s)
	file, _ := skill.Find(t.dir)
	rec.Path, rec.Root = file, l.rootOf(t)
	if t.entry != nil && t.entry.shadow != nil {
		rec.ShadowedBy = t.entry.shadow.Dir
	}
	rec.Problems = problems(append(found, inside(t.dir)...), "")
	status, err := l.st.Status(t.dir)
	if err != nil {
		return nil, err
	}
	rec.Status = string(status)
	return s, listFiles(t.dir, rec)
}

// rootOf returns the skill root that a folder lies in, if it lies in one.
func (l *lookup) rootOf(t target) string {
	if t.entry != nil {
		return t.entry.root.Dir
	}
	where, _ := l.app.roots(l.env)
	for _, r := range where {
		if inRoot(r, t.dir) {
			return r.Dir
		}
	}
	return ""
}

func inRoot(r roots.Root, dir string) bool {
	rel, err := filepath.Rel(r.Dir, dir)
	return err == nil && filepath.IsLocal(rel)
}

func listFiles(dir string, rec *full) error {
	files, left, err := skill.Files(dir)
	for _, f := range files {
		rec.Files = append(rec.Files, wire.File{Path: f.Path, SizeBytes: f.Size, Mode: fmt.Sprintf("%04o", f.Mode)})
	}
	for _, f := range left {
		rec.LeftOut = append(rec.LeftOut, wire.File{Path: f.Path, LeftOut: f.Reason})
	}
	return err
}

// fromStore reads an old version from the store.
func (l *lookup) fromStore(t target, rec *full) (*skill.Skill, error) {
	files, err := l.st.TreeFiles(t.rec.Lineage.Tree)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(t.rec.Path)
	var s *skill.Skill
	for _, f := range files {
		rec.Files = append(rec.Files, wire.File{Path: f.Path, SizeBytes: f.Size, Mode: f.Mode, SHA256: f.SHA256})
		if f.Path != base {
			continue
		}
		data, err := l.st.ReadObject(f.SHA256)
		if err != nil {
			return nil, err
		}
		s, _ = skill.Parse(data, filepath.Base(t.dir))
	}
	if s == nil {
		return nil, wire.Errorf(wire.Corrupt, "version %q has no usable %s", t.id, base)
	}
	rec.Skill = describe(s)
	rec.Path = t.rec.Path
	return s, nil
}

// frontmatter returns the top-level keys. A key without a value is an empty text, because records know no null.
func frontmatter(s *skill.Skill) map[string]any {
	if len(s.Fields) == 0 {
		return nil
	}
	out := make(map[string]any, len(s.Fields))
	for _, f := range s.Fields {
		out[f.Key] = withoutNull(f.Value)
	}
	return out
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNull(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = withoutNull(v[key])
		}
		return out
	}
	return v
}

// Columns is nil: the record is text for people, never a row.
func (full) Columns() []string { return nil }

// Text is the record for people.
func (f full) Text() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name+":", strings.Join(strings.Fields(value), " "))
		}
	}
	line("name", f.Name)
	line("id", f.SkillID)
	line("folder", f.SkillDir)
	line("description", f.Description)
	line("tags", strings.Join(f.Tags, ", "))
	line("license", f.License)
	line("version", f.Version)
	line("author", f.Author)
	line("homepage", f.Homepage)
	line("compatibility", f.Compatibility)
	if f.AllowedTools != nil {
		line("allowed tools", "["+strings.Join(*f.AllowedTools, ", ")+"]")
	}
	line("shadowed by", f.ShadowedBy)
	line("status", f.Status)
	if f.Pinned {
		line("pinned", cmp.Or(f.PinReason, "yes"))
	}
	f.history(line)
	for _, p := range f.Problems {
		line("problem", fmt.Sprintf("%s: %s [%s]", p.Severity, p.Message, p.Code))
	}
	for _, file := range f.Files {
		line("file", fmt.Sprintf("%s %d %s", file.Mode, file.SizeBytes, file.Path))
	}
	for _, file := range f.LeftOut {
		line("left out", file.Path+" ("+file.LeftOut+")")
	}
	if f.Body != "" {
		b.WriteString("\n" + f.Body)
	}
	return b.String()
}

func (f full) history(line func(name, value string)) {
	if f.Lineage == nil {
		return
	}
	line("origin", fmt.Sprintf("%s, generation %d", f.Lineage.Origin, f.Lineage.Generation))
	line("parents", strings.Join(f.Lineage.ParentSkillIDs, ", "))
	line("change", f.Lineage.ChangeSummary)
	if n := f.Counters; n != nil && n.Selections > 0 {
		line("used", fmt.Sprintf("selected %d times, applied %d, completed %d, fallbacks %d", n.Selections, n.Applied, n.Completions, n.Fallbacks))
	}
}
