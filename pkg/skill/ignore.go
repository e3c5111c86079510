package skill

import (
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/ignore"
)

const maxIgnoreFile = 1 << 20

// readIgnore adds the rules of an ignore file, if there is one, to a set.
func readIgnore(set ignore.Set, base, file string) ignore.Set {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return set
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return set
	}
	return set.With(base, string(data))
}

// enclosingIgnores reads what the git repository around a skill folder says, from
// the repository's root down to the folder above root. When it ignores the whole
// skill folder it says nothing about what belongs to the skill: then it is empty.
func enclosingIgnores(root string) ignore.Set {
	above := repositoryAbove(root)
	if above == nil {
		return ignore.Set{}
	}
	top := above[0]
	set := readIgnore(ignore.Set{}, top, filepath.Join(top, ".git", "info", "exclude"))
	for i, dir := range above {
		set = readIgnore(set, dir, filepath.Join(dir, ".gitignore"))
		child := root
		if i+1 < len(above) {
			child = above[i+1]
		}
		if set.Ignored(child, true) {
			return ignore.Set{}
		}
	}
	return set
}

// repositoryAbove lists the folders from the root of the enclosing repository to
// the parent of root; nil when there is none, or when root is a repository.
func repositoryAbove(root string) []string {
	if hasGit(root) {
		return nil
	}
	var dirs []string
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
		if hasGit(dir) {
			return dirs
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func hasGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
