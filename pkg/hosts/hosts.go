package hosts

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/settings"
)

// Server is the name of the server in a host's configuration.
const Server = "openspace"

// toolTimeout is how many seconds a host shall wait for a tool where that can be said: tasks take minutes.
const toolTimeout = 1200

//go:embed skills
var skills embed.FS

// Skills returns the skills that are installed, by their paths: delegate-task/SKILL.md and
// skill-discovery/SKILL.md.
func Skills() fs.FS {
	sub, err := fs.Sub(skills, "skills")
	if err != nil {
		panic(err)
	}
	return sub
}

// Options say what is installed.
type Options struct {
	Host    string // one of settings.HostNames
	Place   settings.HostPlace
	Command string   // how the host starts the server: a path, or a name in $PATH
	Args    []string // of the server
	Environ []string // of the server, as NAME=value; what the entry has already stays
	Memo    string   // file in which Install keeps what Uninstall needs to give back what was there; empty: none
}

// Change is one file that is to be changed.
type Change struct {
	Path          string
	Before, After []byte // nil: there is no file
	Quiet         bool   // it is about our own book-keeping, and not for people
	dir           bool   // a folder that goes when nothing is in it
}

// ErrTargets is matched when a configuration is not a plain file that may be changed.
var ErrTargets = errors.New("not a plain file")

// Install plans what must change so that the host has the server and the skills. It is empty when all is there.
func Install(o Options) ([]Change, error) {
	config, err := read(o.Place.Config)
	if err != nil {
		return nil, err
	}
	after, err := o.set(config.Before)
	if err != nil {
		return nil, err
	}
	config.After = after
	changes := []Change{config}
	err = eachSkill(o, func(path string, data []byte) error {
		c, err := read(path)
		c.After = data
		changes = append(changes, c)
		return err
	})
	if changes = changed(changes); err != nil || len(changes) == 0 {
		return nil, err
	}
	old, note, err := o.remembered()
	if err != nil || o.Memo == "" {
		return changes, err
	}
	note.After = o.remember(old, config.Before, config.After, changes).encode()
	return append([]Change{note}, changes...), nil
}

// Uninstall plans how to undo Install. A skill that was changed since stays, and so does every other file
// beside it.
func Uninstall(o Options) ([]Change, error) {
	config, err := read(o.Place.Config)
	if err != nil {
		return nil, err
	}
	m, note, err := o.remembered()
	if err != nil {
		return nil, err
	}
	if config.After = config.Before; config.Before != nil {
		if config.After, err = o.before(config.Before, m); err != nil {
			return nil, err
		}
	}
	changes := []Change{config}
	err = eachSkill(o, func(path string, data []byte) error {
		c, err := read(path)
		if c.After = c.Before; bytes.Equal(c.Before, data) {
			c.After = nil
		}
		changes = append(changes, c)
		return err
	})
	if changes = changed(append(changes, note)); err != nil || m == nil {
		return changes, err
	}
	for _, dir := range slices.Backward(m.Dirs) {
		changes = append(changes, Change{Path: dir, Quiet: true, dir: true})
	}
	return changes, nil
}

func eachSkill(o Options, do func(path string, data []byte) error) error {
	return fs.WalkDir(Skills(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(Skills(), name)
		if err != nil {
			return err
		}
		return do(filepath.Join(o.Place.Skills, filepath.FromSlash(name)), data)
	})
}

// changed leaves out files that stay as they are.
func changed(all []Change) []Change {
	return slices.DeleteFunc(all, func(c Change) bool { return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil) })
}

// read reads a file that may be changed. One behind a link is taken where it is, so that the link stays.
func read(path string) (Change, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return Change{}, fmt.Errorf("%s: a link to nothing: %w", path, ErrTargets)
		}
		return Change{Path: path}, nil
	}
	if err != nil {
		return Change{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return Change{}, err
	}
	if !info.Mode().IsRegular() {
		return Change{}, fmt.Errorf("%s: %w", path, ErrTargets)
	}
	data, err := os.ReadFile(real)
	if data == nil {
		data = []byte{}
	}
	return Change{Path: real, Before: data}, err
}

// Apply writes the changes, each file whole or not at all. When a file is not as it was when the changes were
// planned, or may not be written to, nothing is touched.
func Apply(changes []Change) error {
	for _, c := range changes {
		if c.dir {
			continue
		}
		now, err := read(c.Path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now.Before, c.Before) || (now.Before == nil) != (c.Before == nil) {
			return fmt.Errorf("%s was changed by somebody else meanwhile: run it again", c.Path)
		}
		if info, err := os.Stat(c.Path); err == nil && info.Mode().Perm()&0o200 == 0 {
			return fmt.Errorf("%s is read-only: %w", c.Path, ErrTargets)
		}
	}
	for _, c := range changes {
		if err := c.apply(); err != nil {
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
	}
	return nil
}

func (c Change) apply() error {
	if c.dir {
		if info, err := os.Lstat(c.Path); err == nil && info.IsDir() {
			os.Remove(c.Path) // when nothing is in it
		}
		return nil
	}
	if c.After == nil {
		if err := os.Remove(c.Path); err != nil {
			return err
		}
		os.Remove(filepath.Dir(c.Path)) // when nothing else is in it
		return nil
	}
	mode := fs.FileMode(0o755)
	if c.Quiet {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), mode); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if filepath.Base(c.Path) != "SKILL.md" {
		perm = 0o600 // it may hold keys one day
	}
	return atomicfile.Write(c.Path, c.After, perm, atomicfile.KeepMode(), atomicfile.Tidy())
}

// set returns a configuration with the entry.
func (o Options) set(text []byte) (after []byte, err error) {
	if bad := o.check(text); bad != nil {
		return nil, bad
	}
	old, now := text, o.present(text)
	entry := o.entry(now)
	if foreign(now) {
		entry = o.entry(nil)
		if text, err = o.replace(text, entry); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Place.Config, err)
		}
	}
	if o.toml() {
		after = setTOML(text, o.heading(), entry.without("env"))
		if env, ok := entry.get("env").(ordered); ok && len(env) > 0 {
			after = setTOML(after, o.heading()+".env", env)
		}
	} else if o.present(text) == nil {
		after, err = setJSON(text, o.Place.Keys, Server, entry)
	} else {
		after, err = o.update(text, entry)
	}
	if err == nil {
		err = o.verify(after, entry)
	}
	if err == nil && !o.onlyEntry(old, after) {
		err = errSyntax
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be changed safely (%w); add this by hand at %s:\n%s", o.Place.Config, err, strings.Join(o.Place.Keys, "."),
			render(ordered{{Server, entry}}, "", "  ", "\n"))
	}
	return after, nil
}

// update gives the members of an entry that is there the values that they must have.
func (o Options) update(text []byte, entry ordered) (_ []byte, err error) {
	keys := append(slices.Clone(o.Place.Keys), Server)
	for _, m := range entry {
		now, _ := settings.DocumentValue(o.Place.Config, text, append(slices.Clone(keys), m.name)...)
		if env, ok := m.value.(ordered); ok {
			for _, v := range env {
				if text, err = setJSON(text, append(slices.Clone(keys), m.name), v.name, v.value); err != nil {
					return nil, err
				}
			}
			continue
		}
		if equalJSON(now, m.value) {
			continue
		}
		if text, err = setJSON(text, keys, m.name, m.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// present returns the entry that is there; nil: none.
func (o Options) present(text []byte) map[string]any {
	if blank(text) {
		return nil
	}
	v, _ := settings.DocumentValue(o.Place.Config, text, append(slices.Clone(o.Place.Keys), Server)...)
	entry, _ := v.(map[string]any)
	return entry
}

// verify demands that a changed configuration says what it is meant to.
func (o Options) verify(text []byte, entry ordered) error {
	if _, bad := settings.DocumentValue(o.Place.Config, text); bad != nil {
		return errors.New(bad.Message)
	}
	now := o.present(text)
	for _, m := range entry {
		if env, ok := m.value.(ordered); ok {
			inner, _ := now[m.name].(map[string]any)
			for _, v := range env {
				if !equalJSON(inner[v.name], v.value) {
					return errSyntax
				}
			}
			continue
		}
		if !equalJSON(now[m.name], m.value) {
			return errSyntax
		}
	}
	return nil
}

// onlyEntry reports whether two texts say the same but for the entry.
func (o Options) onlyEntry(before, after []byte) bool {
	rest := func(text []byte) any {
		if blank(text) {
			return map[string]any{}
		}
		doc, _ := settings.DocumentValue(o.Place.Config, text)
		return without(doc, append(slices.Clone(o.Place.Keys), Server))
	}
	return reflect.DeepEqual(rest(before), rest(after))
}

// without returns a document without what stands at keys, and without the objects on the way that are empty then.
func without(doc any, keys []string) any {
	object, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	res := maps.Clone(object)
	if res == nil {
		res = map[string]any{}
	}
	if inner, found := object[keys[0]]; found {
		if len(keys) == 1 {
			delete(res, keys[0])
		} else if res[keys[0]] = without(inner, keys[1:]); reflect.DeepEqual(res[keys[0]], map[string]any{}) {
			delete(res, keys[0])
		}
	}
	return res
}

func (o Options) toml() bool { return filepath.Ext(o.Place.Config) == ".toml" }
func (o Options) heading() string {
	return strings.Join(append(slices.Clone(o.Place.Keys), Server), ".")
}

// entry is what stands in the host's configuration. A time limit that somebody chose stays.
func (o Options) entry(now map[string]any) ordered {
	var e ordered
	add := func(name string, value any) {
		e = append(e, struct {
			name  string
			value any
		}{name, value})
	}
	if o.Host == "claude-code" || o.Host == "vscode" {
		add("type", "stdio")
	}
	add("command", o.Command)
	args := o.Args
	if args == nil {
		args = []string{}
	}
	add("args", args)
	limits := map[string]string{"codex": "tool_timeout_sec", "nanobot": "toolTimeout"}
	if limit, ok := limits[o.Host]; ok && now[limit] == nil {
		add(limit, toolTimeout)
	}
	var env ordered
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		env = append(env, named{name, value})
	}
	if len(env) > 0 {
		add("env", env)
	}
	return e
}

func (o ordered) without(name string) (res ordered) {
	for _, m := range o {
		if m.name != name {
			res = append(res, m)
		}
	}
	return res
}

func (o ordered) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
