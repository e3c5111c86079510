package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// File is one file of an artifact.
type File struct {
	Path string // slash path below the skill folder
	Exec bool   // can be executed
	Data []byte
}

// Fingerprint is the identity of a skill's content: the SHA-256, in hex, over the files sorted by path, each
// as its path, a NUL, its length in decimal, a NUL and its bytes. In text files CR LF counts as LF. The
// sidecars .skill_id and .upload_meta.json are left out at any depth, so that a skill that was imported and
// sent again is the same skill. Execute bits do not count.
func Fingerprint(files []File) string {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	h := NewHasher()
	for _, f := range sorted {
		h.Add(f)
	}
	return h.Sum()
}

// Hasher makes a Fingerprint without holding all files at once.
type Hasher struct{ h hash.Hash }

// NewHasher returns the Hasher of no files.
func NewHasher() *Hasher { return &Hasher{sha256.New()} }

// Add takes in the next file; they must come sorted by path.
func (h *Hasher) Add(f File) {
	if name := path.Base(f.Path); name != skill.IDFile && name != skill.MetaFile {
		addFile(h.h, f)
	}
}

// Sum returns the fingerprint of what was added.
func (h *Hasher) Sum() string { return hex.EncodeToString(h.h.Sum(nil)) }

func addFile(h hash.Hash, f File) {
	data := f.Data
	if bytes.Contains(data, []byte("\r\n")) && IsText(data) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	h.Write([]byte(f.Path + "\x00" + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
}

// IsText tells whether data counts as text: UTF-8 without a NUL.
func IsText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }
