package safety

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// rulesVersion is part of every key of the cache. It grows whenever a rule changes, so that no verdict of older rules is believed; a test compares the rules
// with the fingerprint that belongs to this number.
const rulesVersion = 10

// Cache remembers what was found in folders, by their content: a folder is read each time, but only judged anew when a byte of it or the rules
// changed. One small file a folder; the directory may be deleted at any time. A Cache is safe for concurrent use, by several processes too.
type Cache struct{ dir string }

// NewCache returns a cache that lies in dir, which is made when the first report is remembered.
func NewCache(dir string) *Cache { return &Cache{dir} }

// ScanDir is [ScanDir] with memory. A cache that cannot be read or written costs time, never the answer.
func (c *Cache) ScanDir(dir string, p Policy) (Report, error) {
	f, err := readFolder(dir)
	if err != nil {
		return Report{}, err
	}
	path := c.path(f)
	var r Report
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &r) == nil && r.Files == f.files && r.Bytes == f.bytes {
		r.Verdict, r.Flags = "", nil
		r.finish(p)
		return r, nil
	}
	r = f.report(p)
	c.remember(path, r)
	return r, nil
}

// path returns the name of the file that holds the report of f.
func (c *Cache) path(f *folder) string {
	h := sha256.New()
	var n [8]byte
	part := func(b []byte) {
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	binary.LittleEndian.PutUint64(n[:], rulesVersion)
	h.Write(n[:])
	for _, t := range f.texts {
		part([]byte(t.Path))
		part(t.Data)
	}
	for _, g := range f.findings { // about files that are no text
		part([]byte(g.Rule + "\x00" + g.Path + "\x00" + g.Message))
	}
	sum := hex.EncodeToString(h.Sum(nil))
	return filepath.Join(c.dir, sum[:2], sum[2:]+".json")
}

// remember writes r down. It is derived and may be lost, so errors and the disk's cache do not matter.
func (c *Cache) remember(path string, r Report) {
	data, err := json.Marshal(r)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	atomicfile.Write(path, data, 0o600, atomicfile.NoSync(), atomicfile.Tidy())
}
