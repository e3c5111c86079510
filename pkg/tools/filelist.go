package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	maxEntries   = 500 // of a listing
	maxPerFolder = 200 // of one folder in it, when there are several
	maxScanned   = 20_000
)

// closedFolders are named in listings and not entered: what is in them was made by tools.
var closedFolders = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"}

type listArgs struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

// listDir lists folders. Models are not told of it: read_file and run_shell do the same.
func listDir(e *Env) Tool {
	return &builtin[listArgs]{env: e, spec: Spec{
		Name:        "list_dir",
		Aliases:     []string{"ls", "list_directory", "list_files"},
		Hidden:      true,
		Description: "List a folder: names, sizes, folders with a slash. .git, node_modules and the like are not entered.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"default: the workspace"},` +
			`"depth":{"type":"integer","minimum":1,"maximum":10,"description":"levels of folders (1)"}},` +
			`"additionalProperties":false}`),
		Backend: "shell", ReadOnly: true,
	}, synonyms: map[string]string{"dir": "path", "directory": "path", "folder": "path"}, run: e.listDir}
}

func (e *Env) listDir(ctx context.Context, args listArgs) Result {
	if args.Path == "" {
		args.Path = "."
	}
	s, problem := e.locate(args.Path, false)
	if problem != nil {
		return *problem
	}
	defer s.Close()
	info, err := s.root.Stat(s.name)
	switch {
	case err != nil:
		return *e.pathProblem(args.Path, s.path, err)
	case !info.IsDir():
		return Result{Content: fmt.Sprintf("%s is a file, %s", s.shown, size(info.Size()))}
	}
	l := &listing{env: e, spot: s, depth: max(1, args.Depth), ctx: ctx}
	if err := l.folder(s.name, "", 1); err != nil {
		return *e.pathProblem(args.Path, s.path, err)
	}
	if l.b.Len() == 0 {
		return Result{Content: s.shown + " is empty"}
	}
	return Result{Content: l.b.String()}
}

// listing is a listing that is being made.
type listing struct {
	env   *Env
	spot  *spot
	ctx   context.Context
	depth int
	b     strings.Builder
	n     int
	full  bool
}

// folder lists what is in a folder, at is its path as it is shown.
func (l *listing) folder(name, at string, depth int) error {
	entries, more, err := readFolder(l.spot, name)
	if err != nil {
		return err
	}
	most := maxEntries
	if l.depth > 1 {
		most = maxPerFolder
	}
	for i, entry := range entries {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if i == most || l.n >= maxEntries || l.b.Len() > l.env.Limits.Output {
			l.more(at, len(entries)-i+more)
			return nil
		}
		l.entry(name, at, entry, depth)
	}
	if more > 0 {
		l.more(at, more)
	}
	return nil
}

// more says that entries are left out, once the listing is full for the first time only.
func (l *listing) more(at string, n int) {
	if l.full {
		return
	}
	l.full = l.n >= maxEntries || l.b.Len() > l.env.Limits.Output
	fmt.Fprintf(&l.b, "%s[… %d more]\n", at, n)
}

func (l *listing) entry(name, at string, entry fs.DirEntry, depth int) {
	l.n++
	shown := at + oneLine(entry.Name())
	inner := path.Join(name, entry.Name())
	switch {
	case entry.IsDir() && slices.Contains(closedFolders, entry.Name()):
		fmt.Fprintf(&l.b, "%s/ (not entered)\n", shown)
	case entry.IsDir():
		fmt.Fprintf(&l.b, "%s/\n", shown)
		if depth < l.depth {
			if err := l.folder(inner, shown+"/", depth+1); err != nil && l.ctx.Err() == nil {
				fmt.Fprintf(&l.b, "%s/[%v]\n", shown, plainError(err))
			}
		}
	case entry.Type()&fs.ModeSymlink != 0:
		target, _ := l.spot.root.Readlink(inner)
		fmt.Fprintf(&l.b, "%s -> %s\n", shown, oneLine(target))
	default:
		fmt.Fprintf(&l.b, "%s  %s\n", shown, sizeOf(entry))
	}
}

// sizeOf says how large an entry is, or what it is when it is no file.
func sizeOf(entry fs.DirEntry) string {
	info, err := entry.Info()
	switch {
	case err != nil:
		return "(gone)"
	case !info.Mode().IsRegular():
		return "(" + info.Mode().Type().String() + ")"
	}
	return size(info.Size())
}

// readFolder returns what is in a folder, sorted by name, and how many entries were not even read.
func readFolder(s *spot, name string) ([]fs.DirEntry, int, error) {
	f, err := s.root.OpenFile(name, syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxScanned)
	if err != nil && len(entries) == 0 && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	more := 0
	if len(entries) == maxScanned {
		rest, _ := f.Readdirnames(-1)
		more = len(rest)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}

// plainError returns what happened, without the name of the call and the file.
func plainError(err error) error {
	if inner := new(fs.PathError); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// interrupted is the result of a call whose context ended.
func interrupted(what string, err error) Result {
	r := failed(wire.Canceled, "%s was interrupted", what)
	if errors.Is(err, context.DeadlineExceeded) {
		r = failed(TimedOut, "%s took too long", what)
	}
	return r
}
