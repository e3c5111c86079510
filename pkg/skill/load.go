package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the skill file of a folder, as dir joined with SKILL.md, else
// with skill.md. It is "" when there is neither; problems then says so if the
// folder holds something that was probably meant to be one.
func Find(dir string) (file string, problems []Diagnostic) {
	for _, name := range []string{FileName, altFileName} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, unreadable(path, info, err))
		} else if _, err := os.Lstat(path); err == nil {
			problems = append(problems, Diagnostic{Code: "link-dangling", Severity: Error, Path: path,
				Message: name + " is a link to nothing", Hint: "remove the link or restore its target"})
		}
	}
	return "", append(problems, otherCase(dir)...)
}

func unreadable(path string, info fs.FileInfo, err error) Diagnostic {
	d := Diagnostic{Code: "skill-file-type", Severity: Error, Path: path, Hint: "put a plain file there"}
	if err != nil {
		d.Code, d.Message, d.Hint = "unreadable", fmt.Sprintf("%s cannot be read: %v", filepath.Base(path), cause(err)), "check its permissions"
		return d
	}
	kind := "not a plain file"
	if info.IsDir() {
		kind = "a folder"
	}
	d.Message = filepath.Base(path) + " is " + kind
	return d
}

func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// otherCase finds a file whose name differs from SKILL.md only in letter case.
func otherCase(dir string) []Diagnostic {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), FileName) && e.Name() != FileName && e.Name() != altFileName {
			return []Diagnostic{{Code: "skill-file-case", Severity: Error, Path: filepath.Join(dir, e.Name()),
				Message: fmt.Sprintf("%s is not seen as a skill: the file must be named %s", e.Name(), FileName),
				Hint:    "rename it to " + FileName}}
		}
	}
	return nil
}

// Load reads the skill in a folder. The skill is nil when there is none or when
// it cannot be used; then a diagnostic of severity Error says why, or, in a
// folder that holds nothing like a skill, the code is skill-file-missing. The
// error is an I/O error only. Diagnostics carry the file's path.
func Load(dir string) (*Skill, []Diagnostic, error) {
	file, problems := Find(dir)
	if file == "" {
		if len(problems) == 0 {
			problems = append(problems, missingFile(dir))
		}
		return nil, problems, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, nil, err
	}
	if data == nil {
		return nil, []Diagnostic{tooLarge(file)}, nil
	}
	s, problems := Parse(data, FolderName(dir))
	return s, withPath(problems, file), nil
}

func missingFile(dir string) Diagnostic {
	return Diagnostic{Code: "skill-file-missing", Severity: Error, Path: dir,
		Message: "there is no " + FileName + " in the folder", Hint: "add " + FileName}
}

// readFile reads a file of at most maxFile bytes; nil for a longer one.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	if size > maxFile {
		return nil, nil
	}
	data := make([]byte, 0, size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("read skill: %w", err)
		case len(data) > maxFile:
			return nil, nil
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// FolderName is the name of a folder itself: "." and ".." are resolved, and so
// is a link, whose own name says nothing about the skill. It is "" for a root
// directory and where the path cannot be resolved.
func FolderName(dir string) string {
	dir = filepath.Clean(dir) // a slash at the end would follow a link
	base := filepath.Base(dir)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink == 0 && base != "." && base != ".." && base != string(filepath.Separator) {
		return base
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return ""
	}
	if base = filepath.Base(abs); base == string(filepath.Separator) {
		return ""
	}
	return base
}
