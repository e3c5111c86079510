package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// racy is how young a file must be for its stamp not to be trusted: file systems count time in steps of some
// milliseconds, so a change in the same step would not show.
const racy = 50 * time.Millisecond

// change is what has to be done to an index.
type change struct {
	add   []roots.Folder
	drop  []Ref       // Index is unused
	tree  *roots.Tree // nil when the directories are as they were
	whole bool        // build from nothing
}

func (c *change) none() bool { return c.tree == nil && len(c.add) == 0 && len(c.drop) == 0 }

// refresh brings the index up to date with the disk.
func (x *Index) refresh(ctx context.Context) error {
	c, err := x.changes(ctx)
	if err != nil || c.none() {
		return err
	}
	if c.whole && len(c.tree.Dirs) == 0 { // no such root: nothing worth a file
		return x.applyInMemory(ctx, c, nil)
	}
	return x.locked(ctx, c, func() error {
		if moved, err := x.catchUp(); err != nil {
			return err
		} else if moved {
			if c, err = x.changes(ctx); err != nil || c.none() {
				return err
			}
		}
		return x.apply(ctx, c)
	})
}

// rebuild builds the index from nothing.
func (x *Index) rebuild(ctx context.Context) error {
	x.Close()
	c, err := x.changes(ctx)
	if err != nil {
		return err
	}
	return x.locked(ctx, c, func() error { return x.apply(ctx, c) })
}

// locked calls f with the lock held. Without the lock the index stays as it is when there is one; without a
// directory to write in, c is applied in memory.
func (x *Index) locked(ctx context.Context, c *change, f func() error) error {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return x.applyInMemory(ctx, c, err)
	}
	lock, err := atomicfile.LockWait(ctx, filepath.Join(x.dir, lockName), x.options.Wait)
	switch {
	case errors.Is(err, atomicfile.ErrLocked) && x.manifest != nil:
		x.state = Stale
		x.warnings = append(x.warnings, fmt.Sprintf("the index of %q is as it was before the last changes: %v", x.root.Dir, err))
		return nil
	case errors.Is(err, atomicfile.ErrLocked):
		return fmt.Errorf("%w: %w", ErrLocked, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return x.applyInMemory(ctx, c, err)
	}
	defer lock.Unlock()
	return f()
}

// catchUp loads the index again when another process has changed it since; the lock must be held.
func (x *Index) catchUp() (moved bool, err error) {
	m, err := readManifest(x.dir)
	if err != nil {
		return false, nil // of no use: apply replaces it
	}
	if m == nil || x.manifest != nil && m.Generation == x.manifest.Generation {
		return false, nil
	}
	x.Close()
	if err := x.load(); err != nil {
		x.Close()
	}
	return true, nil
}

// changes compares the index with the disk.
func (x *Index) changes(ctx context.Context) (*change, error) {
	if x.manifest == nil {
		tree, err := roots.Walk(ctx, x.root)
		if err != nil {
			return nil, err
		}
		return &change{add: tree.Folders, tree: tree, whole: true}, nil
	}
	changed, vanished, err := x.compareFiles(ctx)
	if err != nil {
		return nil, err
	}
	if vanished || x.dirsChanged() {
		return x.compareTree(ctx)
	}
	return changed, nil
}

// dirsChanged reports whether any listed directory has another stamp. An index of no directory is that of a
// root which was not there.
func (x *Index) dirsChanged() bool {
	if len(x.dirs) == 0 {
		return true
	}
	for _, d := range x.dirs {
		// What was not there has no stamp, and still has none.
		if s, _ := roots.StampOf(x.path(d.Rel)); s != d.Stamp {
			return true
		}
	}
	return false
}

func (x *Index) path(rel string) string { return filepath.Join(x.root.Dir, filepath.FromSlash(rel)) }

// compareFiles asks the stamp of every skill file, on all cores. vanished: at least one could not be asked.
func (x *Index) compareFiles(ctx context.Context) (c *change, vanished bool, err error) {
	c = &change{}
	var mu sync.Mutex
	var gone atomic.Bool
	for j, seg := range x.segments {
		err = errors.Join(err, parallel(ctx, seg.n, func(from, to int) error {
			return x.compareRange(j, from, to, func(f roots.Folder, r Ref, missing bool) {
				if missing {
					gone.Store(true)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				c.add, c.drop = append(c.add, f), append(c.drop, r)
			})
		}))
	}
	return c, gone.Load(), err
}

// compareRange calls differs for the living documents of a segment whose files are not as they were.
func (x *Index) compareRange(j, from, to int, differs func(f roots.Folder, r Ref, missing bool)) (err error) {
	defer guard(&err)()
	seg := x.segments[j]
	base := x.root.Dir + string(filepath.Separator)
	for i := from; i < to; i++ {
		if bit(x.deleted[j], i) {
			continue
		}
		row, err := seg.docRow(i)
		if err != nil {
			return err
		}
		rel, file := seg.str(row), seg.str(row[8:])
		stamp, err := roots.StampOf(base + string(rel) + "/" + string(file))
		if err == nil && stamp == stampAt(row[48:]) && row[88]&flagRacy == 0 {
			continue
		}
		f := roots.Folder{Rel: string(rel), Dir: x.path(string(rel)), File: string(file), Stamp: stamp}
		differs(f, Ref{Segment: j, Doc: i}, err != nil)
	}
	return nil
}

// compareTree walks the root anew and compares what it finds with the index.
func (x *Index) compareTree(ctx context.Context) (*change, error) {
	tree, err := roots.Walk(ctx, x.root)
	if err != nil {
		return nil, err
	}
	c := &change{tree: tree}
	known := map[string]Ref{}
	for j, seg := range x.segments {
		for i := range seg.n {
			if bit(x.deleted[j], i) {
				continue
			}
			row, err := seg.docRow(i)
			if err != nil {
				return nil, err
			}
			known[string(seg.str(row))] = Ref{Segment: j, Doc: i}
		}
	}
	for _, f := range tree.Folders {
		r, ok := known[f.Rel]
		if ok {
			row := x.segments[r.Segment].docs[r.Doc*docSize:]
			if stampAt(row[48:]) == f.Stamp && row[88]&flagRacy == 0 && string(x.segments[r.Segment].str(row[8:])) == f.File {
				delete(known, f.Rel)
				continue
			}
		}
		c.add = append(c.add, f)
	}
	for _, r := range known {
		c.drop = append(c.drop, r)
	}
	return c, nil
}

// parallel runs f over 0..n in as many pieces as there are cores.
func parallel(ctx context.Context, n int, f func(from, to int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/256+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = f(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// unusable is a folder whose skill cannot be read or used, and why.
type unusable struct {
	roots.Folder
	problems []skill.Diagnostic
}

// buildSources indexes folders, on all cores; each source holds a run of them in order. Unusable ones are left out.
func (x *Index) buildSources(ctx context.Context, folders []roots.Folder) ([]source, []unusable, error) {
	workers := min(runtime.GOMAXPROCS(0), len(folders)/64+1)
	builders := make([]*builder, workers)
	failed := make([][]unusable, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			b := newBuilder()
			var buffer []byte
			for _, f := range folders[len(folders)*w/workers : len(folders)*(w+1)/workers] {
				if ctx.Err() != nil {
					return
				}
				var d *Document
				var problems []skill.Diagnostic
				d, problems, buffer = readDocument(f, buffer)
				if d != nil {
					b.add(*d)
				} else if len(problems) > 0 {
					failed[w] = append(failed[w], unusable{f, problems})
				}
			}
			b.sort()
			builders[w] = b
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var sources []source
	var all []unusable
	for w, b := range builders {
		sources, all = append(sources, b), append(all, failed[w]...)
	}
	return sources, all, nil
}

// readDocument reads the skill in folder f into buffer, which the document's body lies in and which is
// returned for the next call. A skill that cannot be used gives nil and the reason; a folder that is gone by
// now gives nothing.
func readDocument(f roots.Folder, buffer []byte) (*Document, []skill.Diagnostic, []byte) {
	path := filepath.Join(f.Dir, f.File)
	data, err := readFile(path, buffer, f.Stamp.Size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, data
	case err != nil:
		return nil, []skill.Diagnostic{{Code: "unreadable", Severity: skill.Error, Path: path, Message: err.Error()}}, data
	}
	now := time.Now()
	s, problems := skill.Parse(data, skill.FolderName(f.Dir))
	if s == nil {
		return nil, atPath(problems, path), data
	}
	d := &Document{Body: s.Body}
	d.Doc = Doc{Rel: f.Rel, File: f.File, Name: s.Name, Description: s.Description, Key: lexical.Key(s.Name), Tags: s.Tags, Stamp: f.Stamp}
	sum := sha256.Sum256(data)
	copy(d.Sum[:], sum[:])
	d.Racy = young(f.Stamp, now)
	return d, nil, data
}

// readFile reads a file into buffer's memory. With the right size it takes one read, and none of the calls by
// which os.ReadFile prepares for pipes and devices.
func readFile(path string, buffer []byte, size int64) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return buffer, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := slices.Grow(buffer[:0], int(min(max(size, 0), maxRead))+1)
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return data, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return data, nil
		}
		if data = data[:len(data)+n]; len(data) > maxRead {
			return data, &fs.PathError{Op: "read", Path: path, Err: errors.New("file too large to index")}
		}
		if len(data) < cap(data) && int64(len(data)) == size {
			return data, nil
		}
		data = slices.Grow(data, 512)
	}
}

// maxRead is the size in bytes above which a skill file is not read.
const maxRead = 16 << 20

// young reports whether a file was changed so shortly before now, or after it, that another change might
// leave the same stamp.
func young(s roots.Stamp, now time.Time) bool {
	return now.UnixNano()-max(s.Mtime, s.Ctime) < int64(racy)
}

// atPath returns the errors among problems, with the path filled in.
func atPath(problems []skill.Diagnostic, path string) (out []skill.Diagnostic) {
	for _, p := range problems {
		if p.Severity == "error" {
			p.Path = path
			out = append(out, p)
		}
	}
	return out
}
