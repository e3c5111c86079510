package evolve

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// mounts is a file system made of folders, each below a name. Nothing outside of the folders is reached, through no link either.
type mounts map[string]*os.Root

// mount adds a folder; one that is not there is left out.
func (m mounts) mount(name, dir string) {
	if m[name] != nil || dir == "" || !fs.ValidPath(name) || strings.Contains(name, "/") {
		return
	}
	if root, err := os.OpenRoot(dir); err == nil {
		m[name] = root
	}
}

func (m mounts) close() {
	for _, root := range m {
		root.Close()
	}
}

func (m mounts) names() []string { return slices.Sorted(maps.Keys(m)) }

// Open opens a file of one of the folders.
func (m mounts) Open(name string) (fs.File, error) {
	top, rest, _ := strings.Cut(name, "/")
	root, ok := m[top]
	if !ok || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if rest == "" {
		rest = "."
	}
	return root.FS().Open(rest)
}
