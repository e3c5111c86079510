package main

import (
	"context"
	"slices"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) history() *cli.Command {
	return &cli.Command{
		Name: "history", Short: "list the versions of a skill, newest first", Args: "ID|NAME|DIR…", Stdin: "ids, names or folders, one a line",
		Run: a.onTargets(history),
	}
}

func history(_ context.Context, l *lookup, in cli.Input, t target) error {
	versions, err := l.versions(t)
	if err != nil {
		return err
	}
	status, err := l.st.Status(t.rec.Dir())
	if err != nil {
		return err
	}
	if status == store.Dirty {
		l.env.Warn("%s was edited by hand since its last version; openspace-skills register records that", t.dir)
	}
	for _, rec := range slices.Backward(versions) {
		v := versionRecord(rec)
		v.ID = in.ID
		if files, err := l.st.TreeFiles(rec.Lineage.Tree); err == nil {
			v.Files = len(files)
		}
		if err := l.env.Out.Emit(v); err != nil {
			return err
		}
	}
	return nil
}

// versions returns all versions of a target's folder, oldest first.
func (l *lookup) versions(t target) ([]store.Record, error) {
	if !t.known {
		return nil, unrecorded(t)
	}
	versions, err := l.st.Versions(t.rec.Dir())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(versions, func(r store.Record) bool { return r.SkillID == t.id }) {
		return l.st.Line(t.id) // its folder belongs to another skill by now
	}
	return versions, nil
}

func versionRecord(rec store.Record) wire.Version {
	return wire.Version{
		SkillID: rec.SkillID, SkillDir: rec.Dir(), Name: rec.Name, Origin: rec.Lineage.Origin, Generation: rec.Lineage.Generation,
		ParentSkillIDs: rec.Lineage.ParentSkillIDs, Active: rec.IsActive, ChangeSummary: rec.Lineage.ChangeSummary,
		CreatedBy: rec.Lineage.CreatedBy, CreatedAt: stamp(rec.Lineage.CreatedAt), Digest: rec.Lineage.Tree,
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
