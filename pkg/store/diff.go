package store

import (
	"bytes"
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

// Side is one of two sets of files that are compared.
type Side struct {
	files map[string]TreeFile
	read  func(f TreeFile) ([]byte, error)
}

// FileDiff is the change of one file.
type FileDiff struct {
	Path   string
	Change string // added, removed or modified
	Binary bool
	Patch  string // as git writes it; of a binary file it only says so
}

// VersionSide is the files of a version. An empty id stands for no files at all.
func (s *Store) VersionSide(id string) (Side, error) {
	if id == "" {
		return Side{}, nil
	}
	rec, ok, err := s.Record(id)
	if err != nil {
		return Side{}, err
	}
	if !ok {
		return Side{}, fmt.Errorf("record %q: %w", id, ErrNotFound)
	}
	files, err := s.TreeFiles(rec.Lineage.Tree)
	return Side{byPath(files), func(f TreeFile) ([]byte, error) { return s.ReadObject(f.SHA256) }}, err
}

// DiskSide is the files of the skill in a folder as they are now.
func DiskSide(dir string) (Side, error) {
	tree, err := Snapshot(dir)
	return Side{byPath(tree.Files), func(f TreeFile) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
	}}, err
}

func byPath(files []TreeFile) map[string]TreeFile {
	out := make(map[string]TreeFile, len(files))
	for _, f := range files {
		out[f.Path] = f
	}
	return out
}

// Diff is the change from version a to version b as one patch for git apply or
// patch -p1; binary files are only named in it. It is "" when they are equal.
func (s *Store) Diff(a, b string) (string, error) {
	from, err := s.VersionSide(a)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	to, err := s.VersionSide(b)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	files, err := Compare(from, to)
	var out strings.Builder
	for _, f := range files {
		out.WriteString(f.Patch)
	}
	return out.String(), err
}

// Compare lists the files that differ, sorted by path.
func Compare(from, to Side) ([]FileDiff, error) {
	paths := map[string]TreeFile{}
	maps.Copy(paths, from.files)
	maps.Copy(paths, to.files)
	var out []FileDiff
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, b := from.files[path], to.files[path]
		if a.SHA256 == b.SHA256 && a.Mode == b.Mode {
			continue
		}
		before, err := from.content(a)
		if err != nil {
			return nil, fmt.Errorf("diff: %w", err)
		}
		after, err := to.content(b)
		if err != nil {
			return nil, fmt.Errorf("diff: %w", err)
		}
		out = append(out, fileDiff(path, a.Mode, b.Mode, before, after))
	}
	return out, nil
}

// content is nil for a file that the side does not have.
func (s Side) content(f TreeFile) ([]byte, error) {
	if f.Path == "" {
		return nil, nil
	}
	return s.read(f)
}

// DiffFile is the change of the content of one file.
func DiffFile(path string, before, after []byte) FileDiff {
	return fileDiff(path, modePlain, modePlain, before, after)
}

// fileDiff is the change of one file; an empty mode means no file.
func fileDiff(path, modeA, modeB string, before, after []byte) FileDiff {
	d := FileDiff{Path: path, Change: "modified", Binary: isBinary(before) || isBinary(after)}
	var out strings.Builder
	a, b := quotePath("a/"+path), quotePath("b/"+path)
	fmt.Fprintf(&out, "diff --git %s %s\n", a, b)
	switch {
	case modeA == "":
		d.Change = "added"
		fmt.Fprintf(&out, "new file mode %s\n", gitMode(modeB))
		a = "/dev/null"
	case modeB == "":
		d.Change = "removed"
		fmt.Fprintf(&out, "deleted file mode %s\n", gitMode(modeA))
		b = "/dev/null"
	case modeA != modeB:
		fmt.Fprintf(&out, "old mode %s\nnew mode %s\n", gitMode(modeA), gitMode(modeB))
	}
	switch {
	case bytes.Equal(before, after):
	case d.Binary:
		// Without a line between them git apply takes the next one for a header.
		fmt.Fprintf(&out, "index %.7s..%.7s\nBinary files %s and %s differ\n", sumOf(before), sumOf(after), a, b)
	default:
		old := string(before)
		// The edits come from these two texts, so they are consistent.
		text, _ := udiff.ToUnified(label(a), label(b), old, udiff.Lines(old, string(after)), udiff.DefaultContextLines)
		out.WriteString(text)
	}
	d.Patch = out.String()
	return d
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
