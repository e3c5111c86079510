package evolve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
)

// Replayer runs commands of a run again, and tells how each ended.
type Replayer func(ctx context.Context, r Replay) ([]Replayed, error)

// Replay is what is run again: shell scripts, one after the other, in a copy of the workspace and with a copy of a skill.
type Replay struct {
	Scripts          []string
	Workspace, Skill string
}

// Replayed is how a command ended.
type Replayed struct {
	OK     bool
	Output string // of one that failed, with how it ended
}

// Limits of a replay.
const (
	maxReplayed    = 8 // commands
	maxCopiedFiles = 2000
	maxCopiedBytes = 64 << 20
)

// hidden stands in a recording in the place of a secret.
const hidden = "[secret]"

// replay runs the commands of the run that caused a change again, with the files as they were and with the new ones. What worked must still work.
func (w *work) replay(ctx context.Context, next store.Content, dir string) error {
	run, from := w.req.Run, w.source()
	if run == nil || run.Workspace == "" || from == "" || w.e.o.Replay == nil {
		return nil
	}
	scripts := run.scripts(run.spellings(from), altered(w.base, next))
	if len(scripts) == 0 {
		return nil
	}
	before, err := w.replayed(ctx, scripts, w.base, filepath.Join(dir, "run-before"))
	var after []Replayed
	if err == nil {
		after, err = w.replayed(ctx, scripts, next, filepath.Join(dir, "run-after"))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.e.o.Warn("the commands of task %s are not tried with the changed skill: %v", run.TaskID, err)
		return nil
	}
	for i, script := range scripts {
		if before[i].OK && !after[i].OK {
			return fmt.Errorf("a command of the run works with the files as they were, and not with yours:\n%s\n%s", clip(script, 1000), clip(after[i].Output, 2000))
		}
	}
	return nil
}

// source is the folder of the skill that the run used; "" when the change has none, or several.
func (w *work) source() string {
	switch {
	case w.head.Path != "":
		return w.head.Dir()
	case len(w.parents) == 1:
		return w.parents[0].Dir()
	}
	return ""
}

// altered lists the files beside SKILL.md and the checks that a new version has no more, or otherwise.
func altered(base, next store.Content) (names []string) {
	for _, name := range sortedNames(base) {
		b, still := next[name]
		if name != mainFile(base) && !isTest(name) && (!still || b.Exec != base[name].Exec || !bytes.Equal(b.Data, base[name].Data)) {
			names = append(names, name)
		}
	}
	return names
}

// spellings are how a command of the run may name a folder: absolute, or as seen from the workspace.
func (r *Run) spellings(folder string) []string {
	rel, err := filepath.Rel(r.Workspace, folder)
	if err != nil || !strings.ContainsRune(rel, filepath.Separator) {
		return []string{folder}
	}
	return []string{folder, rel}
}

// scripts are the commands of the run that name a skill's folder, in one of its spellings, and one of some files in it.
func (r *Run) scripts(folder, files []string) (out []string) {
	for _, s := range r.Steps {
		names := func(dir string) bool { return strings.Contains(s.Script, dir) }
		uses := func(file string) bool { return strings.Contains(s.Script, path.Base(file)) }
		if s.Phase != 1 || strings.Contains(s.Script, hidden) || !slices.ContainsFunc(folder, names) || !slices.ContainsFunc(files, uses) {
			continue
		}
		if out = append(out, s.Script); len(out) == maxReplayed {
			break
		}
	}
	return out
}

// replayed runs scripts with one version of the skill.
func (w *work) replayed(ctx context.Context, scripts []string, version store.Content, dir string) ([]Replayed, error) {
	skill, err := placed(version, filepath.Join(dir, "skill", filepath.Base(w.source())))
	if err != nil {
		return nil, err
	}
	workspace := filepath.Join(dir, "workspace")
	if err := copyFiles(w.req.Run.Workspace, workspace); err != nil {
		return nil, err
	}
	places := map[string]string{w.req.Run.Workspace: workspace}
	for _, name := range w.req.Run.spellings(w.source()) {
		places[name] = skill
	}
	moved := replacer(places)
	r := Replay{Workspace: workspace, Skill: skill}
	for _, s := range scripts {
		r.Scripts = append(r.Scripts, moved.Replace(s))
	}
	out, err := w.e.o.Replay(ctx, r)
	if err == nil && len(out) != len(scripts) {
		err = fmt.Errorf("%d of %d commands were run", len(out), len(scripts))
	}
	return out, err
}

// replacer puts places in the place of others. One may lie in another: the longest counts.
func replacer(places map[string]string) *strings.Replacer {
	var pairs []string
	for _, from := range slices.SortedFunc(maps.Keys(places), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, from, places[from])
	}
	return strings.NewReplacer(pairs...)
}

// errLarge: a workspace is not copied.
var errLarge = errors.New("the workspace is too large to be copied")

// copyFiles copies the folders and ordinary files of a folder into a new one.
func copyFiles(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	files, left := 0, int64(maxCopiedBytes)
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if files++; files > maxCopiedFiles {
			return errLarge
		}
		place := filepath.Join(to, filepath.FromSlash(name))
		switch {
		case e.IsDir():
			return os.MkdirAll(place, 0o700)
		case e.Type().IsRegular():
			n, err := copyFile(root, filepath.FromSlash(name), place, left)
			left -= n
			return err
		}
		return nil // links and others are not for a copy
	})
}

// copyFile copies a file of at most so many bytes, with its right to be executed.
func copyFile(root *os.Root, name, to string, most int64) (n int64, err error) {
	in, err := root.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return 0, errLarge
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, most))
	return n, errors.Join(err, out.Close())
}
