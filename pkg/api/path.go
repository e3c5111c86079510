package api

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// Limits on the names of files in an artifact, in bytes.
const (
	MaxPath     = 1024
	MaxPathPart = 255
	maxParts    = 32
)

// PathError reports the name of a file that may not stand in an artifact.
type PathError struct{ Path, Why string }

func (e *PathError) Error() string { return fmt.Sprintf("file name %q %s", e.Path, e.Why) }

// CleanPath checks the name of a file in an artifact and returns it with slashes. Backslashes are taken for
// slashes, and "." parts and doubled slashes vanish. Refused, with a *PathError: an absolute name, a drive
// letter, any "..", a control or invisible character, what is not UTF-8, an empty name, a part that ends in a
// dot or a blank or has one of <>:"|?* or the name of a DOS device (they cannot be written on every system),
// and names over the limits.
func CleanPath(name string) (string, error) {
	bad := func(why string) (string, error) { return "", &PathError{name, why} }
	switch {
	case !utf8.ValidString(name):
		return bad("is not UTF-8")
	case len(name) > MaxPath:
		return bad(fmt.Sprintf("is longer than %d bytes", MaxPath))
	case strings.IndexFunc(name, unprintable) >= 0:
		return bad("has a character that cannot be printed")
	}
	slashed := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(slashed, "/") {
		return bad("is absolute")
	}
	var parts []string
	for _, part := range strings.Split(slashed, "/") {
		if part == "" || part == "." {
			continue
		}
		if why := badPart(part); why != "" {
			return bad(why)
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 0 || strings.HasSuffix(slashed, "/"):
		return bad("names no file")
	case len(parts) > maxParts:
		return bad(fmt.Sprintf("lies below more than %d folders", maxParts-1))
	}
	return strings.Join(parts, "/"), nil
}

func unprintable(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) && r != '\u200d' && r != '\u200c'
}

func badPart(part string) string {
	switch {
	case part == "..":
		return "leads out of the folder"
	case len(part) > MaxPathPart:
		return fmt.Sprintf("has a part longer than %d bytes", MaxPathPart)
	case strings.ContainsAny(part, `<>:"|?*`):
		return `has one of <>:"|?*`
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "has a part that ends in a dot or a blank"
	case device(part):
		return "is the name of a device on some systems"
	}
	return ""
}

// device tells whether Windows takes a name for a device.
func device(part string) bool {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch strings.TrimRight(base, " ") {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && base[3] >= '0' && base[3] <= '9'
}

// PathSet takes the cleaned names of an artifact one by one and refuses what cannot stand in one folder on
// every system: a name that is there already, also in other letter case or another form of its accents, and a
// file where another name needs a folder.
type PathSet struct {
	seen map[string]entry // by folded path
}

type entry struct {
	path   string
	folder bool
}

// Add takes in a path that CleanPath returned.
func (s *PathSet) Add(path string) error {
	if s.seen == nil {
		s.seen = map[string]entry{}
	}
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if err := s.add(path[:i], true); err != nil {
			return &PathError{path, err.Error()}
		}
	}
	if err := s.add(path, false); err != nil {
		return &PathError{path, err.Error()}
	}
	return nil
}

func (s *PathSet) add(path string, folder bool) error {
	key := skill.NameKey(path)
	old, ok := s.seen[key]
	switch {
	case !ok:
		s.seen[key] = entry{path, folder}
		return nil
	case old.path != path:
		return fmt.Errorf("differs from %q only in letter case or accents", old.path)
	case !folder && !old.folder:
		return fmt.Errorf("is there twice")
	case folder != old.folder:
		return fmt.Errorf("is a file and a folder at once")
	}
	return nil
}
