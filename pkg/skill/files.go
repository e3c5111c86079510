package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/ignore"
)

const (
	maxDepth = 32
	maxFiles = 20_000
)

// File is one file that belongs to a skill.
type File struct {
	Path string      // slash path below the skill folder
	Size int64       // bytes
	Mode fs.FileMode // 0o755 when anybody may execute the file, else 0o644
}

// LeftOut is something in the folder that does not belong to the skill. A folder
// stands for all that is in it; its path ends in a slash.
type LeftOut struct {
	Path   string // slash path below the skill folder
	Reason string // one of the Reason constants
}

// Files lists what belongs to the skill in a folder, sorted by path, and what was
// left out. Links are followed when their target lies inside the folder and
// belongs itself. The skill file belongs whatever an ignore file says. Nothing
// is opened but ignore files. The error is about the folder itself.
func Files(dir string) ([]File, []LeftOut, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list skill files: %w", err)
	}
	w := &walker{root: root}
	if err := w.dir("", root, scope{git: enclosingIgnores(root)}, []string{root}); err != nil {
		return nil, nil, fmt.Errorf("list skill files: %w", err)
	}
	sort.Slice(w.files, func(i, j int) bool { return w.files[i].Path < w.files[j].Path })
	sort.Slice(w.left, func(i, j int) bool { return w.left[i].Path < w.left[j].Path })
	return w.files, w.left, nil
}

type walker struct {
	root  string // canonical
	files []File
	left  []LeftOut
	dirs  int  // folders listed
	full  bool // the bound on files was met and reported
}

func (w *walker) leave(rel string, dir bool, reason string) {
	if dir {
		rel += "/"
	}
	w.left = append(w.left, LeftOut{rel, reason})
}

// dir lists one folder. rel is its slash path below the root ("" for the root),
// path where it is read, chain the canonical folders that lead to it.
func (w *walker) dir(rel, path string, s scope, chain []string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	w.dirs++
	at := filepath.Join(w.root, filepath.FromSlash(rel))
	s.git = readIgnore(s.git, at, filepath.Join(path, ".gitignore"))
	s.own = readIgnore(s.own, at, filepath.Join(path, IgnoreFile))
	for _, e := range entries {
		w.entry(e, rel, path, s, chain)
	}
	return nil
}

// scope holds the ignore rules in force in one folder: git's, and our own.
type scope struct{ git, own ignore.Set }

func (w *walker) entry(e fs.DirEntry, rel, path string, s scope, chain []string) {
	name := e.Name()
	sub := name
	if rel != "" {
		sub = rel + "/" + name
	}
	if !utf8.ValidString(name) {
		w.leave(strings.Trim(strconv.QuoteToASCII(sub), `"`), e.IsDir(), ReasonName)
		return
	}
	if reason := w.unwanted(e, sub, s); reason != "" {
		w.leave(sub, e.IsDir(), reason)
		return
	}
	full := filepath.Join(path, name)
	switch {
	case e.IsDir():
		w.enter(sub, full, s, chain)
	case e.Type()&fs.ModeSymlink != 0:
		w.link(sub, full, s, chain)
	default:
		info, err := e.Info()
		w.file(sub, info, err)
	}
}

func (w *walker) unwanted(e fs.DirEntry, sub string, s scope) string {
	if reason := excluded(e.Name(), e.IsDir()); reason != "" {
		return reason
	}
	if sub == FileName || sub == altFileName {
		return ""
	}
	path := filepath.Join(w.root, filepath.FromSlash(sub))
	switch {
	case s.own.Ignored(path, e.IsDir()):
		return ReasonSkillIgnored
	case s.git.Ignored(path, e.IsDir()):
		return ReasonGitIgnored
	}
	return ""
}

func (w *walker) enter(sub, full string, s scope, chain []string) {
	switch {
	case len(chain) > maxDepth:
		w.leave(sub, true, ReasonTooDeep)
		return
	case w.dirs >= maxFiles: // links between folders can multiply without any file
		w.leave(sub, true, ReasonTooMany)
		return
	}
	if w.dir(sub, full, s, append(chain[:len(chain):len(chain)], full)) != nil {
		w.leave(sub, true, ReasonUnreadable)
	}
}

func (w *walker) file(sub string, info fs.FileInfo, err error) {
	switch {
	case err != nil:
		w.leave(sub, false, ReasonUnreadable)
	case !info.Mode().IsRegular():
		w.leave(sub, false, ReasonSpecial)
	case len(w.files) >= maxFiles:
		if !w.full {
			w.full = true
			w.leave(sub, false, ReasonTooMany)
		}
	default:
		mode := fs.FileMode(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		w.files = append(w.files, File{sub, info.Size(), mode})
	}
}

// link follows a link whose target lies in the folder and belongs to the skill.
func (w *walker) link(sub, full string, s scope, chain []string) {
	target, err := filepath.EvalSymlinks(full)
	if err != nil {
		reason := ReasonLinkDangling
		if errors.Is(err, fs.ErrPermission) {
			reason = ReasonUnreadable
		}
		w.leave(sub, false, reason)
		return
	}
	info, err := os.Lstat(target)
	if err != nil {
		w.leave(sub, false, ReasonLinkDangling)
		return
	}
	if reason := w.targetReason(target, info.IsDir()); reason != "" {
		w.leave(sub, false, reason)
		return
	}
	if !info.IsDir() {
		w.file(sub, info, nil)
		return
	}
	if slices.Contains(chain, target) {
		w.leave(sub, false, ReasonLinkLoop)
		return
	}
	w.enter(sub, target, s, chain)
}

// targetReason says why the target of a link does not belong.
func (w *walker) targetReason(target string, dir bool) string {
	rel, err := filepath.Rel(w.root, target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ReasonLinkOutside
	}
	if rel == "." {
		return ""
	}
	parts := strings.Split(rel, string(filepath.Separator))
	for i, name := range parts {
		if reason := excluded(name, dir || i < len(parts)-1); reason != "" {
			return reason
		}
	}
	return ""
}
