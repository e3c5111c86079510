package task

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// importer is the command that fetches skills.
const importer = "openspace-download-skill"

// fetch imports the chosen hits that are only in the registry. It returns what is here afterwards, and what became of each import; nothing of
// it ends a task.
func fetch(ctx context.Context, c Commands, chosen []wire.Hit) (here []wire.Hit, imports []wire.Import) {
	var wanted []wire.Hit
	for _, h := range chosen {
		if h.SkillDir == "" {
			wanted = append(wanted, h)
		}
	}
	if len(wanted) == 0 {
		return chosen, nil
	}
	got, err := runImport(ctx, c, wanted)
	for _, h := range chosen {
		if h.SkillDir != "" {
			here = append(here, h)
			continue
		}
		i, answered := got[h.SkillID]
		switch {
		case !answered && err != nil:
			i = wire.Import{ImportStatus: failedImport, Error: err.Error()}
		case !answered:
			i = wire.Import{ImportStatus: failedImport, Error: importer + " did not answer"}
		}
		i.SkillID, i.Name = h.SkillID, h.Name
		imports = append(imports, i)
		if i.LocalPath != "" {
			h.SkillDir = i.LocalPath
			here = append(here, h)
		}
	}
	return here, imports
}

// failedImport is the status of an import that brought nothing.
const failedImport = "error"

// runImport runs the command for these hits and returns its answers by skill id.
func runImport(ctx context.Context, c Commands, wanted []wire.Hit) (got map[string]wire.Import, err error) {
	path, err := c.Find(importer)
	if err != nil {
		return nil, err
	}
	child, err := pipe.Start(ctx, path, pipe.Options{Args: c.Import, Dir: c.Dir, Environ: c.Environ, Stderr: c.Stderr})
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() {
		defer child.CloseInput()
		for i, h := range wanted {
			h.ID = strconv.Itoa(i)
			if err := child.Send(h.Typed()); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	got = map[string]wire.Import{}
	for rec := range child.Records() {
		if i, err := strconv.Atoi(rec.ID); err == nil && i >= 0 && i < len(wanted) {
			if one, ok := importOf(rec); ok {
				got[wanted[i].SkillID] = one
			}
		}
	}
	err = <-sent
	status, waited := child.Wait()
	if err = errors.Join(waited, err); err == nil && len(got) < len(wanted) {
		err = child.Trouble(status)
	}
	if err != nil {
		err = fmt.Errorf("import skills: %w", err)
	}
	return got, err
}

// importOf reads an answer of the command.
func importOf(rec pipe.Record) (i wire.Import, ok bool) {
	switch rec.Type {
	case wire.TypeImported:
		var got wire.Imported
		if rec.Decode(&got) != nil || got.SkillDir == "" {
			return i, false
		}
		return wire.Import{ImportStatus: got.Status, LocalPath: got.SkillDir}, true
	case wire.TypeError:
		var failed wire.Error
		if rec.Decode(&failed) != nil {
			return i, false
		}
		return wire.Import{ImportStatus: failedImport, Error: failed.Message}, true
	}
	return i, false
}
