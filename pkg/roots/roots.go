// Package roots finds skills on disk: which folders are skill roots, and which skill folders a root holds.
//
// It owns the rules of discovery (docs/roots.md): group folders, links, what is never entered, caps, and the stamps
// by which a later run notices that something has changed. It does not read skill files and knows no names, except for
// [Shadows], which decides between names that others have read.
//
// Guarantees: nothing is ever created or changed in a root; the same tree gives the same result each time, whatever
// the number of processors; one bad entry becomes a problem and never hides its neighbours. All functions may be
// called at once from several goroutines.
package roots

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// Problem codes of this package; docs/roots.md says what each means.
const (
	CodeRootMissing    = "root-missing"
	CodeRootNotFolder  = "root-not-folder"
	CodeLinkDangling   = "link-dangling"
	CodeLinkOutside    = "link-outside"
	CodeUnreadable     = "unreadable"
	CodeFileCase       = "skill-file-case"
	CodeFileType       = "skill-file-type"
	CodePathNotUTF8    = "path-not-utf8"
	CodeTooDeep        = "too-deep"
	CodeTooManyFolders = "too-many-folders"
	CodeNoSkillFile    = "no-skill-file"
)

// Where a root came from.
const (
	FromFlag   = "flag"
	FromEnv    = "env"
	FromConfig = "config"
	FromHome   = "home"
)

// Root is a folder that holds skills.
type Root struct {
	Dir    string // absolute and clean; links in it are kept as they were given
	Origin string // FromFlag, FromEnv, FromConfig or FromHome
}

// Resolve gives the roots in their order: the flag's alone when there are any; otherwise those of the environment, of
// the config file, and home/skills (home is the data folder of the suite, "" for none). A folder that is reached twice
// counts once, at its first place. What cannot be a root is left out and reported.
func Resolve(flag, env, config []string, home string) ([]Root, []skill.Diagnostic) {
	var r resolver
	if r.addAll(flag, FromFlag); r.given > 0 {
		return r.roots, r.problems
	}
	r.addAll(env, FromEnv)
	r.addAll(config, FromConfig)
	if home != "" {
		r.add(filepath.Join(home, "skills"), FromHome)
	}
	return r.roots, r.problems
}

type resolver struct {
	roots    []Root
	infos    []fs.FileInfo
	problems []skill.Diagnostic
	given    int // entries that were not blank
}

func (r *resolver) addAll(dirs []string, origin string) {
	for _, dir := range dirs {
		if dir = strings.TrimSpace(dir); dir != "" {
			r.given++
			r.add(dir, origin)
		}
	}
}

func (r *resolver) add(dir, origin string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil && origin == FromHome && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return
	case err != nil:
		r.problems = append(r.problems, rootProblem(dir, err))
		return
	case !info.IsDir():
		r.problems = append(r.problems, notFolder(dir))
		return
	}
	for _, other := range r.infos {
		if os.SameFile(info, other) {
			return
		}
	}
	r.infos = append(r.infos, info)
	r.roots = append(r.roots, Root{Dir: dir, Origin: origin})
}

func rootProblem(dir string, err error) skill.Diagnostic {
	if errors.Is(err, fs.ErrNotExist) {
		return warning(CodeRootMissing, dir, "the skill root does not exist", "create it, or take it out of the list of skill roots")
	}
	return warning(CodeUnreadable, dir, "the skill root cannot be read: "+reason(err), "check its permissions")
}

func notFolder(dir string) skill.Diagnostic {
	return warning(CodeRootNotFolder, dir, "the skill root is not a folder", "name the folder that holds the skills")
}

func warning(code, path, message, hint string) skill.Diagnostic {
	return skill.Diagnostic{Code: code, Severity: "warning", Path: path, Message: message, Hint: hint}
}

// reason is what went wrong without the path, which a diagnostic carries in a field of its own.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
