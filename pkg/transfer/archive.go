package transfer

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Limits bound what an archive may hold. All sizes are bytes.
type Limits struct {
	Archive int64 // of the archive itself
	Entries int
	File    int64 // of one file
	Total   int64 // of all files
	Ratio   int64 // of all files to the archive, once they are more than RatioFrom
}

// ratioFrom is the size up to which text may be packed as well as it likes.
const ratioFrom = 8 << 20

// DefaultLimits are the limits of docs/transfer.md.
func DefaultLimits() Limits {
	return Limits{Archive: 64 << 20, Entries: 5000, File: 32 << 20, Total: 128 << 20, Ratio: 200}
}

// Archive is a skill's archive whose directory was read and checked; nothing was inflated yet.
type Archive struct {
	Wrapper string          // the folder that everything lay in and that was taken off; "" for none
	Dropped []skill.LeftOut // entries that never belong to a skill
	entries []entry         // sorted by path
}

// entry is one file of an archive.
type entry struct {
	path string // clean, without the wrapper
	drop bool   // never belongs to a skill; still part of the fingerprint
	file *zip.File
}

// OpenArchive reads the directory of an archive and checks all that can be checked before inflating: names,
// kinds, numbers and sizes. Its errors are *wire.Error with Path set to the entry.
func OpenArchive(r io.ReaderAt, size int64, l Limits) (*Archive, error) {
	if size > l.Archive {
		return nil, wire.Errorf(wire.TooLong, "archive of %d bytes, at most %d are allowed", size, l.Archive)
	}
	files, err := readDirectory(r, size, l)
	if err != nil {
		return nil, err
	}
	a := &Archive{}
	for _, f := range files {
		e, err := checkEntry(f, l)
		if err != nil {
			return nil, aboutEntry(err, f.Name)
		}
		if e.file != nil {
			a.entries = append(a.entries, e)
		}
	}
	slices.SortFunc(a.entries, func(x, y entry) int { return strings.Compare(x.path, y.path) })
	if err := a.checkTotal(size, l); err != nil {
		return nil, err
	}
	return a, a.arrange()
}

// directoryBytes is what the directory may take for each entry.
const directoryBytes = 512

// readDirectory reads the directory under a budget: its number of entries can lie.
func readDirectory(r io.ReaderAt, size int64, l Limits) ([]*zip.File, error) {
	tooMany := wire.Errorf(wire.TooLong, "archive has more than %d entries", l.Entries)
	b := &budget{r: r, left: int64(l.Entries)*directoryBytes + 128<<10}
	z, err := zip.NewReader(b, size)
	switch {
	case b.left < 0:
		return nil, tooMany
	case errors.Is(err, zip.ErrInsecurePath): // only with a GODEBUG setting; names are checked below
	case err != nil:
		return nil, wire.Errorf(wire.Invalid, "read archive: %w", err)
	}
	b.done = true
	if len(z.File) > l.Entries {
		return nil, tooMany
	}
	return z.File, nil
}

// budget fails reads beyond a number of bytes until done is set.
type budget struct {
	r    io.ReaderAt
	left int64
	done bool
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if !b.done {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, errors.New("directory is too large")
		}
	}
	return b.r.ReadAt(p, off)
}

// checkEntry checks one entry by itself. Of a folder the file is nil.
func checkEntry(f *zip.File, l Limits) (entry, error) {
	mode := f.Mode()
	if strings.HasSuffix(f.Name, "/") || mode.IsDir() {
		return entry{}, nil
	}
	clean, err := api.CleanPath(f.Name)
	switch {
	case err != nil:
		return entry{}, wire.Errorf(wire.Unsafe, "%w", err)
	case !mode.IsRegular():
		return entry{}, wire.Errorf(wire.Unsafe, "archive entry %q is not a plain file", f.Name)
	case f.Flags&1 != 0:
		return entry{}, wire.Errorf(wire.Invalid, "archive entry %q is encrypted", f.Name)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return entry{}, wire.Errorf(wire.Invalid, "archive entry %q is packed by method %d, which is not known", f.Name, f.Method)
	case f.UncompressedSize64 > uint64(l.File):
		return entry{}, wire.Errorf(wire.TooLong, "archive entry %q has %d bytes, at most %d are allowed", f.Name, f.UncompressedSize64, l.File)
	}
	return entry{path: clean, file: f}, nil
}

// checkTotal checks the sizes that the directory promises, and that all names can stand in one folder.
func (a *Archive) checkTotal(size int64, l Limits) error {
	var names api.PathSet
	var total int64
	for _, e := range a.entries {
		if err := names.Add(e.path); err != nil {
			return aboutEntry(wire.Errorf(wire.Unsafe, "%w", err), e.path)
		}
		total += int64(e.file.UncompressedSize64) // at most l.File each
	}
	switch {
	case total > l.Total:
		return wire.Errorf(wire.TooLong, "archive holds %d bytes, at most %d are allowed", total, l.Total)
	case total > ratioFrom && total/l.Ratio > size:
		return wire.Errorf(wire.TooLong, "archive of %d bytes would become %d bytes, more than %d times as much", size, total, l.Ratio)
	}
	return nil
}

// arrange drops what never belongs to a skill and takes off a folder that everything else lies in.
func (a *Archive) arrange() error {
	var kept []int
	for i := range a.entries {
		e := &a.entries[i]
		if reason := skill.Excluded(e.path); reason != "" {
			e.drop = true
			a.Dropped = append(a.Dropped, skill.LeftOut{Path: e.path, Reason: reason})
			continue
		}
		kept = append(kept, i)
	}
	if a.hasSkill("", kept) {
		return nil
	}
	if len(kept) > 0 {
		top, _, _ := strings.Cut(a.entries[kept[0]].path, "/")
		if a.allBelow(top+"/", kept) && a.hasSkill(top+"/", kept) {
			a.unwrap(top)
			return nil
		}
	}
	return wire.Errorf(wire.Invalid, "archive has no %s, neither at its root nor in the one folder at its top", skill.FileName)
}

func (a *Archive) hasSkill(prefix string, kept []int) bool {
	return slices.ContainsFunc(kept, func(i int) bool { return isSkillFile(strings.TrimPrefix(a.entries[i].path, prefix)) })
}

// isSkillFile tells the names under which a skill is found, see skill.Find.
func isSkillFile(name string) bool {
	return name == skill.FileName || name == strings.ToLower(skill.FileName)
}

func (a *Archive) allBelow(prefix string, kept []int) bool {
	return !slices.ContainsFunc(kept, func(i int) bool { return !strings.HasPrefix(a.entries[i].path, prefix) })
}

// unwrap takes a folder off the front of all paths. What does not lie in it was dropped.
func (a *Archive) unwrap(top string) {
	a.Wrapper = top
	for i := range a.entries {
		a.entries[i].path = strings.TrimPrefix(a.entries[i].path, top+"/")
	}
	slices.SortFunc(a.entries, func(x, y entry) int { return strings.Compare(x.path, y.path) })
}

// Paths lists the files that belong to the skill, sorted.
func (a *Archive) Paths() []string {
	var out []string
	for _, e := range a.entries {
		if !e.drop {
			out = append(out, e.path)
		}
	}
	return out
}

// SkillFile returns the text of the skill file.
func (a *Archive) SkillFile() ([]byte, error) {
	for _, name := range []string{skill.FileName, strings.ToLower(skill.FileName)} {
		for _, e := range a.entries {
			if e.path == name && !e.drop {
				return e.read()
			}
		}
	}
	return nil, fs.ErrNotExist // arrange has seen one
}

// each inflates one file after the other, sorted by path, those that are dropped among them.
func (a *Archive) each(fn func(f api.File, drop bool) error) error {
	for _, e := range a.entries {
		data, err := e.read()
		if err == nil {
			err = fn(api.File{Path: e.path, Exec: e.file.Mode()&0o111 != 0, Data: data}, e.drop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Unpack writes the files that belong to the skill below dir, an empty folder, and returns the fingerprint of
// the archive's content. Nothing is written outside dir, whatever was prepared in it.
func (a *Archive) Unpack(dir string) (fingerprint string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("unpack archive: %w", err)
	}
	defer root.Close()
	sum := api.NewHasher()
	err = a.each(func(f api.File, drop bool) error {
		sum.Add(f)
		if drop {
			return nil
		}
		return writeFile(root, f)
	})
	return sum.Sum(), err
}

func writeFile(root *os.Root, f api.File) error {
	mode := fs.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	if parent := path.Dir(f.Path); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return fmt.Errorf("unpack %q: %w", f.Path, err)
		}
	}
	out, err := root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("unpack %q: %w", f.Path, err)
	}
	_, err = out.Write(f.Data)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("unpack %q: %w", f.Path, err)
	}
	return nil
}

// read inflates an entry: never more than its directory promised, and checks its CRC.
func (e entry) read() ([]byte, error) {
	in, err := e.file.Open()
	if err != nil {
		return nil, e.broken(err)
	}
	defer in.Close()
	data := make([]byte, e.file.UncompressedSize64)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, e.broken(err)
	}
	var one [1]byte
	if n, err := in.Read(one[:]); n > 0 || err != io.EOF { // the end is where the checksum is compared
		return nil, e.broken(cmp.Or(err, errMore))
	}
	return data, nil
}

var errMore = errors.New("holds more than it promises")

func (e entry) broken(err error) error {
	return aboutEntry(wire.Errorf(wire.Invalid, "archive entry %q: %w", e.file.Name, err), e.path)
}

// aboutEntry sets the path of an error about an entry.
func aboutEntry(err error, name string) error {
	res := wire.AsError(err)
	res.Path = strings.ToValidUTF8(name, "\ufffd")
	return res
}
