package safety

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// What ScanDir reads at most; a skill beyond this is reported as truncated.
const (
	maxFiles     = 2000
	maxFileBytes = 4 << 20
	maxDirBytes  = 32 << 20
	maxDepthDir  = 12
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
	texts    []Text
	findings []Finding
	files    int
	bytes    int64
	cut      bool
}

// report scans a folder that was read.
func (f *folder) report(p Policy) Report {
	report := Report{Findings: f.findings, Truncated: f.cut}
	scanTexts(&report, f.texts)
	report.Files = f.files
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
	f := &folder{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			f.skip(name, "cannot be read: "+cause(err))
			return fs.SkipDir
		case f.files >= maxFiles || f.bytes > maxDirBytes:
			f.skip(name, "the folder is too big; this and what follows was left out")
			f.cut = true
			return fs.SkipAll
		case d.IsDir():
			return f.enter(name, d)
		}
		f.take(root, name, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scan folder %q: %w", dir, err)
	}
	return f, nil
}

// enter says whether a directory is walked.
func (f *folder) enter(name string, d fs.DirEntry) error {
	switch {
	case name != "." && d.Name() == ".git":
		return fs.SkipDir
	case strings.Count(name, "/") >= maxDepthDir:
		f.skip(name, "lies too deep")
		f.cut = true
		return fs.SkipDir
	}
	return nil
}

// take reads one file. A link is followed as long as it stays in the folder.
func (f *folder) take(root *os.Root, name string, d fs.DirEntry) {
	info, err := root.Stat(name)
	switch {
	case err != nil && d.Type()&fs.ModeSymlink != 0:
		f.add("link-outside", name, "")
		return
	case err != nil:
		f.skip(name, "cannot be read: "+cause(err))
		return
	case info.IsDir():
		return // a link to a folder inside, which is walked by its own name
	case !info.Mode().IsRegular():
		f.skip(name, "is not a file")
		return
	}
	f.files++
	file, err := root.Open(name)
	if err != nil {
		f.skip(name, "cannot be read: "+cause(err))
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		f.skip(name, "cannot be read: "+cause(err))
		return
	}
	f.bytes += int64(len(data))
	f.keep(name, data)
}

// keep sorts a file by what is in it.
func (f *folder) keep(name string, data []byte) {
	switch sniff(name, data) {
	case textFile:
		if len(data) > maxFileBytes {
			data = data[:maxFileBytes]
			f.skip(name, "is too big; only its beginning was read")
			f.cut = true
		}
		f.texts = append(f.texts, Text{Path: name, Data: data})
	case programFile:
		f.add("executable-binary", name, "")
	case lockedArchive:
		f.add("locked-archive", name, "")
	}
}

// skip notes that a path was left out.
func (f *folder) skip(name, why string) { f.add("not-scanned", name, why) }

// add makes a finding of one of the fileRules.
func (f *folder) add(rule, name, why string) {
	f.findings = append(f.findings, fileFinding(rule, name, why))
}

// fileFinding is the finding of one of the fileRules about a file as a whole.
func fileFinding(rule, name, why string) Finding {
	i := slices.IndexFunc(fileRules, func(r RuleInfo) bool { return r.ID == rule })
	r := fileRules[i]
	found := Finding{Rule: r.ID, Flag: r.Flag, Severity: r.Severity, Path: name, Message: r.Message}
	if why != "" {
		found.Message += ": " + why
	}
	return found
}

// cause is the innermost text of an error, without the path that it repeats.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// fileType is what a file's bytes say it is.
type fileType uint8

const (
	textFile fileType = iota
	programFile
	lockedArchive
	otherBinary
)

// sniff tells text from the binaries that matter. A file with a text's name is
// text even with a NUL in it, or one byte would keep the scan out.
func sniff(path string, data []byte) fileType {
	switch {
	case bytes.HasPrefix(data, []byte("\x7fELF")), isPE(data), isMachO(data):
		return programFile
	case bytes.HasPrefix(data, []byte("PK\x03\x04")) && len(data) > 7 && data[6]&1 == 1:
		return lockedArchive
	case isUTF16(data), isTextName(path), bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0:
		return textFile
	}
	return otherBinary
}

func isTextName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return kindOfExt(ext) != prose || ext == ".md" || ext == ".mdx" || ext == ".markdown" || ext == ".txt" || ext == ".rst"
}

// isPE knows programs for Windows.
func isPE(data []byte) bool {
	return bytes.HasPrefix(data, []byte("MZ")) && bytes.Contains(data[:min(len(data), 1024)], []byte("PE\x00\x00"))
}

// isMachO knows programs for macOS, of one or several architectures.
func isMachO(data []byte) bool {
	for _, magic := range []string{"\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe\x00\x00\x00"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return false
}
