package safety

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// fileRules are found from a file as a whole.
var fileRules = []RuleInfo{
	{ID: "not-scanned", Flag: FlagNotScanned, Severity: Medium, Message: "was not read whole, so nothing is known of the rest"},
	{ID: "archive", Flag: FlagNotScanned, Severity: Low, Message: "is an archive, which the scan does not look into"},
	{ID: "executable-binary", Flag: FlagExecution, Severity: Medium, Message: "is a program without source"},
	{ID: "locked-archive", Flag: FlagExecution, Severity: High, Message: "is an archive with a password: virus scanners cannot look into it"},
	{ID: "odd-file-name", Flag: FlagHidden, Severity: High, Message: "has a file whose name hides characters or shows them in another order"},
	{ID: "link-outside", Flag: FlagCredentials, Severity: High, Message: "is a link that leaves the folder"},
}

// fileFinding is the finding of one of the fileRules about a file as a whole.
func fileFinding(rule, name, why string) Finding {
	r := fileRules[slices.IndexFunc(fileRules, func(r RuleInfo) bool { return r.ID == rule })]
	found := Finding{Rule: r.ID, Flag: r.Flag, Severity: r.Severity, Path: name, Message: r.Message}
	if why != "" {
		found.Message += ": " + why
	}
	return found
}

// content is what a file's first bytes say it is.
type content uint8

const (
	textFile content = iota
	programFile
	archiveFile
	lockedFile
	otherFile // anything else: pictures, documents, …
)

// sniff tells text from the binaries that matter. A file with a text's name is
// text even with a NUL in it, or one byte would keep the scan out.
func sniff(name string, head []byte) content {
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")), isPE(head), isMachO(head), isLoosePyc(name):
		return programFile
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > 7 && head[6]&1 == 1:
		return lockedFile
	case isArchiveName(name) && bytes.IndexByte(head, 0) >= 0:
		return archiveFile
	case isUTF16(head), isTextName(name), bytes.IndexByte(head, 0) < 0:
		return textFile
	}
	return otherFile
}

func isTextName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return kindOfExt(ext) != prose || slices.Contains([]string{".md", ".mdx", ".markdown", ".txt", ".rst"}, ext)
}

func isArchiveName(name string) bool {
	return slices.Contains([]string{".zip", ".7z", ".rar", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".tar", ".jar", ".skill", ".dmg", ".pkg", ".iso"}, strings.ToLower(path.Ext(name)))
}

// isLoosePyc knows compiled Python that stands in the place of a source.
func isLoosePyc(name string) bool {
	return strings.HasSuffix(name, ".pyc") && !strings.Contains("/"+name, "/__pycache__/")
}

// isPE knows programs for Windows.
func isPE(head []byte) bool {
	return bytes.HasPrefix(head, []byte("MZ")) && bytes.Contains(head, []byte("PE\x00\x00"))
}

// isMachO knows programs for macOS, of one or several architectures.
func isMachO(head []byte) bool {
	for _, magic := range []string{"\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe\x00\x00\x00"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
