package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) list() *cli.Command {
	var all bool
	return &cli.Command{
		Name: "list", Short: "list skills, and every folder that was passed over and why", Args: "[DIR…]",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&all, "all", false, "list shadowed skills too, with shadowed_by")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			return a.withInventory(ctx, env, func(st *store.Store, inv *inventory) error { return listAll(env, st, inv, all) })
		},
	}
}

// withInventory hands over what the folders that are arguments hold, or else the skill roots, and tells at the end what was
// passed over.
func (a *app) withInventory(ctx context.Context, env *cli.Env, do func(*store.Store, *inventory) error) error {
	st, err := openStore(env)
	if err != nil {
		return err
	}
	defer st.Close()
	where, bad := a.roots(env)
	if len(env.Args) > 0 {
		where, bad = argumentRoots(env)
	}
	inv, err := takeInventory(ctx, st, where)
	if err != nil {
		return fault.Of(err)
	}
	if err := do(st, inv); err != nil {
		return err
	}
	return reportAll(env, append(bad, inv.problems...))
}

func listAll(env *cli.Env, st *store.Store, inv *inventory, all bool) error {
	w := &warner{env: env, more: map[string]int{}}
	for _, e := range inv.entries {
		if e.shadow != nil && !all {
			continue
		}
		if err := listEntry(env, st, e, w); err != nil {
			return err
		}
	}
	w.end()
	return nil
}

// argumentRoots takes the arguments, or the lines of stdin for "-", as roots.
func argumentRoots(env *cli.Env) ([]roots.Root, []skill.Diagnostic) {
	var dirs []string
	each(env.Inputs(readsRecords...), env.Out, func(in cli.Input) error {
		dir, err := folderOf(env, in)
		if err == nil {
			dirs = append(dirs, dir)
		}
		return err
	})
	if len(dirs) == 0 {
		return nil, nil // not the usual places: those were not asked for
	}
	return roots.Resolve(dirs, nil, nil, "")
}

// folderOf returns the folder that an input names: a path of it or of its skill file, or a record's skill_dir.
func folderOf(env *cli.Env, in cli.Input) (string, error) {
	dir := in.Value
	if in.Data != nil {
		var rec struct {
			SkillDir string `json:"skill_dir"`
		}
		if err := in.Decode(&rec); err != nil {
			return "", err
		}
		dir = rec.SkillDir
	}
	if dir == "" {
		return "", wire.Errorf(wire.Usage, "no folder is named")
	}
	dir = env.Abs(dir)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fault.Of(err)
	case info.IsDir():
		return dir, nil
	case filepath.Base(dir) == skill.FileName || filepath.Base(dir) == "skill.md":
		return filepath.Dir(dir), nil
	}
	return "", wire.Errorf(wire.Invalid, "%q is not a folder", dir)
}

// listEntry writes one skill. Its problems are part of the record, and are told on stderr as well: otherwise nobody
// would see them who only takes the ids.
func listEntry(env *cli.Env, st *store.Store, e *entry, w *warner) error {
	e.problems = append(e.problems, inside(e.Dir)...)
	rec, err := skillRecord(st, e)
	if err != nil {
		return fault.Of(err)
	}
	for _, d := range e.problems {
		if d.Severity != skill.Info {
			w.warn(d)
		}
	}
	return env.Out.Emit(rec)
}

// maxWarned is how many problems of skills are told on stderr one by one.
const maxWarned = 20

// warner tells problems of skills on stderr: the first ones, and how many more there are.
type warner struct {
	env  *cli.Env
	told int
	more map[string]int // by code
}

func (w *warner) warn(d skill.Diagnostic) {
	if w.told == maxWarned {
		w.more[d.Code]++
		return
	}
	w.told++
	w.env.WarnOf(wire.NewProblem(d, ""))
}

// end tells what was not told one by one.
func (w *warner) end() {
	if len(w.more) == 0 {
		return
	}
	var counts []string
	for _, code := range slices.Sorted(maps.Keys(w.more)) {
		counts = append(counts, fmt.Sprintf("%s: %d", code, w.more[code]))
	}
	w.env.Warn("more problems of skills: %s; openspace-skills validate tells all", strings.Join(counts, ", "))
}

// inside tells what lies below a skill and is easily taken for a skill, or for a part of it.
func inside(dir string) (out []skill.Diagnostic) {
	files, left, err := skill.Files(dir)
	if err != nil {
		return []skill.Diagnostic{unreadable(dir, err)}
	}
	for _, f := range files {
		if base := path.Base(f.Path); f.Path != base && (base == skill.FileName || base == "skill.md") {
			out = append(out, skill.Diagnostic{
				Code: "nested-skill", Severity: skill.Warning, Path: filepath.Join(dir, filepath.FromSlash(f.Path)),
				Message: "this belongs to the skill above it and is not a skill of its own", Hint: "move the folder up beside the other",
			})
		}
	}
	for _, l := range left {
		if l.Reason == skill.ReasonLinkOutside {
			out = append(out, skill.Diagnostic{
				Code: l.Reason, Severity: skill.Warning, Path: filepath.Join(dir, filepath.FromSlash(l.Path)),
				Message: "the link leaves the skill, so what it leads to does not belong to it", Hint: "copy the target into the folder",
			})
		}
	}
	return out
}

// skillRecord returns what list says of a skill.
func skillRecord(st *store.Store, e *entry) (wire.Skill, error) {
	rec := describe(e.skill)
	rec.SkillID, rec.SkillDir, rec.Path, rec.Root = e.identity.ID, e.Dir, e.path(), e.root.Dir
	rec.Problems = problems(e.problems, "")
	if e.shadow != nil {
		rec.ShadowedBy = e.shadow.Dir
	}
	if !e.identity.Known {
		return rec, nil
	}
	rec.Origin, rec.Generation = e.identity.Record.Lineage.Origin, e.identity.Record.Lineage.Generation
	n, err := st.Counters(e.identity.ID)
	rec.Quality = quality(n)
	return rec, err
}

// describe returns what a skill file says of its skill.
func describe(s *skill.Skill) wire.Skill {
	rec := wire.Skill{
		Name: s.Name, Description: s.Description, Source: "openspace-local", License: s.License, Compatibility: s.Compatibility,
		Tags: s.Tags, Version: s.Version, Author: s.Author, Homepage: s.Homepage,
	}
	if s.AllowedTools != nil {
		rec.AllowedTools = &s.AllowedTools
	}
	return rec
}

// quality is nil for a skill that was never selected.
func quality(n store.Counters) *wire.Quality {
	if n.Selections == 0 {
		return nil
	}
	return &wire.Quality{TotalSelections: n.Selections, CompletionRate: n.CompletionRate(), EffectiveRate: n.EffectiveRate()}
}

// reportAll tells of folders that were passed over: as records, or on stderr, below the table, where people read.
func reportAll(env *cli.Env, ds []skill.Diagnostic) error {
	if err := env.Out.Flush(); err != nil {
		return err
	}
	for _, d := range ds {
		if forPeople(env.Out) {
			env.WarnOf(wire.NewProblem(d, ""))
			continue
		}
		if err := env.Out.Emit(problem(d, "")); err != nil {
			return err
		}
	}
	return nil
}
