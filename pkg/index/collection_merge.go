package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// seal makes a segment of the fresh documents.
func (c *Collection) seal() error {
	c.sealing.Lock()
	defer c.sealing.Unlock()
	p, fresh := c.takeFresh()
	if p == nil {
		return nil
	}
	b := newBuilder()
	for _, f := range fresh {
		b.add(f.doc)
	}
	b.sort()
	seg, _, err := mergeSegment([]source{b}, func(int, int) bool { return true })
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.seg = seg
	c.parts = append(c.parts, p)
	return nil
}

// takeFresh makes the fresh documents those of a part that has no segment yet. It can already lose documents.
func (c *Collection) takeFresh() (*collected, []labelled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := c.fresh
	if len(fresh) == 0 {
		return nil, nil
	}
	p := &collected{dead: make([]uint64, (len(fresh)+63)/64), live: len(fresh)}
	for i, f := range fresh {
		p.labels = append(p.labels, f.label)
		c.put(f.label, spot{p, uint32(i)})
	}
	c.fresh, c.bytes = nil, 0
	return p, fresh
}

// mergeSegment makes one segment in memory of those documents of the sources that keep says yes to.
func mergeSegment(sources []source, keep func(src, doc int) bool) (*segment, []byte, error) {
	sections, err := merge(sources, keep)
	if err != nil {
		return nil, nil, err
	}
	data := encodeContainer(sections)
	box, err := decodeContainer(data)
	if err != nil {
		return nil, nil, err
	}
	seg, err := newSegment(box)
	return seg, data, err
}

// Tend indexes documents that wait when they are many, merges segments that have become many or mostly dead,
// and writes the large ones to disk. It is for a goroutine of its own; searching and adding go on meanwhile.
func (c *Collection) Tend() error {
	c.mu.RLock()
	due := len(c.fresh) >= sealDocs
	c.mu.RUnlock()
	if due {
		if err := c.seal(); err != nil {
			return err
		}
	}
	c.merging.Lock()
	defer c.merging.Unlock()
	for merged := false; ; merged = true {
		due := c.due()
		if len(due) == 0 {
			if merged {
				c.mu.RLock()
				defer c.mu.RUnlock()
				c.release()
			}
			return nil
		}
		if err := c.merge(due, fileDocs); err != nil {
			return err
		}
	}
}

// due returns segments that should become one.
func (c *Collection) due() []*collected {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var small, middle []*collected
	for _, p := range c.parts {
		switch {
		case p.live < p.seg.n/2:
			return []*collected{p}
		case p.live < fileDocs:
			small = append(small, p)
		case p.live < fullDocs:
			middle = append(middle, p)
		}
	}
	switch {
	case len(small) >= mergeCount:
		return small
	case len(middle) >= mergeCount:
		slices.SortStableFunc(middle, func(a, b *collected) int { return a.live - b.live })
		n, docs := 0, 0
		for ; docs < fullDocs && n < len(middle); n++ {
			docs += middle[n].live
		}
		return middle[:n]
	}
	return nil
}

// merge puts one part in the place of several. It becomes a file when it has at least so many documents.
func (c *Collection) merge(old []*collected, least int) error {
	sources := make([]source, len(old))
	dead := make([][]uint64, len(old))
	c.mu.RLock()
	for i, p := range old {
		sources[i], dead[i] = p.seg, slices.Clone(p.dead)
	}
	c.mu.RUnlock()
	part := &collected{}
	var from []spot // of each document of part
	seg, data, err := mergeSegment(sources, func(src, doc int) bool {
		if bit(dead[src], doc) {
			return false
		}
		part.labels = append(part.labels, old[src].labels[doc])
		from = append(from, spot{old[src], uint32(doc)})
		return true
	})
	if err != nil {
		return err
	}
	part.seg, part.live, part.dead = seg, len(from), make([]uint64, (len(from)+63)/64)
	if len(from) >= least && c.dir != "" {
		if err := c.write(part, data); err != nil {
			return err
		}
	}
	return c.exchange(old, part, from)
}

// write makes a file of a part's segment and maps it.
func (c *Collection) write(p *collected, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("make index: %w", err)
	}
	c.mu.Lock()
	p.file = filepath.Join(c.dir, fmt.Sprintf("seg-%06d.osx", c.next))
	c.next++
	c.mu.Unlock()
	if err := atomicfile.Write(p.file, data, 0o600); err != nil {
		return err
	}
	box, err := openContainer(p.file)
	if err != nil {
		return err
	}
	p.seg, err = newSegment(box)
	return err
}

// exchange makes part take the place of old parts. Documents that died while it was made are dead in it.
func (c *Collection) exchange(old []*collected, part *collected, from []spot) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range from {
		if bit(s.part.dead, int(s.doc)) {
			setBit(part.dead, i)
			part.live--
			continue
		}
		c.where[part.labels[i]] = spot{part, uint32(i)}
	}
	c.parts = slices.DeleteFunc(c.parts, func(p *collected) bool { return slices.Contains(old, p) })
	if len(from) > 0 {
		c.parts = append(c.parts, part)
	}
	var err error
	for _, p := range old {
		err = errors.Join(err, p.drop())
	}
	return err
}

// Flush writes everything that is in memory only.
func (c *Collection) Flush() error {
	if err := c.seal(); err != nil || c.dir == "" {
		return err
	}
	c.merging.Lock()
	defer c.merging.Unlock()
	c.mu.RLock()
	var loose []*collected
	for _, p := range c.parts {
		if p.file == "" {
			loose = append(loose, p)
		}
	}
	c.mu.RUnlock()
	if len(loose) == 0 {
		return nil
	}
	return c.merge(loose, 0)
}

// Reset forgets everything, on disk too. It is the cure for ErrDamaged: afterwards all documents must be added again.
func (c *Collection) Reset() error {
	c.sealing.Lock()
	defer c.sealing.Unlock()
	c.merging.Lock()
	defer c.merging.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for _, p := range c.parts {
		err = errors.Join(err, p.drop())
	}
	c.parts, c.fresh, c.bytes = nil, nil, 0
	clear(c.where)
	return err
}

// drop closes a part and removes its file.
func (p *collected) drop() error {
	err := p.seg.close()
	if p.file != "" {
		err = errors.Join(err, os.Remove(p.file))
	}
	return err
}
