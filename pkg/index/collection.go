package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

const (
	sealDocs   = 256     // so many documents that wait are worth a segment
	sealBytes  = 4 << 20 // so many bytes of their texts do not wait any longer
	fileDocs   = 512     // segments from this size on are files
	fullDocs   = 4096    // segments from this size on are not merged any more: merging takes several times their size in memory
	mergeCount = 8       // segments of about one size that become one
	touchMost  = 16      // searches after which the pages of files are given back to the system
)

// Collection is an index of documents that are handed to it one by one, for a program that runs for long and
// keeps the documents elsewhere. Documents are known by labels, small numbers of the caller's choice. A
// document can be found as soon as Add has returned. On disk is what it takes to start quickly and nothing
// else: after a crash the youngest documents are missing, and OpenCollection tells which are there.
//
// It is safe for concurrent use.
type Collection struct {
	dir string

	searches atomic.Uint32
	scratch  sync.Pool // of *scratch

	sealing sync.Mutex // one at a time makes a segment of fresh documents
	merging sync.Mutex // one at a time merges segments

	mu    sync.RWMutex
	parts []*collected
	where []spot // by label
	fresh []labelled
	bytes int // of the texts in fresh
	next  int // number of the next file
}

// collected is one segment of a collection.
type collected struct {
	seg    *segment // nil while it is being made; such a part is not among the parts yet
	labels []uint32 // by document
	dead   []uint64
	live   int
	file   string // "" for one in memory
}

// spot is where a label's document stands: in a segment, or among the fresh ones, or nowhere.
type spot struct {
	part *collected
	doc  uint32 // in part, or its place in fresh plus 1
}

type labelled struct {
	label uint32
	doc   Document
}

// Found is a document that has at least one word of a query.
type Found struct {
	Label uint32
	Score float64 // as of a Match
}

// OpenCollection opens the collection in a directory, which may be missing. label gives each document that is
// found there its label, or says that the document is of no use any more; labels should be dense, memory
// grows with the highest. Damaged files are removed.
func OpenCollection(dir string, label func(d Doc) (uint32, bool)) (*Collection, error) {
	c := &Collection{dir: dir, next: 1}
	files, err := filepath.Glob(filepath.Join(dir, "seg-*.osx"))
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	slices.Sort(files)
	slices.Reverse(files) // of two copies that a crash left the younger counts
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(f), "seg-%d.osx", &n); err == nil {
			c.next = max(c.next, n+1)
		}
		p, err := c.openPart(f, label)
		var version *VersionError
		switch {
		case errors.As(err, &version):
			return nil, errors.Join(err, c.Close())
		case err != nil || p.live == 0:
			if err := c.discard(p, f); err != nil {
				return nil, err
			}
		default:
			c.parts = append(c.parts, p)
		}
	}
	slices.Reverse(c.parts)
	c.release()
	_, err = atomicfile.Sweep(dir, 0)
	return c, err
}

func (c *Collection) discard(p *collected, file string) error {
	if p != nil {
		p.seg.close()
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove index segment: %w", err)
	}
	return nil
}

// openPart opens a segment file and labels its documents.
func (c *Collection) openPart(file string, label func(d Doc) (uint32, bool)) (*collected, error) {
	box, err := openContainer(file)
	if err != nil {
		return nil, err
	}
	seg, err := newSegment(box)
	if err != nil {
		return nil, errors.Join(err, box.close())
	}
	p := &collected{seg: seg, labels: make([]uint32, seg.n), dead: make([]uint64, (seg.n+63)/64), live: seg.n, file: file}
	for i := range seg.n {
		d, err := seg.doc(i)
		if err != nil {
			return nil, errors.Join(err, seg.close())
		}
		l, ok := label(d)
		if !ok || c.Has(l) {
			setBit(p.dead, i)
			p.live--
			continue
		}
		p.labels[i] = l
		c.put(l, spot{p, uint32(i)})
	}
	return p, nil
}

// put notes where a label's document stands. c.mu is held.
func (c *Collection) put(label uint32, s spot) {
	for int(label) >= len(c.where) {
		c.where = append(c.where, make([]spot, max(1024, len(c.where)/4))...)
	}
	c.where[label] = s
}

// Has reports whether there is a document of this label.
func (c *Collection) Has(label uint32) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.has(label)
}

func (c *Collection) has(label uint32) bool {
	return int(label) < len(c.where) && c.where[label] != spot{}
}

// Len returns the number of documents.
func (c *Collection) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := len(c.fresh)
	for _, p := range c.parts {
		n += p.live
	}
	return n
}

// Add takes in a document, in the place of the one that has the label so far. Documents wait until the next
// Search or Tend; when very many do, Add indexes them, and the error is that of it.
func (c *Collection) Add(label uint32, d Document) error {
	c.mu.Lock()
	c.remove(label)
	c.fresh = append(c.fresh, labelled{label, d})
	c.put(label, spot{nil, uint32(len(c.fresh))})
	c.bytes += len(d.Body)
	due := len(c.fresh) >= 2*sealDocs || c.bytes >= sealBytes
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.seal()
}

// Remove forgets the document of a label, if there is one.
func (c *Collection) Remove(label uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(label)
}

func (c *Collection) remove(label uint32) {
	if !c.has(label) {
		return
	}
	s := c.where[label]
	c.where[label] = spot{}
	switch {
	case s.part != nil:
		setBit(s.part.dead, int(s.doc))
		s.part.live--
	case int(s.doc) < len(c.fresh):
		last := len(c.fresh) - 1
		moved := c.fresh[last]
		c.fresh[s.doc-1] = moved
		c.where[moved.label] = s
		c.fresh = c.fresh[:last]
	default:
		c.fresh = c.fresh[:s.doc-1]
	}
}

// Search returns the k best documents for q among those that keep says yes to, best first, equal ones by
// label. What was added before is searched. Damage found on the way is ErrDamaged.
func (c *Collection) Search(q lexical.Query, k int, keep func(label uint32) bool) ([]Found, error) {
	if err := c.seal(); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	w, _ := c.scratch.Get().(*scratch)
	if w == nil {
		w = &scratch{}
	}
	out, err := c.find(w, q, k, keep)
	if err != nil {
		return nil, err
	}
	c.scratch.Put(w)
	if c.searches.Add(1)%touchMost == 0 {
		c.release()
	}
	return out, nil
}

// scratch is the memory of one search: two numbers for each document, zero between searches, and a list of documents.
type scratch struct {
	total, impact []float32
	touched       []uint32
}

// find scores all documents and picks the best. c.mu is held.
func (c *Collection) find(w *scratch, q lexical.Query, k int, keep func(label uint32) bool) (out []Found, err error) {
	defer guard(&err)()
	sc := c.scorer(w)
	sum := 0.0
	for _, g := range q.Groups {
		idf, err := sc.addGroup(g)
		if err != nil {
			return nil, err
		}
		sum += g.Weight * idf
	}
	out = c.top(sc.total, k, keep)
	for i := range out {
		out[i].Score /= sum
	}
	clear(sc.total)
	w.touched = sc.touched
	return out, nil
}

// scorer returns a scorer over the parts that works in w. c.mu is held.
func (c *Collection) scorer(w *scratch) *scorer {
	sc := &scorer{touched: w.touched}
	all := 0
	for _, p := range c.parts {
		scored := part{seg: p.seg, base: all}
		if p.live < p.seg.n {
			scored.dead = p.dead
		}
		sc.parts = append(sc.parts, scored)
		all, sc.live = all+p.seg.n, sc.live+p.live
	}
	if cap(w.total) < all {
		w.total, w.impact = make([]float32, all+all/8), make([]float32, all+all/8)
	}
	sc.total, sc.impact = w.total[:all], w.impact[:all]
	return sc
}

// top returns the k best of what was scored. c.mu is held.
func (c *Collection) top(total []float32, k int, keep func(label uint32) bool) (out []Found) {
	base, floor := 0, float32(0)
	for _, p := range c.parts {
		for i, v := range total[base : base+len(p.labels)] {
			if v <= 0 || v < floor {
				continue
			}
			// Far fewer documents have a high score than pass keep, which may be slow: it is asked last.
			f := Found{p.labels[i], float64(v)}
			if (len(out) < k || better(f, out[0])) && keep(f.Label) {
				if out = push(out, f, k); len(out) == k {
					floor = float32(out[0].Score)
				}
			}
		}
		base += len(p.labels)
	}
	slices.SortFunc(out, func(a, b Found) int {
		if better(a, b) {
			return -1
		}
		return 1
	})
	return out
}

// release gives the pages of mapped files back, so that a program that searches a large collection all day
// does not seem to hold all of it. c.mu is held.
func (c *Collection) release() {
	for _, p := range c.parts {
		if p.seg.c.mapped != nil {
			release(p.seg.c.mapped)
		}
	}
}

func better(a, b Found) bool { return a.Score > b.Score || a.Score == b.Score && a.Label < b.Label }

// push adds f to a heap of at most k whose worst comes first.
func push(heap []Found, f Found, k int) []Found {
	switch {
	case k <= 0:
		return heap
	case len(heap) < k:
		heap = append(heap, f)
		for i := len(heap) - 1; i > 0 && better(heap[(i-1)/2], heap[i]); i = (i - 1) / 2 {
			heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		}
		return heap
	}
	heap[0] = f
	for i := 0; ; {
		worst := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(heap) && better(heap[worst], heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return heap
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}

// Close releases the files. The collection must not be used afterwards.
func (c *Collection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for _, p := range c.parts {
		err = errors.Join(err, p.seg.close())
	}
	c.parts, c.where, c.fresh = nil, nil, nil
	return err
}
