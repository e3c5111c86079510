package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of the format, in characters (code points).
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// NameKey is the form in which names are compared: NFKC with folded case, outer
// blanks removed. Two names with the same key are the same name to a user.
func NameKey(name string) string {
	name = strings.TrimSpace(name)
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// sameName compares a name with a folder's name, whatever the form of accents.
func sameName(name, folder string) bool {
	return name == folder || norm.NFKC.String(name) == norm.NFKC.String(folder)
}

// nameFormat says how a name breaks the naming rule (lower-case letters or
// digits of any script, single hyphens inside), or "".
func nameFormat(name string) string {
	n := norm.NFKC.String(name)
	switch {
	case n != strings.ToLower(n):
		return "has upper-case letters"
	case strings.HasPrefix(n, "-"), strings.HasSuffix(n, "-"):
		return "starts or ends with a hyphen"
	case strings.Contains(n, "--"):
		return "has two hyphens in a row"
	}
	for _, r := range n {
		if r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return "has other characters than letters, digits and hyphens"
		}
	}
	return ""
}
