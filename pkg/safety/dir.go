package safety

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// What ScanDir reads at most; a skill beyond this is reported as truncated.
const (
	maxFiles     = 2000     // files and folders
	maxFileBytes = 8 << 20  // of one text
	maxDirBytes  = 64 << 20 // of all texts
	maxDepthDir  = 16       // folders within folders
	headBytes    = 8 << 10  // what tells text from a binary
)

// ScanDir judges every text file below dir, hidden and ignored ones included,
// for that is where something can be hidden; only .git is left out. What it
// does not read, because it is too big, too much or unreadable, is a finding of
// the rule not-scanned. The error is about dir itself.
func ScanDir(dir string, p Policy) (Report, error) {
	f, err := readFolder(dir)
	if err != nil {
		return Report{}, err
	}
	return f.report(p), nil
}

// folder is what was read of a directory.
type folder struct {
	root     *os.Root
	texts    []Text
	findings []Finding
	entries  int
	files    int
	bytes    int64 // of texts
	cut      bool
}

// report scans a folder that was read.
func (f *folder) report(p Policy) Report {
	report := Report{Findings: slices.Clone(f.findings), Truncated: f.cut}
	scanTexts(&report, f.texts)
	report.Files, report.Bytes = f.files, f.bytes
	report.finish(p)
	return report
}

// readFolder reads what there is to scan, in the order of the paths.
func readFolder(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("scan folder %q: %w", dir, err)
	}
	defer root.Close()
	f := &folder{root: root}
	if err := fs.WalkDir(root.FS(), ".", f.visit); err != nil {
		return nil, fmt.Errorf("scan folder %q: %w", dir, err)
	}
	return f, nil
}

// visit takes one file or folder.
func (f *folder) visit(name string, d fs.DirEntry, err error) error {
	f.entries++
	switch {
	case err != nil && name == ".":
		return err
	case err != nil:
		f.skip(name, "it cannot be read: "+cause(err))
		return fs.SkipDir
	case f.entries > maxFiles || f.bytes > maxDirBytes:
		f.skip(name, "the folder is too big, this and what follows was left out")
		f.cut = true
		return fs.SkipAll
	case strings.ContainsFunc(d.Name(), isZeroWidth):
		f.findings = append(f.findings, fileFinding("odd-file-name", name, ""))
	}
	if d.IsDir() {
		return f.enter(name, d)
	}
	if why := f.take(name, d); why != "" {
		f.skip(name, why)
	}
	return nil
}

// enter says whether a directory is walked.
func (f *folder) enter(name string, d fs.DirEntry) error {
	switch {
	case name != "." && d.Name() == ".git":
		return fs.SkipDir
	case strings.Count(name, "/") >= maxDepthDir:
		f.skip(name, "it lies too deep")
		f.cut = true
		return fs.SkipDir
	}
	return nil
}

// take reads one file and says why it was not read. A link is followed as long
// as it stays in the folder.
func (f *folder) take(name string, d fs.DirEntry) (why string) {
	info, err := f.root.Stat(name)
	link := d.Type()&fs.ModeSymlink != 0
	switch {
	case link && errors.Is(err, fs.ErrNotExist):
		return "" // leads nowhere
	case link && err != nil:
		f.findings = append(f.findings, fileFinding("link-outside", name, ""))
		return ""
	case err != nil:
		return "it cannot be read: " + cause(err)
	case info.IsDir():
		return "" // a link to a folder inside, which is walked by its own name
	case !info.Mode().IsRegular():
		return "it is not a file"
	}
	f.files++
	file, err := f.root.Open(name)
	if err != nil {
		return "it cannot be read: " + cause(err)
	}
	defer file.Close()
	return f.read(name, file)
}

// read keeps a text, and says what a binary is that matters.
func (f *folder) read(name string, file io.Reader) (why string) {
	head := make([]byte, headBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "it cannot be read: " + cause(err)
	}
	head = head[:n]
	switch sniff(name, head) {
	case programFile:
		f.findings = append(f.findings, fileFinding("executable-binary", name, ""))
	case lockedFile:
		f.findings = append(f.findings, fileFinding("locked-archive", name, ""))
	case archiveFile:
		f.findings = append(f.findings, fileFinding("archive", name, ""))
	case textFile:
		rest, err := io.ReadAll(io.LimitReader(file, maxFileBytes-headBytes+1))
		if err != nil {
			return "it cannot be read: " + cause(err)
		}
		data := append(head, rest...)
		if len(data) > maxFileBytes {
			data, f.cut, why = data[:maxFileBytes], true, "it is too big, only its beginning was read"
		}
		f.bytes += int64(len(data))
		f.texts = append(f.texts, Text{Path: name, Data: data})
	}
	return why
}

// skip notes that a path was left out.
func (f *folder) skip(name, why string) {
	f.findings = append(f.findings, fileFinding("not-scanned", name, why))
}

// cause is the innermost text of an error, without the path that it repeats.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
