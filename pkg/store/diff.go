package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// maxDiff is the size in bytes above which files are compared as binary ones.
const maxDiff = 1 << 20

// side is one of two sets of files that are compared.
type side struct {
	files map[string]TreeFile
	read  func(f TreeFile) ([]byte, error)
}

// Diff is the change from version a to version b as a patch that git apply and
// patch -p1 take; binary files are named only. An empty id stands for no files
// at all. It is "" when the files are equal.
func (s *Store) Diff(a, b string) (string, error) {
	from, err := s.side(a)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	to, err := s.side(b)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	return diff(from, to)
}

// DiffDir is the change from a version to a folder as it is on disk.
func (s *Store) DiffDir(id, dir string) (string, error) {
	from, err := s.side(id)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	tree, err := Snapshot(dir)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	return diff(from, side{byPath(tree.Files), func(f TreeFile) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
	}})
}

func (s *Store) side(id string) (side, error) {
	if id == "" {
		return side{}, nil
	}
	rec, ok, err := s.Record(id)
	if err != nil {
		return side{}, err
	}
	if !ok {
		return side{}, fmt.Errorf("record %q: %w", id, ErrNotFound)
	}
	files, err := s.TreeFiles(rec.Lineage.Tree)
	return side{byPath(files), func(f TreeFile) ([]byte, error) { return s.ReadObject(f.SHA256) }}, err
}

func byPath(files []TreeFile) map[string]TreeFile {
	out := make(map[string]TreeFile, len(files))
	for _, f := range files {
		out[f.Path] = f
	}
	return out
}

func diff(from, to side) (string, error) {
	paths := maps.Clone(from.files)
	if paths == nil {
		paths = map[string]TreeFile{}
	}
	maps.Copy(paths, to.files)
	var out strings.Builder
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, inA := from.files[path]
		b, inB := to.files[path]
		if inA && inB && a.SHA256 == b.SHA256 && a.Mode == b.Mode {
			continue
		}
		var before, after []byte
		var errA, errB error
		if inA {
			before, errA = from.read(a)
		}
		if inB {
			after, errB = to.read(b)
		}
		errs = append(errs, errA, errB)
		fileDiff(&out, path, a.Mode, b.Mode, before, after)
	}
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	return out.String(), nil
}

// fileDiff writes the change of one file; an empty mode means no file.
func fileDiff(out *strings.Builder, path, modeA, modeB string, before, after []byte) {
	a, b := quotePath("a/"+path), quotePath("b/"+path)
	fmt.Fprintf(out, "diff --git %s %s\n", a, b)
	switch {
	case modeA == "":
		fmt.Fprintf(out, "new file mode %s\n", gitMode(modeB))
		a = "/dev/null"
	case modeB == "":
		fmt.Fprintf(out, "deleted file mode %s\n", gitMode(modeA))
		b = "/dev/null"
	case modeA != modeB:
		fmt.Fprintf(out, "old mode %s\nnew mode %s\n", gitMode(modeA), gitMode(modeB))
	}
	if bytes.Equal(before, after) {
		return
	}
	if isBinary(before) || isBinary(after) {
		fmt.Fprintf(out, "Binary files %s and %s differ\n", a, b)
		return
	}
	old := string(before)
	// The edits come from these two texts, so they are consistent.
	text, _ := udiff.ToUnified(label(a), label(b), old, udiff.Lines(old, string(after)), udiff.DefaultContextLines)
	out.WriteString(text)
}

func gitMode(mode string) string { return "10" + mode }

// label ends a name with blanks in it by a tab, as git does, so that patch
// knows where it ends.
func label(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

func isBinary(data []byte) bool {
	return len(data) > maxDiff || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// quotePath quotes a name that would break the header lines, as git does.
func quotePath(path string) string {
	plain := func(r rune) bool { return r >= ' ' && r != '"' && r != '\\' && r != 0x7f }
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range path {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case !plain(r):
			fmt.Fprintf(&b, "\\%03o", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
