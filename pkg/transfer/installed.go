package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// installed knows which skills of registries lie below a root.
type installed struct {
	root    string
	origins origins

	mu    sync.Mutex
	dirs  map[string]string // id → folder; nil until the root was listed
	names map[string]bool   // that are promised to imports under way
}

// find returns the folder below the root that has a registry's skill; "" when none has. A folder that the
// store knows is believed first; the root is listed once.
func (in *installed) find(id string) (string, error) {
	if dir, err := in.byStore(id); dir != "" || err != nil {
		return dir, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.dirs == nil {
		if err := in.list(); err != nil {
			return "", err
		}
	}
	return in.dirs[id], nil
}

func (in *installed) byStore(id string) (string, error) {
	rec, ok, err := in.origins.store.Record(id)
	if err != nil || !ok {
		return "", err
	}
	dir := rec.Dir()
	if rel, err := filepath.Rel(in.root, dir); err != nil || !filepath.IsLocal(rel) || !holdsSkill(dir) {
		return "", nil
	}
	ids, err := in.origins.chain(dir)
	if err != nil || !slices.Contains(ids, id) {
		return "", err
	}
	return dir, nil
}

func holdsSkill(dir string) bool {
	file, _ := skill.Find(dir)
	return file != ""
}

// list reads the ids of all folders of the root.
func (in *installed) list() error {
	in.dirs = map[string]string{}
	entries, err := os.ReadDir(in.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(in.root, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		id, _ := skill.ReadID(dir)
		if id == "" || !holdsSkill(dir) {
			continue
		}
		ids := []string{id}
		if in.origins.isLocal(id) {
			if ids, err = in.origins.chain(dir); err != nil {
				return err
			}
		}
		for _, id := range ids {
			in.dirs[id] = dir
		}
	}
	return nil
}

// add remembers a folder that was put in place.
func (in *installed) add(id, dir string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.dirs != nil {
		in.dirs[id] = dir
	}
}

// replace remembers that a folder has another version now.
func (in *installed) replace(before, id, dir string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.dirs != nil {
		delete(in.dirs, before)
		in.dirs[id] = dir
	}
}

// place chooses a free folder for a skill and keeps it for the caller, who gives it back with release when
// nothing comes of it.
func (in *installed) place(name, id string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	choice := folderNames(name, id)
	for _, candidate := range choice {
		dir := filepath.Join(in.root, candidate)
		_, err := os.Lstat(dir)
		key := skill.NameKey(candidate)
		switch {
		case err == nil || in.names[key]:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		in.names[key] = true
		return dir, nil
	}
	return "", wire.Errorf(wire.Exists, "folder %q is taken by another skill", filepath.Join(in.root, choice[len(choice)-1]))
}

// folderNames are the names that the folder of a skill may have, the usual one first.
func folderNames(name, id string) []string {
	base := folderName(name, id)
	return []string{base, base + "-" + idTail(id)}
}

// came returns the folder of a skill that was put in place by another process a moment ago; "" when there is none. Such a folder has one of the
// names that this process would choose.
func (in *installed) came(name, id string) string {
	for _, candidate := range folderNames(name, id) {
		dir := filepath.Join(in.root, candidate)
		if have, _ := skill.ReadID(dir); have == id && holdsSkill(dir) {
			return dir
		}
	}
	return ""
}

func (in *installed) release(dir string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.names, skill.NameKey(filepath.Base(dir)))
}

// maxFolderName leaves room for the digits behind a name that is taken.
const maxFolderName = 100

// folderName makes a plain folder name of a skill's name, else of its id.
func folderName(name, id string) string {
	if strings.TrimSpace(name) == "" {
		name = id
	}
	clean, err := api.CleanPath(name)
	plain := err == nil && clean == name && !strings.Contains(name, "/") && len(name) <= maxFolderName
	if plain && name[0] != '.' && name[0] != '-' && strings.TrimSpace(name) == name {
		return name
	}
	return skill.SanitizeName(name)
}
