package skill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxID        = 240 // bytes; leaves room for an extension in a file name
	maxSanitized = 50  // characters of a derived name
)

// ReadID reads the identity sidecar of a skill folder. It is "" when there is
// no sidecar, and when the sidecar holds no valid id: then problem says why.
func ReadID(dir string) (id string, problem *Diagnostic) {
	path := filepath.Join(dir, IDFile)
	bad := func(why string) (string, *Diagnostic) {
		return "", &Diagnostic{Code: "skill-id", Severity: Warning, Path: path,
			Message: IDFile + " " + why, Hint: "remove it or restore the id"}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return bad(fmt.Sprintf("cannot be read: %v", cause(err)))
	case !info.Mode().IsRegular():
		return bad("is not a plain file")
	case info.Size() > 4*maxID:
		return bad("is too long to hold an id")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return bad(fmt.Sprintf("cannot be read: %v", cause(err)))
	}
	id = strings.TrimSpace(strings.TrimPrefix(string(data), bom))
	switch {
	case id == "":
		return bad("is empty")
	case !ValidID(id):
		return bad("does not hold a valid id")
	}
	return id, nil
}

// ValidID tells whether a text can be a skill id: 1 to 240 bytes of UTF-8 on
// one line, no control or invisible characters, no slash or backslash, no blank
// at either end, no leading dot or hyphen. Old ids of any form pass.
func ValidID(id string) bool {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.TrimSpace(id) != id || id[0] == '.' || id[0] == '-' {
		return false
	}
	return strings.IndexFunc(id, badInID) < 0
}

func badInID(r rune) bool {
	return r == '/' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r)
}

// NewID makes an id {name}__{kind}_{8 random hex digits}. The kind is imp for an
// import, clo for a proposed cloud record, v0, v1 … for a version. Characters of
// the name that an id cannot hold become hyphens.
func NewID(name, kind string) string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return idName(name) + "__" + kind + "_" + hex.EncodeToString(b[:])
}

// DerivedID is the id of a skill without a sidecar: {name}__imp_{first 8 hex
// digits of the SHA-256 of canonicalDir}. It is the same at each call.
func DerivedID(name, canonicalDir string) string {
	sum := sha256.Sum256([]byte(canonicalDir))
	return idName(name) + "__imp_" + hex.EncodeToString(sum[:4])
}

// idName makes a name fit for the front of an id.
func idName(name string) string {
	name = strings.Map(func(r rune) rune {
		if badInID(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	name = cutBytes(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(name), ".-")), maxID-40)
	if name == "" {
		return "skill"
	}
	return name
}

// cutBytes cuts s to at most n bytes, at a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// SanitizeName makes a name by the naming rule out of any text: lower case,
// letters and digits of every script kept, anything else one hyphen, at most 50
// characters. A name that had to be cut ends in a hash of the whole, so that two
// long names do not become one. It is never empty.
func SanitizeName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(norm.NFC.String(strings.ToValidUTF8(s, "-"))) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) && endsInWord(b.String()) {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	sum := sha256.Sum256([]byte(s))
	if name == "" {
		return "skill-" + hex.EncodeToString(sum[:2])
	}
	if r := []rune(name); len(r) > maxSanitized {
		name = strings.TrimRight(string(r[:maxSanitized-7]), "-") + "-" + hex.EncodeToString(sum[:3])
	}
	return name
}

// endsInWord tells whether a combining mark may follow.
func endsInWord(s string) bool { return s != "" && s[len(s)-1] != '-' }
