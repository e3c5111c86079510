package patch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what happens to a file.
type Kind string

// What can happen to a file.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
	Move   Kind = "move" // perhaps with other content
)

// Change is what an edit did to one file.
type Change struct {
	Kind Kind
	Path string // where the file is now; for Delete where it was
	From string // for Move: where it was
}

// Result is a folder after an edit.
type Result struct {
	Files   map[string][]byte // all files; those that did not change share their bytes with the input
	Changed []Change          // what is different, sorted by path
	Notes   []string          // places that were found only loosely, for a log
}

// mostFile is how large a file may become, in bytes.
const mostFile = 64 << 20

// folder is the state of the files while an edit is applied.
type folder struct {
	files map[string][]byte
	moved map[string]string // new path → old path
	notes []string
	work  int
}

// Apply applies the edit to the files of a folder: paths with slashes →
// content. It returns all files as they are afterwards, or an *Error and
// nothing; the given map and its bytes stay as they are.
func (e *Edit) Apply(files map[string][]byte) (Result, error) {
	f := &folder{files: maps.Clone(files), moved: map[string]string{}}
	if f.files == nil {
		f.files = map[string][]byte{}
	}
	for i := range e.steps {
		s := &e.steps[i]
		if err := f.apply(s); err != nil {
			if err.File == "" {
				err.File = s.path
			}
			if err.Line == 0 {
				err.Line = s.line
			}
			return Result{}, err
		}
	}
	if err := f.checkNew(files); err != nil {
		return Result{}, err
	}
	changed := f.changes(files)
	if len(changed) == 0 {
		return Result{}, &Error{Kind: Unchanged, Message: "the edit changes nothing: the files are already so"}
	}
	return Result{Files: f.files, Changed: changed, Notes: f.notes}, nil
}

func (f *folder) apply(s *step) *Error {
	data, there := f.files[s.path]
	switch {
	case s.kind == Add && there && !s.whole:
		return &Error{Kind: Exists, Message: "the file is already there", Hint: "Change it by *** Update File:, or give all of it as *** File: between *** Begin Files and *** End Files."}
	case s.kind != Add && !there:
		return &Error{Kind: Missing, Message: "there is no such file", Hint: f.listing(s.path)}
	case (s.kind == Delete || s.to != "") && strings.EqualFold(s.path, skillFile):
		return &Error{Kind: BadPath, Message: "the skill file can be changed, but not deleted or moved"}
	case s.kind == Delete:
		delete(f.files, s.path)
		delete(f.moved, s.path)
		return nil
	case there && (s.kind == Add || len(s.hunks) > 0) && !utf8.Valid(data):
		return &Error{Kind: NotText, Message: "the file is not UTF-8 text, so it cannot be edited"}
	case s.kind == Add:
		return f.put(s.path, adapted(s, string(data)))
	}
	return f.update(s, string(data))
}

// put stores new content of a file.
func (f *folder) put(path, content string) *Error {
	if len(content) > mostFile {
		return &Error{Kind: TooLarge, Message: "the file becomes larger than 64 MiB"}
	}
	f.files[path] = []byte(content)
	return nil
}

// adapted returns the content of a whole file with the byte-order mark and the
// line ends of what is there.
func adapted(s *step, old string) string {
	content := s.content
	if n := strings.Count(old, "\n"); n > 0 && n == strings.Count(old, "\r\n") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	if strings.HasPrefix(old, mark) && !strings.HasPrefix(content, mark) {
		content = mark + content
	}
	return content
}

// update applies the hunks of a file and moves it.
func (f *folder) update(s *step, old string) *Error {
	if len(s.hunks) > 0 {
		p := &placer{document: newDocument(old, &f.work), file: s.path}
		for i := range s.hunks {
			if err := p.apply(&s.hunks[i]); err != nil {
				return err
			}
		}
		f.notes = append(f.notes, p.notes...)
		if err := f.put(s.path, p.String()); err != nil {
			return err
		}
	}
	if s.to == "" {
		return nil
	}
	if _, ok := f.files[s.to]; ok {
		return &Error{Kind: Exists, Message: fmt.Sprintf("the target %s of the move is already there", clip(s.to))}
	}
	f.files[s.to] = f.files[s.path]
	delete(f.files, s.path)
	from, ok := f.moved[s.path]
	if !ok {
		from = s.path
	}
	delete(f.moved, s.path)
	f.moved[s.to] = from
	return nil
}

// listing names the files that may be meant by one that is not there.
func (f *folder) listing(path string) string {
	for there := range f.files {
		if fold(there) == fold(path) {
			return "It is spelled " + clip(there) + "."
		}
	}
	paths := slices.Sorted(maps.Keys(f.files))
	if len(paths) == 0 {
		return "The folder is empty."
	}
	list, more := slices.Clone(paths[:min(len(paths), 20)]), ""
	for i := range list {
		list[i] = clip(list[i])
	}
	if len(paths) > len(list) {
		more = fmt.Sprintf(" and %d more", len(paths)-len(list))
	}
	return "Files are: " + strings.Join(list, ", ") + more + "."
}

// checkNew refuses new files whose path clashes with another one.
func (f *folder) checkNew(before map[string][]byte) error {
	n := newNames()
	var fresh []string
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		if _, old := before[path]; old {
			n.add(path)
		} else {
			fresh = append(fresh, path)
		}
	}
	for _, path := range fresh {
		if why := n.clash(path); why != "" {
			return &Error{Kind: BadPath, File: path, Message: why}
		}
		n.add(path)
	}
	return nil
}

// changes compares the files with those before.
func (f *folder) changes(before map[string][]byte) []Change {
	var changed []Change
	gone := map[string]bool{}
	for path, data := range f.files {
		old, there := before[path]
		from, moved := f.moved[path]
		_, back := f.files[from]
		switch {
		case there && string(old) != string(data):
			changed = append(changed, Change{Kind: Update, Path: path})
		case !there && moved && !back:
			changed = append(changed, Change{Kind: Move, Path: path, From: from})
			gone[from] = true
		case !there:
			changed = append(changed, Change{Kind: Add, Path: path})
		}
	}
	for path := range before {
		if _, there := f.files[path]; !there && !gone[path] {
			changed = append(changed, Change{Kind: Delete, Path: path})
		}
	}
	slices.SortFunc(changed, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changed
}
