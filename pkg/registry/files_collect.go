package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/journal"
)

// hashes is a set of blobs that are named.
type hashes map[[32]byte]struct{}

func (h hashes) add(d Doc) {
	for _, text := range d.Blobs {
		h[rawHash(text)] = struct{}{}
	}
}

func (h hashes) has(text string) bool { _, ok := h[rawHash(text)]; return ok }

func rawHash(text string) (raw [32]byte) {
	if len(text) == 2*len(raw) {
		hex.Decode(raw[:], []byte(text))
	}
	return raw
}

// Collect removes the blobs that no current state names and that were stored before a time, and what dead
// writers left.
func (s *Files) Collect(ctx context.Context, before time.Time) (Collected, error) {
	var res Collected
	used, seq, err := s.used(ctx)
	if err != nil {
		return res, err
	}
	candidates, _, err := s.candidates(ctx, used, before)
	if err != nil || len(candidates) == 0 {
		return res, err
	}
	err = s.locked(ctx, func() error {
		if err := s.usedSince(seq, used); err != nil {
			return err
		}
		return s.removeBlobs(candidates, used, before, &res)
	})
	return res, err
}

// Unused tells what Collect would remove.
func (s *Files) Unused(ctx context.Context, before time.Time) (Collected, error) {
	used, _, err := s.used(ctx)
	if err != nil {
		return Collected{}, err
	}
	candidates, bytes, err := s.candidates(ctx, used, before)
	return Collected{len(candidates), bytes}, err
}

// candidates lists the old blobs that are not in a set.
func (s *Files) candidates(ctx context.Context, used hashes, before time.Time) (out []string, bytes int64, err error) {
	err = s.eachBlob(func(hash string, info fs.FileInfo) error {
		if !used.has(hash) && info.ModTime().Before(before) {
			out = append(out, hash)
			bytes += info.Size()
		}
		return ctx.Err()
	})
	return out, bytes, err
}

// used returns the blobs of all current states, and the number of the latest of them.
func (s *Files) used(ctx context.Context) (hashes, uint64, error) {
	s.mu.Lock()
	err := s.refresh()
	seq := s.seq
	places := make([]journal.Place, 0, len(s.docs))
	for _, slot := range s.docs {
		places = append(places, slot.at)
	}
	s.mu.Unlock()
	set := hashes{}
	for _, at := range places {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		var d Doc
		if d, err = s.read(at); err == nil {
			set.add(d)
		}
	}
	return set, seq, err
}

// usedSince adds the blobs of the states after a number. s.mu is held.
func (s *Files) usedSince(seq uint64, set hashes) error {
	if s.seq == seq {
		return nil
	}
	if s.recent[0].seq > seq+1 {
		return fmt.Errorf("collect blobs: too much changed meanwhile: %w", ErrConflict)
	}
	for _, c := range s.recent {
		if c.seq <= seq {
			continue
		}
		d, err := s.read(c.at)
		if err != nil {
			return err
		}
		set.add(d)
	}
	return nil
}

// eachBlob calls f for every blob, and sweeps up temporary files of dead writers.
func (s *Files) eachBlob(f func(hash string, info fs.FileInfo) error) error {
	shards, err := os.ReadDir(filepath.Join(s.dir, "blobs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, shard := range shards {
		if err := eachBlobIn(filepath.Join(s.dir, "blobs", shard.Name()), f); err != nil {
			return err
		}
	}
	return nil
}

func eachBlobIn(dir string, f func(hash string, info fs.FileInfo) error) error {
	if _, err := atomicfile.Sweep(dir, time.Hour); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !validHash(e.Name()) {
			continue
		}
		if err := f(e.Name(), info); err != nil {
			return err
		}
	}
	return nil
}

// removeBlobs removes those candidates that are still old and unused. The lock of all writers is held.
func (s *Files) removeBlobs(candidates []string, used hashes, before time.Time, res *Collected) error {
	for _, hash := range candidates {
		info, err := os.Stat(s.blobPath(hash))
		if err != nil || used.has(hash) || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(s.blobPath(hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove blob: %w", err)
		}
		res.Blobs++
		res.Bytes += info.Size()
	}
	return nil
}

// Compact rewrites the segments of the journal of which more than half is overwritten, and returns how many
// bytes that saved. The caller holds the lock of Lock and uses s from nobody else meanwhile.
func (s *Files) Compact(ctx context.Context) (saved int64, err error) {
	err = s.locked(ctx, func() error {
		segs, err := s.j.Segments()
		if err != nil {
			return err
		}
		live := map[journal.Place]bool{}
		size := map[uint32]int64{}
		for _, slot := range s.docs {
			live[slot.at] = true
			size[slot.at.Seg] += int64(slot.at.Len) + 1
		}
		for _, seg := range segs[:max(0, len(segs)-1)] {
			info, err := os.Stat(s.j.Path(seg))
			if err != nil || size[seg] > info.Size()/2 {
				continue
			}
			n, err := s.j.Compact(seg, func(at journal.Place, _ []byte) bool { return live[at] })
			if err != nil {
				return err
			}
			saved += n
		}
		if saved == 0 {
			return nil
		}
		return s.again(journal.ErrShrunk)
	})
	return saved, err
}
