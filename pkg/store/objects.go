package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

const (
	modePlain = "0644"
	modeExec  = "0755"
	// maxTree bounds a manifest, so that a damaged store cannot ask for memory.
	maxTree = 64 << 20
)

// Tree is the content of a skill folder at one moment. Hash names its manifest.
type Tree struct {
	Hash  string
	Files []TreeFile
}

// TreeFile is one file of a tree: slash path, "0644" or "0755", size in bytes,
// SHA-256 of the content in hex.
type TreeFile struct {
	Path   string `json:"path"`
	Mode   string `json:"mode"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Snapshot hashes the files that belong to the skill in dir. It writes nothing.
// A folder that does not exist is ErrNotFound.
func Snapshot(dir string) (Tree, error) {
	if _, err := os.Stat(dir); absent(err) {
		return Tree{}, fmt.Errorf("snapshot %q: %w", dir, ErrNotFound)
	}
	files, _, err := skill.Files(dir)
	if err != nil {
		return Tree{}, fmt.Errorf("snapshot %q: %w", dir, err)
	}
	var t Tree
	for _, f := range files {
		sum, size, err := hashFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil {
			return Tree{}, fmt.Errorf("snapshot %q: %w", dir, err)
		}
		mode := modePlain
		if f.Mode&0o100 != 0 {
			mode = modeExec
		}
		t.Files = append(t.Files, TreeFile{Path: f.Path, Mode: mode, Size: size, SHA256: sum})
	}
	manifest, err := t.manifest()
	if err != nil {
		return Tree{}, fmt.Errorf("snapshot %q: %w", dir, err)
	}
	t.Hash = sumOf(manifest)
	return t, nil
}

// manifest is the object that describes a tree: one JSON object a line.
func (t Tree) manifest() ([]byte, error) {
	var out []byte
	for _, f := range t.Files {
		line, err := json.MarshalWithOption(f, json.DisableHTMLEscape())
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// parseManifest reads a manifest whose hash has been checked. Paths that leave
// the folder are an error.
func parseManifest(data []byte) ([]TreeFile, error) {
	var files []TreeFile
	for line := range bytes.Lines(data) {
		var f TreeFile
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, fmt.Errorf("manifest: %w: %w", ErrCorrupt, err)
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || !validHash(f.SHA256) {
			return nil, fmt.Errorf("manifest: %w: entry %.100q", ErrCorrupt, line)
		}
		files = append(files, f)
	}
	return files, nil
}

func hashFile(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hexSum(h), size, err
}

func sumOf(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// validHash reports whether s is a SHA-256 in lower-case hex.
func validHash(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (s *Store) objectPath(hash string) string { return s.path("objects", hash[:2], hash) }

// ReadObject returns the bytes of an object: ErrNotFound when there is none,
// ErrCorrupt when they do not match the name.
func (s *Store) ReadObject(hash string) ([]byte, error) {
	if !validHash(hash) {
		return nil, fmt.Errorf("%w: object name %.80q", ErrInvalid, hash)
	}
	data, err := os.ReadFile(s.objectPath(hash))
	if absent(err) {
		return nil, fmt.Errorf("read object %s: %w", hash, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	if sumOf(data) != hash {
		return nil, fmt.Errorf("read object %s: %w", hash, ErrCorrupt)
	}
	return data, nil
}

// TreeFiles lists the files of a tree that the store has.
func (s *Store) TreeFiles(tree string) ([]TreeFile, error) {
	if validHash(tree) {
		info, err := os.Stat(s.objectPath(tree))
		if err == nil && info.Size() > maxTree {
			return nil, fmt.Errorf("read tree %s: %w: %d bytes", tree, ErrCorrupt, info.Size())
		}
	}
	data, err := s.ReadObject(tree)
	if err != nil {
		return nil, err
	}
	files, err := parseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", tree, err)
	}
	return files, nil
}

// saveTree stores the files of a snapshot of dir and its manifest. A file that
// is no longer what the snapshot saw is ErrConflict.
func (s *Store) saveTree(dir string, t Tree, opts ...atomicfile.Option) error {
	for _, f := range t.Files {
		if err := s.saveFile(filepath.Join(dir, filepath.FromSlash(f.Path)), f.SHA256, opts); err != nil {
			return err
		}
	}
	manifest, err := t.manifest()
	if err != nil {
		return err
	}
	return s.saveObject(t.Hash, bytes.NewReader(manifest), opts)
}

func (s *Store) saveFile(path, sum string, opts []atomicfile.Option) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("store file: %w", err)
	}
	defer f.Close()
	return s.saveObject(sum, f, opts)
}

// saveObject stores what r yields under its hash. An object that is there
// already is only made young again, so that a running gc spares it.
func (s *Store) saveObject(sum string, r io.Reader, opts []atomicfile.Option) error {
	path := s.objectPath(sum)
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil {
		if len(opts) > 0 { // of a batch, which syncs all at once
			return nil
		}
		// Whoever wrote it may not have come to this step.
		return errors.Join(atomicfile.SyncDir(path), atomicfile.SyncDir(filepath.Dir(path)))
	}
	if err := s.makeShard(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.WriteWith(path, 0o400, func(w io.Writer) error {
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(w, h), r); err != nil {
			return err
		}
		if hexSum(h) != sum {
			return fmt.Errorf("content of object %s: %w", sum, ErrConflict)
		}
		return nil
	}, append(opts, s.hook("object"))...)
}

func (s *Store) makeShard(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store object: %w", err)
	}
	s.fault("object:folder")
	return atomicfile.SyncDir(filepath.Dir(dir))
}

// haveTree checks that a tree and all its files are in the store.
func (s *Store) haveTree(tree string) error {
	files, err := s.TreeFiles(tree)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := os.Stat(s.objectPath(f.SHA256)); err != nil {
			return fmt.Errorf("object of %q: %w", f.Path, errors.Join(ErrNotFound, err))
		}
	}
	return nil
}

// writeTree writes the files of a tree into the empty folder dir. mode gives
// the permission bits of each.
func (s *Store) writeTree(tree, dir string, mode func(f TreeFile) fs.FileMode) error {
	files, err := s.TreeFiles(tree)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if err := s.writeFile(root, f, mode(f)); err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
	}
	return nil
}

func (s *Store) writeFile(root *os.Root, f TreeFile, mode fs.FileMode) error {
	name := filepath.FromSlash(f.Path)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	in, err := os.Open(s.objectPath(f.SHA256))
	if absent(err) {
		return fmt.Errorf("object %s: %w", f.SHA256, ErrNotFound)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if err := errors.Join(err, out.Chmod(mode), out.Close()); err != nil {
		return err
	}
	if hexSum(h) != f.SHA256 {
		return fmt.Errorf("object %s: %w", f.SHA256, ErrCorrupt)
	}
	return nil
}
