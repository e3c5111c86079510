package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/wire"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// writeFile makes a file or replaces all of it.
func writeFile(e *Env) Tool {
	return &builtin[writeArgs]{env: e, spec: Spec{
		Name:        "write_file",
		Aliases:     []string{"write", "create_file"},
		Description: "Write a whole file; folders are made.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},"content":{"type":"string"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
		Backend: "shell",
	}, synonyms: map[string]string{"file_path": "path", "file": "path", "filename": "path", "text": "content", "contents": "content"},
		run: e.writeFile}
}

func (e *Env) writeFile(ctx context.Context, args writeArgs) Result {
	e.writes.Lock()
	defer e.writes.Unlock()
	s, problem := e.locate(args.Path, true)
	if problem != nil {
		return *problem
	}
	defer s.Close()
	old, info, err := s.read(e.Limits.Read)
	existed := err == nil || errors.Is(err, errTooLarge)
	switch {
	case err != nil && !existed && !errors.Is(err, fs.ErrNotExist):
		return e.unwritable(args.Path, s, err)
	case existed && string(old) == args.Content && err == nil:
		return Result{Content: fmt.Sprintf("%s has this content already, %s", s.shown, count(len(lines(args.Content)), "line"))}
	}
	if problem := e.maskedText(s.shown, args.Content, string(old)); problem != nil {
		return *problem
	}
	if err := ctx.Err(); err != nil {
		return failed(wire.Canceled, "%s was not written: %v", s.shown, err)
	}
	if err := s.replace([]byte(args.Content), info); err != nil {
		return e.unwritable(args.Path, s, err)
	}
	return Result{Content: written(s.shown, args.Content, string(old), existed && err == nil, existed), Files: []string{s.path}}
}

// written says what was done to a file.
func written(name, now, before string, known, existed bool) string {
	n := count(len(lines(now)), "line")
	switch {
	case !existed:
		return fmt.Sprintf("created %s, %s, %s", name, n, size(int64(len(now))))
	case !known:
		return fmt.Sprintf("changed %s, now %s, %s", name, n, size(int64(len(now))))
	}
	return fmt.Sprintf("changed %s, %s (it had %d), %s", name, n, len(lines(before)), size(int64(len(now))))
}

// unwritable says why a file was not written.
func (e *Env) unwritable(given string, s *spot, err error) Result {
	switch {
	case errors.Is(err, errFolder):
		return failed(wire.Invalid, "%q is a folder, not a file", given)
	case errors.Is(err, errReadOnly):
		return failed(Denied, "%q is read-only; if it is to be changed all the same, run chmod u+w first", given)
	}
	return *e.pathProblem(given, s.path, err)
}

// errReadOnly is the error for a file that its owner may not write.
var errReadOnly = errors.New("it is read-only")

// replace writes the file as a whole, with the mode that it has, and makes the folders that are missing. before is what
// is there; nil when nothing is.
func (s *spot) replace(data []byte, before fs.FileInfo) error {
	if before != nil && before.Mode().Perm()&0o200 == 0 {
		return errReadOnly
	}
	if dir := filepath.Dir(s.name); dir != "." {
		if err := s.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	return atomicfile.WriteIn(s.root, s.name, data, 0o666, atomicfile.KeepMode(), atomicfile.NoSync())
}

// maskedText refuses a text in which the model repeats what it was shown in place of a secret: written, it would take
// the secret out of the file. before is what is there: a file may have such words of its own.
func (e *Env) maskedText(name, text, before string) *Result {
	if strings.Count(text, stars) <= strings.Count(before, stars) {
		return nil
	}
	return ptr(failed(wire.Invalid, "%s was not changed: the new text has %s, which stands for a secret that you are not shown. "+
		"Leave what is secret alone, and change other parts with edit_file", name, stars))
}
