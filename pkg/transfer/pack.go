package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Package is a skill folder as it would be sent.
type Package struct {
	Dir         string // absolute
	Name        string
	Description string
	Tags        []string // that SKILL.md gives
	Files       []api.File
	LeftOut     []skill.LeftOut
	Size        int64 // bytes of all files
	Fingerprint string
}

// Pack reads what of a folder belongs to its skill. Each file is read once, so what is scanned later is what
// is sent. Its errors are *wire.Error.
func Pack(dir string, l Limits) (*Package, error) {
	s, problems, err := skill.Load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wire.Errorf(wire.NotFound, "no folder %q", dir)
	case err != nil:
		return nil, wire.Errorf(wire.Invalid, "%w", err)
	case s == nil:
		return nil, noSkill(dir, problems)
	}
	files, left, err := skill.Files(dir)
	if err != nil {
		return nil, wire.Errorf(wire.Invalid, "%w", err)
	}
	p := &Package{Dir: dir, Name: s.Name, Description: s.Description, Tags: s.Tags, LeftOut: left}
	if err := checkFiles(files, l); err != nil {
		return nil, err
	}
	for _, f := range files {
		data, err := readExactly(filepath.Join(dir, filepath.FromSlash(f.Path)), f.Size)
		if err != nil {
			return nil, aboutEntry(wire.Errorf(wire.Invalid, "%w", err), f.Path)
		}
		p.Files = append(p.Files, api.File{Path: f.Path, Exec: f.Mode&0o111 != 0, Data: data})
		p.Size += f.Size
	}
	p.Fingerprint = api.Fingerprint(p.Files)
	return p, nil
}

func noSkill(dir string, problems []skill.Diagnostic) error {
	code, why := wire.NotFound, "no "+skill.FileName
	if file, _ := skill.Find(dir); file != "" {
		code, why = wire.Invalid, "no usable "+skill.FileName
	}
	for _, p := range problems {
		if p.Severity == skill.Error {
			why += ": " + p.Message
		}
	}
	return wire.Errorf(code, "folder %q: %s", dir, why).WithHint("openspace-skills validate %s", dir)
}

// checkFiles holds a folder's files against the rules for archives before one of them is read.
func checkFiles(files []skill.File, l Limits) error {
	var names api.PathSet
	var total int64
	for _, f := range files {
		clean, err := api.CleanPath(f.Path)
		if err == nil && clean != f.Path {
			err = fmt.Errorf("file name %q would become %q", f.Path, clean)
		}
		if err == nil {
			err = names.Add(clean)
		}
		if err != nil {
			return aboutEntry(wire.Errorf(wire.Invalid, "%w", err).WithHint("rename it or name it in %s", skill.IgnoreFile), f.Path)
		}
		if f.Size > l.File {
			return aboutEntry(wire.Errorf(wire.TooLong, "file %q has %d bytes, at most %d are allowed", f.Path, f.Size, l.File).
				WithHint("name it in %s", skill.IgnoreFile), f.Path)
		}
		if total += f.Size; total > l.Total {
			return aboutEntry(wire.Errorf(wire.TooLong, "the files have more than %d bytes together", l.Total).
				WithHint("name what is not needed in %s", skill.IgnoreFile), f.Path)
		}
	}
	if len(files) > l.Entries {
		return wire.Errorf(wire.TooLong, "%d files, at most %d are allowed", len(files), l.Entries)
	}
	return nil
}

// readExactly reads a file that must still have the size that it was checked with.
func readExactly(path string, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, size+1))
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("file %q changed while it was read", path)
	}
	return data, err
}

// Archive writes the package as the archive that others would get.
func (p *Package) Archive(w io.Writer) error { return api.WriteArchive(w, p.Files) }

// secretRules are the rules of the safety scan that find what somebody did not mean to publish.
func isSecretRule(id string) bool {
	switch id {
	case "leaked-key", "leaked-private-key", "hard-coded-password":
		return true
	}
	return false
}

// Secrets returns what looks like a live key, a private key or a password in the files.
func (p *Package) Secrets() []safety.Finding {
	var texts []safety.Text
	for _, f := range p.Files {
		texts = append(texts, safety.Text{Path: f.Path, Data: f.Data})
	}
	var found []safety.Finding
	for _, f := range safety.Scan(texts, safety.DefaultPolicy()).Findings {
		if isSecretRule(f.Rule) {
			found = append(found, f)
		}
	}
	return found
}

// FileRecords lists the files of a plan, then everything that stays where it is and why.
func (p *Plan) FileRecords() []wire.File {
	var out []wire.File
	for _, f := range p.Package.Files {
		sum := sha256.Sum256(f.Data)
		out = append(out, wire.File{Path: f.Path, SkillDir: p.Package.Dir, SizeBytes: int64(len(f.Data)), Mode: mode(f.Exec), SHA256: hex.EncodeToString(sum[:])})
	}
	for _, l := range p.Package.LeftOut {
		out = append(out, wire.File{Path: l.Path, SkillDir: p.Package.Dir, LeftOut: l.Reason})
	}
	return out
}

func mode(exec bool) string {
	if exec {
		return "0755"
	}
	return "0644"
}
