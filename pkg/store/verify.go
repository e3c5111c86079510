package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Verify reads the whole store and reports what is wrong with it: lines,
// commits, version graph, objects against their hashes, the catalogue, and
// changes that a process has left unfinished. It writes nothing. The error is
// about reading itself. An empty list means that all is well.
func (s *Store) Verify(ctx context.Context) ([]skill.Diagnostic, error) {
	c := &checker{s: s, ctx: ctx, objects: map[string]bool{}}
	if _, _, err := s.format(); err != nil {
		c.add("store-format", skill.Error, s.path("FORMAT"), "restore the line "+formatName, "%v", err)
	}
	err := c.journal()
	if err == nil {
		err = c.records()
	}
	if err == nil {
		err = c.catalogue()
	}
	if err == nil {
		err = c.intents()
	}
	if err != nil {
		return c.found, fmt.Errorf("verify store: %w", err)
	}
	return c.found, nil
}

type checker struct {
	s       *Store
	ctx     context.Context
	found   []skill.Diagnostic
	v       *view           // folded from the journal alone
	objects map[string]bool // whether the object is whole
}

func (c *checker) add(code string, severity skill.Severity, path, hint, format string, args ...any) {
	c.found = append(c.found, skill.Diagnostic{Code: code, Severity: severity, Path: path, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// journal folds all lines and looks at each.
func (c *checker) journal() error {
	c.v = newView(nil)
	segs, err := c.s.j.segments()
	if err != nil {
		return err
	}
	for i, seg := range segs {
		if want := uint64(i) + 1; seg != want && (i == 0 || segs[i-1] != seg-1) {
			c.add("segment-missing", skill.Error, c.s.j.path(seg-1), "restore it from a backup", "a journal segment is missing before %06d", seg)
		}
	}
	l := lineChecker{checker: c}
	err = c.s.j.replay(&c.v.mark.pos, l.line)
	if err == nil {
		err = errors.Join(c.v.err, c.ctx.Err())
	}
	if err == nil {
		err = c.tail(segs)
	}
	return err
}

// lineChecker folds lines and tells what is wrong with each.
type lineChecker struct {
	*checker
	seg  uint64
	num  int
	seq  uint64 // the highest so far
	torn []int  // findings since the last good line that may be unfinished writes
}

func (l *lineChecker) line(at place, data []byte) {
	if at.seg != l.seg {
		l.seg, l.num = at.seg, 0
	}
	l.num++
	path := l.s.j.path(l.seg)
	bad, conflicts, last := l.v.mark.bad, l.v.mark.conflicts, l.seq
	l.v.line(at, data)
	l.seq = l.v.mark.seq
	n := len(l.found)
	switch {
	case l.v.mark.bad > bad:
		l.bad(path, data)
	case l.v.mark.conflicts > conflicts:
		l.add("commit-conflict", skill.Warning, path, "register the folder again", "a commit does not fit what came before and was left out")
	case l.seq == last:
		l.add("seq-order", skill.Warning, path, "", "an event number does not grow")
	}
	if len(l.found) > n {
		l.found[n].Line = l.num
	}
	if l.v.mark.bad == bad {
		l.settle(l.seq > last+1)
	}
}

const lostHint = "what it recorded is lost; restore the journal from a backup, or register the folders again"

// bad tells of a damaged line. One that ends as a line does was written whole,
// so a record is lost. Any other may be what a dead writer left, which nobody
// was told had been kept: the next event's number decides.
func (l *lineChecker) bad(path string, data []byte) {
	if _, whole := lineSum(data); whole || data == nil {
		l.add("bad-line", skill.Error, path, lostHint, "a journal line is damaged: what it recorded is lost")
		return
	}
	l.torn = append(l.torn, len(l.found))
	l.add("bad-line", skill.Warning, path, "nothing else is lost", "a journal line was not finished and is skipped")
}

// settle ends the doubt about lines before a good one: a gap in the event
// numbers means that they had been written whole.
func (l *lineChecker) settle(gap bool) {
	for _, i := range l.torn {
		if gap {
			d := &l.found[i]
			d.Severity, d.Hint, d.Message = skill.Error, lostHint, "a journal line is damaged: what it recorded is lost"
		}
	}
	l.torn = l.torn[:0]
}

func (c *checker) tail(segs []uint64) error {
	if len(segs) == 0 {
		return nil
	}
	last := segs[len(segs)-1]
	size, err := c.s.j.size(last)
	if err == nil && c.v.mark.pos.seg == last && size > c.v.mark.pos.off {
		c.add("torn-line", skill.Warning, c.s.j.path(last), "the next write puts it aside", "the last line was not finished")
	}
	return err
}

// records checks each record against its parents, its folder and its objects.
func (c *checker) records() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var err error
	c.v.scan(keyRecord, func(key string, value []byte) bool {
		if err = c.ctx.Err(); err != nil {
			return false
		}
		c.record(key[1:], decodeRow(value))
		return true
	})
	return errors.Join(err, c.v.err)
}

func (c *checker) record(id string, r row) {
	path := c.s.j.path(r.at.seg)
	rec, err := c.s.loadRow(r)
	if err != nil {
		c.add("bad-record", skill.Error, path, "", "record %q: %v", id, err)
		return
	}
	if head := c.v.folder(r.dir).head; r.active != (head == id) {
		c.add("head", skill.Error, path, "", "record %q: active %v, but the head of %q is %q", id, r.active, r.dir, head)
	}
	if err := c.parents(rec); err != nil {
		c.add("lineage", skill.Warning, path, "", "record %q: %v", id, err)
	}
	c.tree(id, rec.Lineage.Tree)
}

func (c *checker) parents(rec Record) error {
	highest := -1
	for _, id := range rec.Lineage.ParentSkillIDs {
		r, ok := c.v.row(id)
		if !ok {
			return fmt.Errorf("parent %q does not exist", id)
		}
		parent, err := c.s.loadRow(r)
		if err != nil {
			return err
		}
		if rec.Lineage.Origin == OriginFixed && rec.IsActive && r.active {
			return fmt.Errorf("parent %q of the active fix is active too", id)
		}
		highest = max(highest, parent.Lineage.Generation)
	}
	return checkOrigin(rec.Lineage, highest)
}

func (c *checker) tree(id, tree string) {
	if !c.object(id, tree) {
		return
	}
	files, err := c.s.TreeFiles(tree)
	if err != nil {
		c.add("object-damaged", skill.Error, "", "", "record %q: %v", id, err)
	}
	for _, f := range files {
		c.object(id, f.SHA256)
	}
}

// object checks an object once and reports whether it is whole.
func (c *checker) object(id, sum string) bool {
	if ok, seen := c.objects[sum]; seen {
		return ok
	}
	if !validHash(sum) {
		c.add("object-missing", skill.Error, "", "", "record %q: no object name: %.80q", id, sum)
		return false
	}
	have, _, err := hashFile(c.s.objectPath(sum))
	switch {
	case err != nil:
		c.add("object-missing", skill.Error, c.s.objectPath(sum), "restore it from a backup", "record %q needs an object that cannot be read", id)
	case have != sum:
		c.add("object-damaged", skill.Error, c.s.objectPath(sum), "restore it from a backup", "record %q needs an object whose bytes have changed", id)
	}
	c.objects[sum] = err == nil && have == sum
	return c.objects[sum]
}

// catalogue compares the catalogue with the journal up to where it goes.
func (c *checker) catalogue() error {
	path := c.s.cataloguePath()
	hint := "run: openspace-skills index rebuild"
	m, t, err := openCatalogue(path, c.s.j)
	if absent(err) {
		return nil
	}
	if err != nil {
		c.add("catalogue", skill.Warning, path, hint, "the catalogue cannot be used: %v", err)
		return nil
	}
	defer m.close()
	// The catalogue may be newer than what was folded before. Then fold the rest
	// on top of it: both ways must lead to one table.
	if err := c.s.j.replay(&c.v.mark.pos, c.v.line); err != nil {
		return err
	}
	v := newView(t)
	if err := c.s.j.replay(&v.mark.pos, func(at place, line []byte) {
		if at.seg < c.v.mark.pos.seg || at.seg == c.v.mark.pos.seg && at.off < c.v.mark.pos.off {
			v.line(at, line)
		}
	}); err != nil {
		return err
	}
	v.mark = c.v.mark
	if !bytes.Equal(v.bytes(), c.v.bytes()) {
		c.add("catalogue", skill.Error, path, hint, "the catalogue does not say what the journal says")
	}
	return nil
}

// bytes is the view as a table, nil when it cannot be written.
func (v *view) bytes() []byte {
	if v.compact() != nil {
		return nil
	}
	return v.base.data
}

func (c *checker) intents() error {
	entries, err := os.ReadDir(c.s.path("intents"))
	if absent(err) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), atomicfile.TempPrefix) {
			continue
		}
		path := filepath.Join(c.s.path("intents"), e.Name())
		in, err := readIntent(path)
		switch {
		case absent(err):
		case err != nil:
			c.add("intent", skill.Warning, path, "gc removes it after an hour", "a note about a folder change cannot be read")
		default:
			c.add("intent", skill.Info, path, "", "%q is being changed, or pid %d died while changing it", in.Dir, in.PID)
		}
	}
	return err
}
