package roots

import (
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// list reads a folder that is no skill (or is the root), and sorts its entries into folders, links and the rest.
func (w *walker) list(rel string, p *part) {
	fd, err := unix.Openat(w.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return // gone since its parent was listed
	}
	if err != nil {
		w.unreadable(rel, err, p)
		return
	}
	dir := os.NewFile(uintptr(fd), w.abs(rel))
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || !w.enter(idOf(&st)) {
		return
	}
	// The stamp is older than the listing: what comes in between changes the stamp that is seen next time.
	p.dirs = append(p.dirs, Dir{rel, stampOf(&st)})
	entries, err := dir.ReadDir(-1)
	if err != nil {
		w.problem(p, rel, CodeUnreadable, "the folder was read only in part: "+reason(err), "check the file system")
	}
	for _, e := range entries {
		w.entry(rel, e, p)
	}
}

// enter is true the first time that it is asked for a folder.
func (w *walker) enter(id fileID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.entered[id] {
		return false
	}
	w.entered[id] = true
	return true
}

func (w *walker) entry(parent string, e fs.DirEntry, p *part) {
	name := e.Name()
	isLink := e.Type()&fs.ModeSymlink != 0
	if strings.EqualFold(name, skill.FileName) && !e.IsDir() {
		w.oddSkillFile(parent, name, isLink, p)
		return
	}
	if !isLink && !e.IsDir() || skipped(name) {
		return
	}
	rel := below(parent, name)
	switch {
	case !utf8.ValidString(name):
		w.problem(p, rel, CodePathNotUTF8, "the folder's name is not UTF-8, so nothing could refer to it", "rename the folder")
	case depth(rel) > maxDepth:
		p.tooDeep = append(p.tooDeep, rel)
	case isLink:
		p.links = append(p.links, rel)
	default:
		p.down = append(p.down, rel)
	}
}

// oddSkillFile reports a file that looks like the skill file of a folder where none was found.
func (w *walker) oddSkillFile(parent, name string, isLink bool, p *part) {
	rel := below(parent, name)
	switch {
	case name != skill.FileName && name != lowerFile:
		w.problem(p, rel, CodeFileCase, "the file is called "+name+", so the folder is not seen as a skill", "rename it to "+skill.FileName)
	case isLink && w.stamp(rel) == (Stamp{}):
		w.problem(p, rel, CodeLinkDangling, "the link leads nowhere, so the folder is not seen as a skill", "mend or remove the link")
		p.dirs = append(p.dirs, Dir{rel, Stamp{}})
	}
}

func depth(rel string) int {
	if rel == "." {
		return 0
	}
	return strings.Count(rel, "/") + 1
}

// skipped tells whether a name is never entered.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".cache":
		return true
	}
	return strings.HasPrefix(name, ".os-")
}
