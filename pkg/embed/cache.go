package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/vec"
)

// Key is the first 8 bytes of the SHA-256 of the three parts of t: under it a vector of t is kept.
func (t Text) Key() uint64 {
	h := sha256.New()
	for _, s := range [3]string{t.Name, t.Description, t.Body} {
		io.WriteString(h, s)
		h.Write([]byte{0})
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// File returns where vectors of a model are kept below dir: 16 hex digits of the SHA-256 of its name, as
// different models never share a file.
func File(dir, model string) string {
	sum := sha256.Sum256([]byte(model))
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+".osv")
}

// Cache is an [Embedder] that remembers the vectors of another one in a matrix file, so that no text is asked
// for twice. Its vectors have length 1. The file is derived: a damaged one is made anew, and when it cannot
// be read or written the other embedder is asked as if there were no cache.
type Cache struct {
	Embedder
	path string
}

// NewCache returns e with a memory below dir, which is made when there is something to remember.
func NewCache(dir string, e Embedder) *Cache { return &Cache{e, File(dir, e.Model())} }

const lockWait = 5 * time.Second

// Embed implements [Embedder]. Only texts that the cache does not know are asked for.
func (c *Cache) Embed(ctx context.Context, texts []Text) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	keys := make([]uint64, len(texts))
	for i, t := range texts {
		keys[i] = t.Key()
	}
	out := c.recall(keys)
	var unknown []Text
	var places [][]int // of each unknown text
	at := map[uint64]int{}
	for i, t := range texts {
		if out[i] != nil || t == (Text{}) {
			continue
		}
		j, ok := at[keys[i]]
		if !ok {
			j = len(unknown)
			at[keys[i]] = j
			unknown, places = append(unknown, t), append(places, nil)
		}
		places[j] = append(places[j], i)
	}
	if len(unknown) == 0 {
		return out, nil
	}
	made, failed := c.Embedder.Embed(ctx, unknown)
	b, err := store(unknown, made)
	if err = errors.Join(failed, err); b != nil && failed != nil {
		_ = c.remember(context.WithoutCancel(ctx), b) // so that the next call has less to do
	}
	if err != nil || b == nil {
		return out, err
	}
	for j, v := range made {
		for _, i := range places[j] {
			out[i] = v
		}
	}
	// A cache that cannot be written is none; the answer is the same.
	_ = c.remember(ctx, b)
	return out, nil
}

// store puts the vectors into a batch, and the stored form of each back into its place. It returns nil when
// there is no vector.
func store(texts []Text, made [][]float32) (b *vec.Batch, err error) {
	for i, v := range made {
		if v == nil {
			continue
		}
		if b == nil {
			b = vec.NewBatch(len(v))
		}
		if err := b.Add(texts[i].Key(), v); err != nil {
			return nil, err
		}
		made[i] = b.Row(b.Len() - 1)
	}
	return b, nil
}

// recall returns the vectors that are known.
func (c *Cache) recall(keys []uint64) [][]float32 {
	out := make([][]float32, len(keys))
	m, err := vec.Open(c.path, c.Model())
	if err != nil {
		return out
	}
	defer m.Close()
	if d := c.Dim(); d != 0 && d != m.Dim() {
		return out
	}
	for i, row := range m.Find(keys) {
		if row >= 0 {
			out[i], _ = m.Row(int(row)) // a damaged row is asked for again
		}
	}
	return out
}

// remember adds a batch to the file.
func (c *Cache) remember(ctx context.Context, b *vec.Batch) error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(ctx, c.path+".lock", lockWait)
	if err != nil {
		return err
	}
	return errors.Join(c.add(b), lock.Unlock())
}

// add appends b, or begins the file anew when it is missing, damaged or of another width. Many small blocks
// are joined.
func (c *Cache) add(b *vec.Batch) error {
	err := vec.Append(c.path, c.Model(), b)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vec.ErrDamaged) || errors.Is(err, vec.ErrWidth) {
		return atomicfile.WriteWith(c.path, 0o600, func(w io.Writer) error { return vec.Write(w, c.Model(), b) }, atomicfile.Tidy())
	}
	if err != nil {
		return err
	}
	m, err := vec.Open(c.path, c.Model())
	if err != nil || !m.Wasteful() {
		return errors.Join(err, closeMatrix(m))
	}
	return errors.Join(atomicfile.WriteWith(c.path, 0o600, m.Compact, atomicfile.Tidy()), m.Close())
}

func closeMatrix(m *vec.Matrix) error {
	if m == nil {
		return nil
	}
	return m.Close()
}
