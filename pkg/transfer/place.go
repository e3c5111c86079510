package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// placeWait is how long an import waits for those of other processes that are putting folders in place.
const placeWait = time.Minute

// placed is where a candidate went.
type placed struct {
	dir     string
	there   bool // another process put it there first
	outcome store.Placed
}

// add puts a new skill in place.
func (d *Downloader) add(ctx context.Context, c *candidate) (wire.Imported, error) {
	if c.res.DryRun = d.DryRun; d.DryRun {
		dir, err := d.installed.place(c.skill.Name, c.id)
		if err != nil {
			return wire.Imported{}, errors.Join(err, c.close())
		}
		defer d.installed.release(dir)
		c.res.SkillDir, c.res.LocalPath = dir, dir
		return c.res, nil
	}
	if ctx.Err() != nil {
		return wire.Imported{}, errors.Join(canceled(ctx), c.close())
	}
	p := d.placing.ask(c)
	switch {
	case p.outcome.Err != nil:
		return wire.Imported{}, errors.Join(p.outcome.Err, c.close())
	case p.there && d.Force:
		return d.replace(ctx, c, p.dir)
	case p.there:
		d.installed.add(c.id, p.dir)
		res, err := d.there(ctx, c.id, p.dir)
		return res, errors.Join(err, c.close())
	case p.outcome.Record.SkillID == "":
		c.res.Warnings = append(c.res.Warnings, "it has no record in the store, which knows the same id with another folder or content")
	}
	c.res.SkillDir, c.res.LocalPath = p.dir, p.dir
	d.installed.add(c.id, p.dir)
	return c.res, nil
}

// place puts many candidates in place. One process at a time does so below a root: two imports of one skill must not both find its place free.
// What has come this far is finished even when the run is interrupted.
func (d *Downloader) place(cs []*candidate) []placed {
	out := make([]placed, len(cs))
	lock, err := d.lockRoot()
	if err != nil {
		for i := range out {
			out[i].outcome.Err = err
		}
		return out
	}
	var ps []store.Placement
	var which []int
	for i, c := range cs {
		if out[i].dir = d.installed.came(c.skill.Name, c.id); out[i].dir != "" {
			out[i].there = true
			continue
		}
		if out[i].dir, out[i].outcome.Err = d.installed.place(c.skill.Name, c.id); out[i].outcome.Err != nil {
			continue
		}
		defer d.installed.release(out[i].dir)
		ps = append(ps, store.Placement{Stage: c.stage, Dir: out[i].dir, Record: c.storeRecord()})
		which = append(which, i)
	}
	if len(ps) > 0 {
		for n, p := range d.Store.Place(context.Background(), ps) {
			out[which[n]].outcome = p
		}
	}
	_ = lock.Unlock() // it ends with the process at the latest, and what was placed is in place
	return out
}

// lockRoot keeps other processes from putting folders in place below the root.
func (d *Downloader) lockRoot() (*atomicfile.Lock, error) {
	dir := filepath.Join(d.Store.Home(), "store", "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(d.Root))
	return atomicfile.LockWait(context.Background(), filepath.Join(dir, "import-"+hex.EncodeToString(sum[:8])+".lock"), placeWait)
}
