package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

type validation struct {
	profile     *string
	strict      bool
	fix, dryRun bool
}

func (a *app) validate() *cli.Command {
	var v validation
	return &cli.Command{
		Name: "validate", Short: "check skills against the rules of a format, and mend them", Args: "DIR…", Stdin: "folders, one a line",
		Flags: v.flags, Run: v.run,
	}
}

func (v *validation) flags(fs *flag.FlagSet) {
	var among []string
	for _, p := range skill.Profiles() {
		among = append(among, string(p))
	}
	v.profile = cli.Choice(fs, "profile", "whose rules: `PROFILE` is "+strings.Join(among, ", "), among...)
	fs.BoolVar(&v.strict, "strict", false, "take warnings as errors; without --profile the rules are those of spec")
	fs.BoolVar(&v.fix, "fix", false, "mend what is safe to mend, then check")
	fs.BoolVar(&v.dryRun, "dry-run", false, "with --fix: show the change and write nothing")
}

func (v *validation) run(ctx context.Context, env *cli.Env) error {
	if v.dryRun && !v.fix {
		return wire.Errorf(wire.Usage, "--dry-run says something only with --fix")
	}
	profile := skill.Profile(*v.profile)
	if given, _ := env.Settings.Get("profile"); v.strict && given.Source == settings.Default {
		profile = skill.Spec
	}
	return each(env.Inputs(readsRecords...), env.Out, func(in cli.Input) error {
		dir, err := folderOf(env, in)
		if err != nil {
			return err
		}
		dirs, skipped, err := skillFolders(ctx, dir)
		if err != nil {
			return err
		}
		if len(skipped) > 0 {
			if err := v.report(env, in, dir, skipped); err != nil {
				return err
			}
		}
		for _, dir := range dirs {
			if err := v.check(env, in, dir, profile); err != nil {
				return err
			}
		}
		if len(dirs) == 0 {
			return wire.Errorf(wire.NotFound, "no skill in %q", dir)
		}
		return nil
	})
}

// skillFolders returns the folder itself when it is a skill (or looks like one), else the skills that it holds and what was
// passed over.
func skillFolders(ctx context.Context, dir string) ([]string, []skill.Diagnostic, error) {
	if file, _ := skill.Find(dir); file != "" {
		return []string{dir}, nil, nil
	}
	tree, err := roots.Walk(ctx, roots.Root{Dir: dir, Origin: roots.FromFlag})
	if err != nil {
		return nil, nil, err
	}
	var dirs []string
	for _, f := range tree.Folders {
		dirs = append(dirs, f.Dir)
	}
	return dirs, tree.Problems, nil
}

// check validates one skill folder. The verdict is a result, or an error in its place.
func (v *validation) check(env *cli.Env, in cli.Input, dir string, profile skill.Profile) error {
	if v.fix {
		if err := v.mend(env, in, dir); err != nil {
			return env.Out.Fail(aboutDir(in, dir, err))
		}
	}
	found, err := skill.Validate(dir, profile)
	if err != nil {
		return env.Out.Fail(aboutDir(in, dir, err))
	}
	return v.report(env, in, dir, found)
}

// report writes what was found about a folder and then the verdict.
func (v *validation) report(env *cli.Env, in cli.Input, dir string, found []skill.Diagnostic) error {
	count := map[skill.Severity]int{}
	for _, d := range found {
		count[d.Severity]++
		p := problem(d, dir)
		p.ID = in.ID
		if err := env.Out.Emit(p); err != nil {
			return err
		}
	}
	if count[skill.Error] > 0 || v.strict && count[skill.Warning] > 0 {
		err := wire.Errorf(wire.Invalid, "not valid: errors: %d, warnings: %d", count[skill.Error], count[skill.Warning])
		return env.Out.Fail(aboutDir(in, dir, err))
	}
	if file, _ := skill.Find(dir); file == "" || forPeople(env.Out) {
		return nil
	}
	return env.Out.Emit(wire.Result{ID: in.ID, Status: "valid", Action: "validate", SkillDir: dir})
}

// aboutDir returns err as an error about one folder of an input that may name many.
func aboutDir(in cli.Input, dir string, err error) *wire.Error {
	e := in.About(fault.Of(err))
	e.Input, e.Path = dir, dir
	return e
}

// mend writes the mended skill file back, or shows what would change.
func (v *validation) mend(env *cli.Env, in cli.Input, dir string) error {
	file, err := fileToMend(dir)
	if file == "" || err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, fixed := skill.Fix(data, skill.FolderName(dir))
	if string(out) == string(data) {
		return nil
	}
	if v.dryRun {
		rec := diffRecord(store.DiffFile(filepath.Base(file), data, out))
		rec.ID, rec.SkillDir, rec.From, rec.To = in.ID, dir, "disk", "fixed"
		return env.Out.Emit(rec)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(file, out, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write mended skill: %w", err)
	}
	var codes []string
	for _, d := range fixed {
		codes = append(codes, d.Code)
	}
	return env.Out.Emit(wire.Result{ID: in.ID, Status: "fixed", Action: "validate", SkillDir: dir, Path: file, Message: strings.Join(codes, ", "), Count: len(codes)})
}

// fileToMend returns the real skill file of a folder. A link is followed only inside the folder: what lies outside is not
// this skill's to change.
func fileToMend(dir string) (string, error) {
	file, _ := skill.Find(dir)
	if file == "" {
		return "", nil
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return "", wire.Errorf(wire.Unsafe, "%q is a link out of the folder and is not mended", file)
	}
	return real, nil
}
