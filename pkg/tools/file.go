package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// folder is one that the tools may work in.
type folder struct {
	path    string // resolved
	write   bool
	private bool // of the tools themselves
}

// folders resolves what an environment names and puts the innermost first. One that does not exist stays as it is named.
func folders(workspace string, write, read []string) []folder {
	var all []folder
	add := func(path string, writable bool) {
		if filepath.IsAbs(path) {
			all = append(all, folder{path: resolved(path), write: writable})
		}
	}
	add(workspace, true)
	for _, dir := range write {
		add(dir, true)
	}
	for _, dir := range read {
		add(dir, false)
	}
	slices.SortStableFunc(all, func(a, b folder) int { return len(b.path) - len(a.path) })
	return all
}

// resolved returns a path without symbolic links, or as it is when it does not exist.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// spot is a place in the file system that a tool was given and may use. Its path has no symbolic links, and files are
// opened below a root that lets none lead out, so that a link that is put there meanwhile is not followed.
type spot struct {
	path  string // absolute
	shown string // as the model is told: below the workspace when it is there
	root  *os.Root
	name  string // below root
}

// Close gives the root back.
func (s *spot) Close() error { return s.root.Close() }

// absolute returns the path of what has this name below the root.
func (s *spot) absolute(name string) string {
	if s.name == "." {
		return filepath.Join(s.path, name)
	}
	return filepath.Join(strings.TrimSuffix(s.path, s.name), name)
}

// locate finds the place that a model names and asks whether it may be read or written. The second result says why not.
func (e *Env) locate(path string, write bool) (*spot, *Result) {
	full, problem := e.absolute(path)
	if problem != nil {
		return nil, problem
	}
	if ofKernel(full) {
		return nil, noFile(path)
	}
	full = e.asCommands(full)
	real, err := canonical(full)
	if err != nil {
		return nil, e.pathProblem(path, full, err)
	}
	if problem := e.permitted(real, write); problem != nil {
		return nil, problem
	}
	s := &spot{path: real, shown: e.show(real)}
	if s.root, s.name, err = e.open(real); err != nil {
		return nil, e.pathProblem(path, full, err)
	}
	return s, nil
}

// absolute makes a path of what a model wrote.
func (e *Env) absolute(path string) (string, *Result) {
	path = strings.TrimPrefix(path, "file://")
	if path == "" || strings.ContainsRune(path, 0) {
		return "", ptr(failed(wire.Invalid, "the path %q names nothing", path))
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') && e.home() != "" {
		return filepath.Join(e.home(), rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(e.Workspace, path), nil
}

func ptr[T any](v T) *T { return &v }

// errDangling is the error for a link that leads to nothing.
var errDangling = errors.New("it is a symbolic link that leads nowhere")

// canonical resolves the symbolic links of a path; the last parts of it need not exist.
func canonical(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", errDangling
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, err
	}
	if parent, err = canonical(parent); err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(path)), nil
}

// kernelFolders hold no files but views of the kernel, of devices and of this process, its environment among them.
var kernelFolders = []string{"/proc", "/sys", "/dev"}

func ofKernel(path string) bool {
	return slices.ContainsFunc(kernelFolders, func(dir string) bool { return within(path, dir) })
}

func noFile(path string) *Result {
	return ptr(failed(Denied, "%q is not a file that this tool may use; some of what is there can be had with run_shell", path))
}

// permitted asks the folders and the policy about a resolved path.
func (e *Env) permitted(path string, write bool) *Result {
	root, inside := e.rootOf(path)
	if root.private {
		return nil
	}
	verdict := e.Policy.Read(path)
	if write {
		verdict = e.Policy.Write(path)
	}
	switch {
	case ofKernel(path):
		return noFile(path)
	case verdict.Decision != policy.Allow:
		return ptr(failed(Denied, "%s", verdict.Reason))
	case write && !(inside && root.write):
		return ptr(failed(Denied, "%q is outside the folders that may be written: write below %q", path, e.Workspace))
	}
	return nil
}

// rootOf returns the innermost folder that a path is in.
func (e *Env) rootOf(path string) (folder, bool) {
	if tmp := e.privateTemp(); tmp != "" && within(path, tmp) {
		return folder{path: tmp, write: true, private: true}, true
	}
	for _, f := range e.roots {
		if within(path, f.path) {
			return f, true
		}
	}
	return folder{}, false
}

// within tells whether a path is a folder or in it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// show returns how a path is told to the model.
func (e *Env) show(path string) string {
	if !within(path, e.base) {
		return e.asShown(path)
	}
	rel, err := filepath.Rel(e.base, path)
	if err != nil {
		return path
	}
	return rel
}

// open opens the root that a resolved path is reached from: its folder of ours, else the folder that it is in, to which
// one goes without following a link.
func (e *Env) open(path string) (*os.Root, string, error) {
	if f, ok := e.rootOf(path); ok {
		root, err := os.OpenRoot(f.path)
		if err != nil {
			return nil, "", err
		}
		name, err := filepath.Rel(f.path, path)
		return root, name, err
	}
	root, err := descend(filepath.Dir(path))
	if path == filepath.Dir(path) {
		return root, ".", err
	}
	return root, filepath.Base(path), err
}

// errMoved is the error for a path that became another one while it was looked at.
var errMoved = errors.New("it was changed meanwhile")

// descend opens a folder step by step and refuses links.
func descend(dir string) (*os.Root, error) {
	at, err := os.OpenRoot(filepath.VolumeName(dir) + string(filepath.Separator))
	if err != nil {
		return nil, err
	}
	for _, part := range strings.FieldsFunc(dir[len(filepath.VolumeName(dir)):], isSeparator) {
		next, err := step(at, part)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func isSeparator(r rune) bool { return r == filepath.Separator }

// step opens one folder below another, if it is one and not a link to one.
func step(at *os.Root, part string) (*os.Root, error) {
	before, err := at.Lstat(part)
	if err != nil {
		return nil, err
	}
	next, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errMoved
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// openFile opens what is at the place for reading. It does not wait for the other end of a pipe.
func (s *spot) openFile() (*os.File, fs.FileInfo, error) {
	f, err := s.root.OpenFile(s.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var seen fs.FileInfo
		if seen, err = s.root.Lstat(s.name); err == nil && !os.SameFile(seen, info) {
			err = errMoved
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// errTooLarge is the error for a file that is over the limit.
var errTooLarge = errors.New("it is too large")

// errNotRegular is the error for what is neither a file nor a folder.
var errNotRegular = errors.New("it is not a regular file")

// errFolder is the error for a folder in the place of a file.
var errFolder = errors.New("it is a folder")

// read returns all of a file.
func (s *spot) read(limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := s.openFile()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	switch {
	case info.IsDir():
		return nil, info, errFolder
	case !info.Mode().IsRegular():
		return nil, info, errNotRegular
	case info.Size() > limit:
		return nil, info, errTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, info, err
}

// pathProblem says in words what is wrong with a path, and what may have been meant.
func (e *Env) pathProblem(given, full string, err error) *Result {
	text := err.Error()
	if inner := new(fs.PathError); errors.As(err, &inner) {
		text = inner.Err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ptr(failed(wire.NotFound, "%q does not exist%s", given, e.neighbours(full)))
	case errors.Is(err, fs.ErrPermission):
		return ptr(failed(Denied, "%q: %s", given, text))
	}
	return ptr(failed(wire.Invalid, "%q cannot be used: %s", given, text))
}

// neighbours says what there is in the place of a path that does not exist.
func (e *Env) neighbours(full string) string {
	const most = 12
	parent, err := canonical(filepath.Dir(full))
	if err != nil || e.permitted(parent, false) != nil {
		return ""
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Sprintf("; neither does its folder %s", e.show(parent))
	}
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = entry.Name()
	}
	if like := near(filepath.Base(full), all); len(like) > 0 {
		return ": did you mean " + strings.Join(like, " or ") + "?"
	}
	if len(all) == 0 {
		return fmt.Sprintf("; the folder %s is empty", e.show(parent))
	}
	text := fmt.Sprintf("; in %s there are %s", e.show(parent), strings.Join(all[:min(most, len(all))], ", "))
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}
