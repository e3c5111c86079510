package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

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

func (s *Files) blobPath(hash string) string { return filepath.Join(s.dir, "blobs", hash[:2], hash) }

// BlobPath returns the file of the blob with a digest as the API has it, sha256: and the hash.
func (s *Files) BlobPath(digest string) string {
	hash := strings.TrimPrefix(digest, "sha256:")
	if !validHash(hash) {
		return ""
	}
	return s.blobPath(hash)
}

func (s *Files) hasBlob(hash string) bool {
	if !validHash(hash) {
		return false
	}
	_, err := os.Stat(s.blobPath(hash))
	return err == nil
}

// PutBlob stores a blob. One that is there already is only made young.
func (s *Files) PutBlob(_ context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if err := s.prepare(); err != nil {
		return "", err
	}
	path, now := s.blobPath(hash), time.Now()
	if err := s.makeShard(path); err != nil {
		return "", fmt.Errorf("store blob: %w", err)
	}
	if err := os.Chtimes(path, now, now); err == nil {
		return hash, atomicfile.SyncDir(filepath.Dir(path)) // whoever wrote it may not have come to this step
	}
	if err := atomicfile.Write(path, data, 0o400); err != nil {
		return "", fmt.Errorf("store blob: %w", err)
	}
	return hash, nil
}

// makeShard makes the folder of a blob and syncs its name, also when another program made it: that one may
// not have come to this step.
func (s *Files) makeShard(path string) error {
	dir := filepath.Dir(path)
	shard := rawHash(filepath.Base(path))[0]
	s.making.Lock()
	defer s.making.Unlock()
	if s.shards[shard] {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	s.shards[shard] = true
	return nil
}

// fileBlob is a blob in a file.
type fileBlob struct {
	*os.File
	size int64
}

func (b fileBlob) Size() int64 { return b.size }

// OpenBlob opens a blob for reading.
func (s *Files) OpenBlob(_ context.Context, hash string) (Blob, error) {
	if !validHash(hash) {
		return nil, fmt.Errorf("blob %q: %w", hash, ErrNotFound)
	}
	f, err := os.Open(s.blobPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", hash, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open blob: %w", err), f.Close())
	}
	return fileBlob{f, info.Size()}, nil
}
