package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// cacheVersion is that of the file of one server's tools.
//
//	version 1: first
const cacheVersion = 1

// maxCache bounds what is read of such a file.
const maxCache = 64 << 20

// listing is what the cache knows of a server.
type listing struct {
	Version int          `json:"version"`
	Server  string       `json:"server"`
	Hash    string       `json:"config_hash"`
	Listed  time.Time    `json:"listed_at"`
	Tools   []definition `json:"tools"`
	Notes   []string     `json:"notes,omitempty"`
	Failed  time.Time    `json:"failed_at,omitzero"` // when it last let its time to start pass; zero: it started
}

// cacheFile is the file of a server. Its name is made so that any name of a server is one of a file.
func cacheFile(dir, server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(dir, fmt.Sprintf("%.40s-%s.json", plainName(server), hex.EncodeToString(sum[:4])))
}

// load returns what the cache knows of a server that is configured in this way. A file that cannot be used is as good
// as none.
func load(dir, name, hash string) (listing, bool) {
	var l listing
	if dir == "" {
		return l, false
	}
	path := cacheFile(dir, name)
	if info, err := os.Stat(path); err != nil || info.Size() > maxCache || !info.Mode().IsRegular() {
		return l, false
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &l) != nil {
		return l, false
	}
	return l, l.Version == cacheVersion && l.Server == name && l.Hash == hash
}

// save writes what a server has now. A cache that cannot be written costs time and nothing else.
func save(dir string, l listing) error {
	if dir == "" {
		return nil
	}
	l.Version = cacheVersion
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(cacheFile(dir, l.Server), data, 0o600, atomicfile.Tidy())
}
