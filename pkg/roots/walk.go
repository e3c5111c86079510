package roots

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/openspace-dev/openspace/pkg/skill"
)

const (
	maxDepth   = 6       // levels of folders below a root
	maxFolders = 200_000 // folders that are looked at in one root
)

// Folder is a skill folder.
type Folder struct {
	Rel   string // slash path below the root; "." for a root that is a skill itself
	Dir   string // the root's Dir and Rel joined: the path as it was found, links included
	File  string // base name of the skill file
	Stamp Stamp  // of the skill file
}

// Dir is a folder (or a link that was not followed) whose stamp changes when skills may have come or gone there.
type Dir struct {
	Rel   string
	Stamp Stamp
}

// Tree is what one root holds. All three lists are sorted: by Rel, by Rel, and by Path and Code.
type Tree struct {
	Root     Root
	Folders  []Folder
	Dirs     []Dir
	Problems []skill.Diagnostic
}

// Walk finds the skills of one root by the rules of docs/roots.md. A root that is missing or cannot be read is a
// problem in an otherwise empty tree; the only error is that of ctx.
func Walk(ctx context.Context, root Root) (*Tree, error) {
	return walkLimited(ctx, root, maxFolders)
}

func walkLimited(ctx context.Context, root Root, limit int) (*Tree, error) {
	root.Dir = filepath.Clean(root.Dir)
	w := &walker{root: root, limit: limit, entered: map[fileID]bool{}}
	fd, err := unix.Open(root.Dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	switch {
	case err == unix.ENOTDIR:
		w.problems = append(w.problems, notFolder(root.Dir))
		return w.tree(), nil
	case err != nil:
		w.problems = append(w.problems, rootProblem(root.Dir, err))
		return w.tree(), nil
	}
	defer unix.Close(fd)
	w.fd = fd
	if err := w.descend(ctx, "."); err != nil {
		return nil, err
	}
	if err := w.followLinks(ctx); err != nil {
		return nil, err
	}
	w.reportTooDeep()
	w.reportEmpty()
	return w.tree(), nil
}

// walker holds the state of one walk. Its part is only touched between levels, by one goroutine.
type walker struct {
	part
	root   Root
	fd     int // of the root: every path is looked up below it
	looked int // folders looked at so far
	limit  int
	capped bool // the limit was reached, and that is reported

	mu      sync.Mutex
	entered map[fileID]bool // folders that have been listed

	byFile map[fileID][]int // skill file → places in folders; made when the first link is followed
}

// part is what one goroutine finds on one level.
type part struct {
	folders   []found
	dirs      []Dir
	problems  []skill.Diagnostic
	down      []string // folders of the next level
	links     []string // links to be followed at the end
	tooDeep   []string
	explained []string // paths that hold no skill for a reason which is known or reported
}

type found struct {
	Folder
	file fileID // of the skill file
}

func (p *part) merge(q *part) {
	p.folders = append(p.folders, q.folders...)
	p.dirs = append(p.dirs, q.dirs...)
	p.problems = append(p.problems, q.problems...)
	p.down = append(p.down, q.down...)
	p.links = append(p.links, q.links...)
	p.tooDeep = append(p.tooDeep, q.tooDeep...)
	p.explained = append(p.explained, q.explained...)
}

// descend looks at the folder rel and at what is below it, level by level.
func (w *walker) descend(ctx context.Context, rel string) error {
	for level := []string{rel}; len(level) > 0; {
		level = w.cut(level)
		parts, err := w.lookAll(ctx, level)
		if err != nil {
			return err
		}
		for i := range parts {
			w.merge(&parts[i])
		}
		level, w.down = w.down, nil
	}
	return nil
}

// cut enforces the cap on folders: the first paths in order stay, so that the result does not depend on the disk's order.
func (w *walker) cut(level []string) []string {
	if left := w.limit - w.looked; len(level) > left {
		slices.Sort(level)
		if !w.capped {
			w.explain(level[left], CodeTooManyFolders,
				fmt.Sprintf("the root holds more than %d folders; from here on they were not looked at", w.limit),
				"name smaller skill roots")
		}
		w.capped = true
		w.explained = append(w.explained, level[left:]...)
		level = level[:left]
	}
	w.looked += len(level)
	return level
}

// lookAll shares the folders of a level out to all processors, in blocks, because one folder may cost much more than another.
func (w *walker) lookAll(ctx context.Context, level []string) ([]part, error) {
	const block = 128
	workers := min(runtime.GOMAXPROCS(0), (len(level)+block-1)/block)
	parts := make([]part, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(block)) - block
				if from >= len(level) {
					return
				}
				for _, rel := range level[from:min(from+block, len(level))] {
					w.look(rel, &parts[i])
				}
			}
		})
	}
	wg.Wait()
	return parts, ctx.Err()
}

// look decides what one folder is: a skill, or a folder to list.
func (w *walker) look(rel string, p *part) {
	f, err := w.skillFile(rel, p)
	switch {
	case err == nil:
		p.folders = append(p.folders, f)
		if f.File != skill.FileName {
			p.dirs = append(p.dirs, Dir{rel, w.stamp(rel)})
		}
		if rel != "." {
			return
		}
	case err == unix.ENOTDIR:
		return // it was a folder a moment ago
	case err != unix.ENOENT:
		w.unreadable(rel, err, p)
		return
	}
	w.list(rel, p)
}

// skillFile finds the skill file of a folder; the error is ENOENT when there is none.
func (w *walker) skillFile(rel string, p *part) (found, error) {
	var st unix.Stat_t
	for _, name := range [...]string{skill.FileName, lowerFile} {
		err := statAt(w.fd, rel+"/"+name, &st)
		switch {
		case err == unix.ENOENT || err == unix.ELOOP:
			continue // a link called SKILL.md that leads nowhere is reported when the folder is listed
		case err != nil:
			return found{}, err
		case isRegular(&st):
			return found{Folder{Rel: rel, Dir: w.abs(rel), File: name, Stamp: stampOf(&st)}, idOf(&st)}, nil
		}
		w.problem(p, path.Join(rel, name), CodeFileType, name+" is not a regular file", "replace it with a text file")
	}
	return found{}, unix.ENOENT
}

const lowerFile = "skill.md"

func (w *walker) stamp(rel string) Stamp {
	var st unix.Stat_t
	if statAt(w.fd, rel, &st) != nil {
		return Stamp{}
	}
	return stampOf(&st)
}

// abs is called for every skill, so it only joins; root.Dir is clean, and so is rel.
func (w *walker) abs(rel string) string {
	if rel == "." {
		return w.root.Dir
	}
	return below(w.root.Dir, rel)
}

// below joins a clean folder and a name in it.
func below(dir, name string) string {
	switch dir {
	case ".":
		return name
	case "/":
		return "/" + name
	}
	return dir + "/" + name
}

func (w *walker) unreadable(rel string, err error, p *part) {
	p.dirs = append(p.dirs, Dir{rel, w.stamp(rel)})
	w.problem(p, rel, CodeUnreadable, "the folder cannot be read: "+reason(err), "check its permissions")
}

// problem reports what is wrong at rel; the folder above it then counts as explained.
func (w *walker) problem(p *part, rel, code, message, hint string) {
	p.explained = append(p.explained, rel)
	p.problems = append(p.problems, warning(code, w.abs(rel), message, hint))
}

func (w *walker) explain(rel, code, message, hint string) {
	w.problem(&w.part, rel, code, message, hint)
}

func (w *walker) reportTooDeep() {
	if n := len(w.tooDeep); n > 0 {
		w.explain(slices.Min(w.tooDeep), CodeTooDeep,
			fmt.Sprintf("%d folders are more than %d levels below the root and were not looked at; this is the first", n, maxDepth),
			"name a deeper folder as a skill root")
		w.explained = append(w.explained, w.tooDeep...)
	}
}

// reportEmpty names the topmost folders that hold no skill, so that a forgotten SKILL.md shows.
func (w *walker) reportEmpty() {
	full := map[string]bool{}
	mark := func(rel string) {
		for !full[rel] {
			full[rel] = true
			rel = path.Dir(rel)
		}
	}
	for _, f := range w.folders {
		mark(path.Dir(f.Rel))
		if f.File != skill.FileName {
			mark(f.Rel) // it is among dirs too
		}
	}
	for _, rel := range w.explained {
		mark(rel)
	}
	for _, d := range w.dirs {
		if !full[d.Rel] && (d.Rel == "." || full[path.Dir(d.Rel)]) {
			w.problems = append(w.problems, skill.Diagnostic{
				Code: CodeNoSkillFile, Severity: "info", Path: w.abs(d.Rel),
				Message: "no " + skill.FileName + " in this folder or below", Hint: "add one, or take the folder away",
			})
		}
	}
}

// tree sorts what was found. Each goroutine found its share in disk order.
func (w *walker) tree() *Tree {
	t := &Tree{Root: w.root, Folders: make([]Folder, len(w.folders)), Dirs: w.dirs, Problems: w.problems}
	for i := range w.folders {
		t.Folders[i] = w.folders[i].Folder
	}
	sortParallel(t.Folders, func(a, b Folder) int { return strings.Compare(a.Rel, b.Rel) })
	slices.SortFunc(t.Dirs, func(a, b Dir) int { return strings.Compare(a.Rel, b.Rel) })
	slices.SortFunc(t.Problems, func(a, b skill.Diagnostic) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Code, b.Code))
	})
	return t
}

// sortParallel sorts the halves of a long list on two processors and merges them: at 100,000 skills a plain sort is a
// fifth of the walk.
func sortParallel[T any](list []T, compare func(a, b T) int) {
	if len(list) < 8192 {
		slices.SortFunc(list, compare)
		return
	}
	left, right := slices.Clone(list[:len(list)/2]), list[len(list)/2:]
	var wg sync.WaitGroup
	wg.Go(func() { slices.SortFunc(left, compare) })
	slices.SortFunc(right, compare)
	wg.Wait()
	for i := range list {
		if len(left) == 0 {
			return // the rest of right is in its place
		}
		if len(right) == 0 || compare(left[0], right[0]) <= 0 {
			list[i], left = left[0], left[1:]
		} else {
			list[i], right = right[0], right[1:]
		}
	}
}
