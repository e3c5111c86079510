package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// target is what an ID, NAME or DIR stands for.
type target struct {
	id    string
	dir   string       // the skill folder; of a version the folder that its record names, which may be gone
	rec   store.Record // of id
	known bool         // the store has rec
	byID  bool         // it was named by the id of a version, and means that version
	entry *entry       // when it was found in the inventory
}

// old tells whether the target is a version that is not what its folder holds now.
func (t target) old() bool { return t.known && !t.rec.IsActive }

// lookup finds targets. All verbs use it, so that a word means the same everywhere.
type lookup struct {
	app *app
	env *cli.Env
	st  *store.Store
	inv *inventory // taken when the first name is looked up
}

// onTargets makes a verb of what is done to each target that is named.
func (a *app) onTargets(do func(ctx context.Context, l *lookup, in cli.Input, t target) error) func(context.Context, *cli.Env) error {
	return func(ctx context.Context, env *cli.Env) error {
		st, err := openStore(env)
		if err != nil {
			return err
		}
		defer st.Close()
		l := &lookup{app: a, env: env, st: st}
		return each(env.Inputs(readsRecords...), env.Out, func(in cli.Input) error {
			t, err := l.input(ctx, in)
			if err != nil {
				return err
			}
			return do(ctx, l, in, t)
		})
	}
}

// input finds what one input names. A record's skill_id is believed before its skill_dir when the store knows it: it may name
// an old version.
func (l *lookup) input(ctx context.Context, in cli.Input) (target, error) {
	if in.Data == nil {
		return l.word(ctx, in.Value)
	}
	var rec struct {
		SkillID  string `json:"skill_id"`
		SkillDir string `json:"skill_dir"`
	}
	if err := in.Decode(&rec); err != nil {
		return target{}, err
	}
	if rec.SkillID == "" && rec.SkillDir == "" {
		return target{}, wire.Errorf(wire.Invalid, "the record has neither skill_id nor skill_dir")
	}
	if t, ok, err := l.version(rec.SkillID); ok || err != nil {
		if err == nil && !t.old() && rec.SkillDir != "" {
			t.dir, t.byID = l.env.Abs(rec.SkillDir), in.Type == wire.TypeVersion
		}
		return t, err
	}
	if rec.SkillDir != "" {
		return l.folder(l.env.Abs(rec.SkillDir))
	}
	return l.word(ctx, rec.SkillID)
}

// word finds an id of the store, else a folder, else an id or a name in the skill roots.
func (l *lookup) word(ctx context.Context, word string) (target, error) {
	if word == "" {
		return target{}, wire.Errorf(wire.Usage, "empty name")
	}
	if t, ok, err := l.version(word); ok || err != nil {
		return t, err
	}
	isPath := strings.ContainsRune(word, filepath.Separator) || word == "." || word == ".."
	if dir, ok := l.existing(word); ok || isPath {
		return l.folder(dir)
	}
	if err := l.take(ctx); err != nil {
		return target{}, err
	}
	return l.named(word)
}

// version finds a record of the store.
func (l *lookup) version(id string) (target, bool, error) {
	if !skill.ValidID(id) {
		return target{}, false, nil
	}
	rec, ok, err := l.st.Record(id)
	return target{id: id, dir: rec.Dir(), rec: rec, known: ok, byID: true}, ok, err
}

// existing returns the skill folder at a path, if there is one.
func (l *lookup) existing(path string) (string, bool) {
	path = l.env.Abs(path)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	file, _ := skill.Find(path)
	return path, file != ""
}

// folder finds what lies in a folder. One that was emptied, or is gone, still counts when the store has a record of it.
func (l *lookup) folder(dir string) (target, error) {
	if rec, ok, err := l.st.HeadAt(dir); ok || err != nil {
		return target{id: rec.SkillID, dir: dir, rec: rec, known: ok}, err
	}
	s, found, err := skill.Load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && s == nil && gone(dir):
		return target{}, wire.Errorf(wire.NotFound, "no folder %q", dir)
	case err != nil:
		return target{}, err
	case s == nil:
		return target{}, wire.Errorf(wire.Invalid, "no usable skill in %q: %s", dir, reasons(found))
	}
	id, err := l.st.Identify(dir, s.Name)
	return target{id: id.ID, dir: dir, rec: id.Record, known: id.Known}, err
}

func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

func reasons(ds []skill.Diagnostic) string {
	var out []string
	for _, d := range ds {
		if d.Severity == skill.Error {
			out = append(out, d.Message)
		}
	}
	return strings.Join(out, "; ")
}

func (l *lookup) take(ctx context.Context) (err error) {
	if l.inv == nil {
		where, bad := l.app.roots(l.env)
		if l.inv, err = takeInventory(ctx, l.st, where); err == nil {
			l.inv.problems = append(bad, l.inv.problems...)
		}
	}
	return err
}

// named finds a skill of the roots by id, else by name. A shadowed skill has to be named by its id or folder.
func (l *lookup) named(word string) (target, error) {
	var found []*entry
	key := skill.NameKey(word)
	for _, e := range l.inv.entries {
		if e.identity.ID == word {
			return e.target(), nil
		}
		if e.shadow == nil && skill.NameKey(e.skill.Name) == key {
			found = append(found, e)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(e *entry) bool { return e.skill.Name != word }); len(exact) > 0 {
		found = exact
	}
	switch len(found) {
	case 1:
		return found[0].target(), nil
	case 0:
		return target{}, l.unknown(word)
	}
	return target{}, ambiguous(word, found)
}

func (e *entry) target() target {
	return target{id: e.identity.ID, dir: e.Dir, rec: e.identity.Record, known: e.identity.Known, entry: e}
}

func (l *lookup) unknown(word string) error {
	var names []string
	for _, e := range l.inv.entries {
		names = append(names, e.skill.Name)
	}
	err := wire.Errorf(wire.NotFound, "no skill %q", word)
	if near := settings.Nearest(word, names); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err.WithHint("openspace-skills list shows all")
}

func ambiguous(word string, found []*entry) error {
	var each []string
	for _, e := range found {
		each = append(each, fmt.Sprintf("%s (%s)", e.identity.ID, e.Dir))
	}
	return wire.Errorf(wire.Invalid, "%q is the name of %d skills: %s", word, len(found), strings.Join(each, ", ")).
		WithHint("name one by its id or its folder")
}
