package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/roots"
)

const (
	maxSegments = 8       // more than these are merged
	syncFrom    = 1 << 20 // files of this size are synced before the manifest names them
)

// apply changes the index by c; the lock must be held.
func (x *Index) apply(ctx context.Context, c *change) error {
	start := time.Now()
	defer func() { x.took = time.Since(start) }()
	x.before, x.added, x.dropped = 0, c.add, nil
	if x.manifest != nil && !c.whole {
		x.before = x.Generation()
		for _, r := range c.drop {
			x.dropped = append(x.dropped, binary.LittleEndian.Uint64(x.segments[r.Segment].docs[r.Doc*docSize+80:]))
		}
	}
	if c.whole {
		x.uncover()
	}
	next, err := x.prepare(ctx, c)
	if err != nil {
		return err
	}
	if err := next.write(); err != nil {
		return x.adopt(next, err)
	}
	x.Close()
	if err := x.load(); err != nil {
		return fmt.Errorf("open the index just written: %w", err)
	}
	x.sweep()
	return nil
}

// applyInMemory changes the index in memory because the directory cannot be written.
func (x *Index) applyInMemory(ctx context.Context, c *change, cause error) error {
	next, err := x.prepare(ctx, c)
	if err != nil {
		return err
	}
	return x.adopt(next, cause)
}

// pending is a change worked out: new files and the manifest that will name them.
type pending struct {
	dir      string
	manifest manifest
	segments []*segment // of the manifest; nil for the one in fresh
	fresh    []byte     // a new segment, empty for none
	dirs     []byte     // a new directory file, empty for none
}

// prepare works out what the index looks like after c.
func (x *Index) prepare(ctx context.Context, c *change) (*pending, error) {
	p := &pending{dir: x.dir, manifest: manifest{Root: x.root.Dir, Generation: 1, Next: 1}}
	if old := x.manifest; old != nil && !c.whole {
		p.manifest = *old
		p.manifest.Generation++
		p.manifest.Segments = append([]segmentState(nil), old.Segments...)
		p.segments = append(p.segments, x.segments...)
		p.copyDeleted(x.deleted)
	}
	if m, _ := readManifest(x.dir); m != nil { // numbers are never given twice
		p.manifest.Next = max(p.manifest.Next, m.Next)
		p.manifest.Generation = max(p.manifest.Generation, m.Generation+1)
	}
	for _, r := range c.drop {
		p.drop(r)
	}
	sources, failed, err := x.buildSources(ctx, c.add)
	if err != nil {
		return nil, err
	}
	if c.tree != nil {
		noteUnusable(c.tree, failed)
		distrustYoung(c.tree)
		if p.dirs, err = encodeDirs(c.tree); err != nil {
			return nil, err
		}
		p.manifest.Dirs = p.name("dirs")
	} else if len(failed) > 0 {
		return x.prepareAfterWalk(ctx)
	}
	return p, p.mergeIn(sources)
}

// prepareAfterWalk is for a skill that became unusable without its folder changing: the list of problems is
// made by a walk.
func (x *Index) prepareAfterWalk(ctx context.Context) (*pending, error) {
	c, err := x.compareTree(ctx)
	if err != nil {
		return nil, err
	}
	return x.prepare(ctx, c)
}

// noteUnusable adds the folders whose skills are of no use to the problems, and their files to what is
// watched, so that a mended one is taken in.
func noteUnusable(t *roots.Tree, failed []unusable) {
	for _, u := range failed {
		t.Problems = append(t.Problems, u.problems...)
		t.Dirs = append(t.Dirs, roots.Dir{Rel: path.Join(u.Rel, u.File), Stamp: u.Stamp})
	}
}

// distrustYoung forgets the stamps of directories that may change again without showing it.
func distrustYoung(t *roots.Tree) {
	now := time.Now()
	for i := range t.Dirs {
		if d := &t.Dirs[i]; d.Stamp != (roots.Stamp{}) && young(d.Stamp, now) {
			d.Stamp.Mtime = 0
		}
	}
}

func (p *pending) copyDeleted(from [][]uint64) {
	p.manifest.deleted = nil
	for _, bits := range from {
		p.manifest.deleted = append(p.manifest.deleted, append([]uint64(nil), bits...))
	}
}

func (p *pending) drop(r Ref) {
	if bits := p.manifest.deleted[r.Segment]; !bit(bits, r.Doc) {
		setBit(bits, r.Doc)
		p.manifest.Segments[r.Segment].Live--
	}
}

// name returns a file name that was never used.
func (p *pending) name(kind string) string {
	n := p.manifest.Next
	p.manifest.Next++
	return fmt.Sprintf("%s-%06d.osx", kind, n)
}

// mergeIn makes one new segment of the sources and of the old segments that are due.
func (p *pending) mergeIn(sources []source) error {
	due := p.due(len(sources))
	all := make([]source, 0, len(due)+len(sources))
	var bits [][]uint64
	for _, i := range due {
		all = append(all, p.segments[i])
		bits = append(bits, p.manifest.deleted[i])
	}
	all = append(all, sources...)
	docs := 0
	sections, err := merge(all, func(src, doc int) bool {
		if src < len(bits) && bit(bits[src], doc) {
			return false
		}
		docs++
		return true
	})
	if err != nil {
		return err
	}
	p.remove(due)
	if docs == 0 {
		return nil
	}
	p.fresh = encodeContainer(sections)
	p.manifest.Segments = append(p.manifest.Segments, segmentState{p.name("seg"), docs, docs})
	p.manifest.deleted = append(p.manifest.deleted, make([]uint64, (docs+63)/64))
	p.segments = append(p.segments, nil)
	return nil
}

// due returns the old segments that the next one takes in: all when a quarter of the documents is dead, all
// but the largest when there are too many and the largest outweighs the others, and always those that are
// dead whole.
func (p *pending) due(more int) (due []int) {
	docs, live, largest := 0, 0, 0
	for i, s := range p.manifest.Segments {
		docs, live = docs+s.Docs, live+s.Live
		if s.Live > p.manifest.Segments[largest].Live {
			largest = i
		}
	}
	all := docs-live > docs/4
	many := len(p.manifest.Segments)+min(more, 1) > maxSegments
	for i, s := range p.manifest.Segments {
		spare := i == largest && s.Live > (live-s.Live)*2
		if all || s.Live == 0 || many && !spare {
			due = append(due, i)
		}
	}
	return due
}

// remove takes the segments at the ascending positions due out of the manifest.
func (p *pending) remove(due []int) {
	for n, i := range due {
		i -= n
		p.manifest.Segments = append(p.manifest.Segments[:i], p.manifest.Segments[i+1:]...)
		p.manifest.deleted = append(p.manifest.deleted[:i], p.manifest.deleted[i+1:]...)
		p.segments = append(p.segments[:i], p.segments[i+1:]...)
	}
}

// write puts the new files on disk, the manifest last.
func (p *pending) write() error {
	put := func(name string, data []byte) error {
		opts := []atomicfile.Option{atomicfile.NoSync()}
		if len(data) >= syncFrom {
			opts = nil
		}
		return atomicfile.Write(filepath.Join(p.dir, name), data, 0o600, opts...)
	}
	if len(p.dirs) > 0 {
		if err := put(p.manifest.Dirs, p.dirs); err != nil {
			return err
		}
	}
	if len(p.fresh) > 0 {
		if err := put(p.manifest.Segments[len(p.manifest.Segments)-1].File, p.fresh); err != nil {
			return err
		}
	}
	data, err := p.manifest.encode()
	if err != nil {
		return err
	}
	return put(manifestName, data)
}

// adopt takes the pending change over in memory; cause tells why it is not on disk, nil when it need not be.
func (x *Index) adopt(p *pending, cause error) error {
	if len(p.fresh) > 0 {
		c, err := decodeContainer(p.fresh)
		if err != nil {
			return err
		}
		s, err := newSegment(c)
		if err != nil {
			return err
		}
		p.segments[len(p.segments)-1] = s
	}
	if len(p.dirs) > 0 {
		dirs, problems, err := decodeDirs(p.dirs)
		if err != nil {
			return err
		}
		x.dirs, x.problems = dirs, problems
	}
	m := p.manifest
	x.manifest, x.segments, x.deleted = &m, p.segments, m.deleted
	if cause == nil {
		return nil
	}
	x.unsaved = cause
	x.warnings = append(x.warnings, fmt.Sprintf("the index of %q is kept in memory only, so every search builds it again: %v", x.root.Dir, cause))
	return nil
}

// sweep removes the files that the manifest no longer names; the lock must be held.
func (x *Index) sweep() {
	used := map[string]bool{manifestName: true, lockName: true, x.manifest.Dirs: true}
	for _, s := range x.manifest.Segments {
		used[s.File] = true
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return // the next writer tries again
	}
	for _, e := range entries {
		if !used[e.Name()] && strings.HasSuffix(e.Name(), ".osx") {
			os.Remove(filepath.Join(x.dir, e.Name()))
		}
	}
	atomicfile.Sweep(x.dir, time.Hour)
}
