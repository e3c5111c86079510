package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

const (
	gcLock = "gc.lock"
	// gcAge is how old a thing must be before gc takes it: a process that is
	// just writing may not have come to naming it.
	gcAge = time.Hour
	// gcBatch is how many objects go under one holding of the journal lock.
	gcBatch = 256
)

// Collected tells what GC removed, or would remove.
type Collected struct {
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
	Temps   int   `json:"temps"`   // unfinished files in the store and in active skill folders
	Folders int   `json:"folders"` // left beside skill folders by processes that died
	Kept    int   `json:"kept"`    // objects that stay
}

// GC removes objects that no record names and what processes that died have
// left, if it is older than one hour. With dryRun it only tells.
func (s *Store) GC(ctx context.Context, dryRun bool) (out Collected, err error) {
	if !exists(s.path()) {
		err = s.sweepFolders(nil, dryRun, &out)
		return out, err
	}
	if dryRun {
		return s.collect(ctx, true)
	}
	if err := s.prepare(ctx); err != nil {
		return out, err
	}
	l, err := s.lock(ctx, gcLock)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if _, err := s.Recover(ctx); err != nil {
		return out, err
	}
	return s.collect(ctx, false)
}

func (s *Store) collect(ctx context.Context, dryRun bool) (Collected, error) {
	var out Collected
	live := &liveSet{s: s, names: map[string]bool{}}
	if err := live.update(); err != nil {
		return out, err
	}
	old, err := s.oldObjects(live, &out)
	if err != nil {
		return out, err
	}
	for len(old) > 0 && !dryRun {
		n := min(len(old), gcBatch)
		if err := s.removeObjects(ctx, live, old[:n], &out); err != nil {
			return out, err
		}
		old = old[n:]
	}
	for _, path := range old {
		out.count(path)
	}
	if err := s.sweepTemps(dryRun, &out); err != nil {
		return out, err
	}
	dirs, err := s.knownDirs()
	if err == nil {
		err = errors.Join(s.sweepSkills(dirs, dryRun, &out), s.sweepFolders(dirs, dryRun, &out))
	}
	return out, err
}

func (c *Collected) count(path string) {
	if info, err := os.Stat(path); err == nil {
		c.Objects++
		c.Bytes += info.Size()
	}
}

// liveSet holds the names of all objects that records need.
type liveSet struct {
	s      *Store
	names  map[string]bool
	loaded bool
	until  position // of the journal
}

// update adds what commits since the last call name. A record that was deleted
// meanwhile keeps its objects until the next gc.
func (l *liveSet) update() error {
	if !l.loaded {
		l.loaded = true
		return l.addAll()
	}
	var trees []string
	err := l.s.j.replay(&l.until, func(_ place, line []byte) {
		var e event
		if line == nil || decode(line, &e) != nil || e.Commit == nil {
			return
		}
		for _, op := range e.Commit.Ops {
			if op.Record != nil {
				trees = append(trees, op.Record.Lineage.Tree)
			}
		}
	})
	if err != nil {
		return err
	}
	return l.add(trees)
}

func (l *liveSet) addAll() error {
	var trees []string
	seen := map[string]bool{}
	err := l.s.read(func(v *view) error {
		l.until = v.mark.pos
		prefix := keyTree
		v.scan(prefix, func(key string, _ []byte) bool {
			tree, id, _ := strings.Cut(key[len(prefix):], nul)
			// The key stays when its record is deleted.
			if _, ok := v.row(id); ok && !seen[tree] {
				seen[tree] = true
				trees = append(trees, tree)
			}
			return true
		})
		return v.err
	})
	if err != nil {
		return err
	}
	return l.add(trees)
}

// add takes in trees and their files. A tree that cannot be read may have any
// file: nothing can be collected then.
func (l *liveSet) add(trees []string) error {
	for _, tree := range trees {
		if l.names[tree] {
			continue
		}
		files, err := l.s.TreeFiles(tree)
		if errors.Is(err, ErrNotFound) {
			continue // doctor tells; its files, if any, cannot be found by anybody
		}
		if err != nil {
			return fmt.Errorf("collect objects: %w", err)
		}
		l.names[tree] = true
		for _, f := range files {
			l.names[f.SHA256] = true
		}
	}
	return nil
}

// oldObjects lists the objects that are old and that nobody needs.
func (s *Store) oldObjects(live *liveSet, out *Collected) ([]string, error) {
	var old []string
	limit := time.Now().Add(-gcAge)
	shards, err := os.ReadDir(s.path("objects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("collect objects: %w", err)
	}
	for _, shard := range shards {
		if !shard.IsDir() {
			continue
		}
		entries, err := os.ReadDir(s.path("objects", shard.Name()))
		if err != nil {
			return nil, fmt.Errorf("collect objects: %w", err)
		}
		for _, e := range entries {
			info, err := e.Info()
			switch {
			case !validHash(e.Name()) || err != nil:
			case live.names[e.Name()] || info.ModTime().After(limit):
				out.Kept++
			default:
				old = append(old, s.path("objects", shard.Name(), e.Name()))
			}
		}
	}
	return old, nil
}

// removeObjects removes objects under the journal lock: no commit can name one
// of them between the check and the removal.
func (s *Store) removeObjects(ctx context.Context, live *liveSet, paths []string, out *Collected) error {
	return s.writing(ctx, func(*view) error {
		if err := live.update(); err != nil {
			return err
		}
		limit := time.Now().Add(-gcAge)
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || live.names[filepath.Base(path)] || info.ModTime().After(limit) {
				continue
			}
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("collect objects: %w", err)
			}
			s.fault("gc:object")
			out.Objects++
			out.Bytes += info.Size()
		}
		return nil
	})
}

// sweepTemps removes unfinished files of the store, and intents that nobody
// can read.
func (s *Store) sweepTemps(dryRun bool, out *Collected) error {
	limit := time.Now().Add(-gcAge)
	return filepath.WalkDir(s.path(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		stale := strings.HasPrefix(d.Name(), atomicfile.TempPrefix)
		if filepath.Dir(path) == s.path("intents") && !stale {
			_, err := readIntent(path)
			stale = errors.Is(err, ErrCorrupt)
		}
		info, err := d.Info()
		if err != nil || !stale || info.ModTime().After(limit) {
			return nil
		}
		out.Temps++
		if dryRun {
			return nil
		}
		return os.Remove(path)
	})
}

// knownDirs lists the folders of all active records.
func (s *Store) knownDirs() (dirs []string, err error) {
	err = s.read(func(v *view) error {
		dirs = nil
		v.scan(keyDir, func(key string, _ []byte) bool {
			dirs = append(dirs, key[1:])
			return true
		})
		return v.err
	})
	return dirs, err
}

// sweepSkills removes unfinished files in known skill folders, but not in one
// that somebody is changing. What cannot be removed stays: the folder may be
// read-only.
func (s *Store) sweepSkills(dirs []string, dryRun bool, out *Collected) error {
	for _, dir := range dirs {
		stale, err := atomicfile.Stale(dir, gcAge)
		if err != nil || len(stale) == 0 {
			continue
		}
		if dryRun {
			out.Temps += len(stale)
			continue
		}
		l, err := atomicfile.TryLock(s.path("locks", dirLock(dir)))
		if errors.Is(err, ErrLocked) {
			continue
		}
		if err != nil {
			return fmt.Errorf("collect unfinished files: %w", err)
		}
		n, _ := atomicfile.Sweep(dir, gcAge)
		out.Temps += n
		if err := l.Unlock(); err != nil {
			return fmt.Errorf("collect unfinished files: %w", err)
		}
	}
	return nil
}

// sweepFolders removes stages beside known skill folders, and where imports go, that no intent names.
func (s *Store) sweepFolders(dirs []string, dryRun bool, out *Collected) error {
	parents, named := map[string]bool{filepath.Join(s.Home(), "skills"): true}, map[string]bool{}
	for _, dir := range dirs {
		parents[filepath.Dir(dir)] = true
	}
	ins, err := s.intents()
	if err != nil {
		return err
	}
	for _, in := range ins {
		named[in.Stage], named[in.Old] = true, true
	}
	limit := time.Now().Add(-gcAge)
	for parent := range parents {
		entries, _ := os.ReadDir(parent) // a root that is gone has no stages
		for _, e := range entries {
			path := filepath.Join(parent, e.Name())
			info, err := e.Info()
			if err != nil || !e.IsDir() || named[path] || info.ModTime().After(limit) || !isStage(e.Name()) {
				continue
			}
			out.Folders++
			if !dryRun {
				err = os.RemoveAll(path)
			}
			if err != nil {
				return fmt.Errorf("collect folders: %w", err)
			}
		}
	}
	return nil
}

// isStage reports whether a folder has a name that newIntent makes.
func isStage(name string) bool {
	tag, ok := strings.CutPrefix(name, stagePrefix)
	if !ok {
		tag, ok = strings.CutPrefix(name, oldPrefix)
	}
	return ok && len(tag) == 12 && strings.Trim(tag, "0123456789abcdef") == ""
}
