package patch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// skillFile can be changed, but not removed or moved.
const skillFile = "SKILL.md"

// Limits of a path.
const (
	mostPath      = 1024 // bytes
	mostName      = 255  // bytes of a component
	mostComponent = 32   // components
)

// own lists names (case-folded) that an edit must not touch.
var own = map[string]bool{".skill_id": true, ".upload_meta.json": true, ".git": true, ".hg": true, ".svn": true}

// CheckPath returns the path of a file inside a folder as it is used for a
// key: relative, with slashes, without a leading "./". It returns an *Error of
// kind BadPath for any other: docs/edit-formats.md has the rules.
func CheckPath(path string) (string, error) {
	clean := strings.TrimPrefix(path, "./")
	if why := refusal(clean); why != "" {
		return "", &Error{Kind: BadPath, File: path, Message: why, Hint: "Give a path relative to the skill folder, such as references/notes.md."}
	}
	return clean, nil
}

// refusal says why a path is refused, or nothing.
func refusal(path string) string {
	switch {
	case path == "":
		return "the path is empty"
	case !utf8.ValidString(path):
		return "the path is not UTF-8"
	case len(path) > mostPath:
		return "the path is too long"
	case strings.ContainsFunc(path, hidden):
		return "the path has control or invisible characters"
	case strings.Contains(path, `\`):
		return "the path has a backslash: folders are separated by /"
	case strings.HasPrefix(path, "/"):
		return "the path is absolute"
	case len(path) > 1 && path[1] == ':' && isLetter(path[0]):
		return "the path has a drive letter"
	}
	names := strings.Split(path, "/")
	if len(names) > mostComponent {
		return "the path has too many folders"
	}
	for _, name := range names {
		if why := refusedName(name); why != "" {
			return why
		}
	}
	return ""
}

func refusedName(name string) string {
	folded := fold(name)
	switch {
	case name == "":
		return "the path has an empty component"
	case name == "." || name == "..":
		return "the path has the component " + name
	case len(name) > mostName:
		return "the path has a name that is too long"
	case own[folded] || strings.HasPrefix(folded, ".os-"):
		return "the name " + name + " is reserved"
	}
	return ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// hidden tells control characters, invisible format characters and separators
// that a path never needs.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// fold returns what two paths have in common that a file system may take for
// the same.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// names knows the spelling of files and folders, to refuse new ones that
// differ only in the case of letters or in their normal form.
type names struct {
	files, folders map[string]string // folded → as first spelled
	spelled        map[string]bool   // folders as they are spelled
}

func newNames() names { return names{map[string]string{}, map[string]string{}, map[string]bool{}} }

// add takes a file that is there.
func (n names) add(path string) {
	first(n.files, path)
	for folder := range folders(path) {
		first(n.folders, folder)
		n.spelled[folder] = true
	}
}

func first(spelled map[string]string, path string) {
	if key := fold(path); spelled[key] == "" {
		spelled[key] = path
	}
}

// folders yields the folders above a path, the innermost first.
func folders(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if !yield(path[:i]) {
				return
			}
		}
	}
}

// clash says why a new file cannot have that path, or nothing.
func (n names) clash(path string) string {
	if strings.HasSuffix(path, ".") || strings.Contains(path, "./") || strings.HasSuffix(path, " ") || strings.Contains(path, " /") {
		return "the path has a name that ends in a dot or a blank"
	}
	if there, ok := n.files[fold(path)]; ok && there != path {
		return "the file differs from " + there + " only in letter case or normal form"
	}
	if there, ok := n.folders[fold(path)]; ok {
		return "there is a folder " + there
	}
	for folder := range folders(path) {
		if there, ok := n.files[fold(folder)]; ok {
			return "there is a file " + there + " where a folder is needed"
		}
		if there, ok := n.folders[fold(folder)]; ok && !n.spelled[folder] {
			return "the folder differs from " + there + " only in letter case or normal form"
		}
	}
	return ""
}
