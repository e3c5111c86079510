package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) index() *cli.Command {
	var verify bool
	return &cli.Command{
		Name: "index", Short: "tell of the search index (status), or build it anew (rebuild)", Args: "status|rebuild",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&verify, "verify", false, "with status: check every byte against its checksum")
		},
		Signals: true,
		Run: func(ctx context.Context, env *cli.Env) error {
			word, err := env.Single("of status and rebuild")
			switch {
			case err != nil:
				return err
			case word == "status":
				return a.indexStatus(ctx, env, verify)
			case word == "rebuild" && !verify:
				return a.indexRebuild(ctx, env)
			case word == "rebuild":
				return wire.Errorf(wire.Usage, "--verify goes with status")
			}
			return wire.Errorf(wire.Usage, "unknown word %q: want status or rebuild", word)
		},
	}
}

// indexStatus tells of the index of each root. One that is damaged is no loss, but whoever asks wants to know by the exit status.
func (a *app) indexStatus(_ context.Context, env *cli.Env, verify bool) error {
	where, bad := a.roots(env)
	if err := emitProblems(env, bad); err != nil {
		return err
	}
	var worst error
	for _, root := range where {
		s := index.Inspect(root, search.IndexDir(env.Settings.Home()), verify)
		if err := env.Out.Emit(indexRecord(root, s)); err != nil {
			return err
		}
		if s.Problem != nil {
			worst = indexError(root, s.Problem)
		}
	}
	return worst
}

func indexRecord(root roots.Root, s index.Status) wire.Result {
	rec := wire.Result{Status: "ok", Action: "index", Path: s.Dir, Count: s.Skills, SizeBytes: s.Bytes}
	switch {
	case s.Problem != nil:
		rec.Status, rec.Message = "damaged", fmt.Sprintf("root: %s, %v", root.Dir, s.Problem)
	case !s.Exists:
		rec.Status, rec.Message = "missing", fmt.Sprintf("root: %s, the next search builds it", root.Dir)
	default:
		rec.Message = fmt.Sprintf("root: %s, skills: %d, no longer counted: %d, segments: %d, generation: %d", root.Dir, s.Skills, s.Deleted, s.Segments, s.Generation)
	}
	return rec
}

func indexError(root roots.Root, err error) error {
	var version *index.VersionError
	if errors.As(err, &version) {
		return wire.Errorf(wire.WrongVersion, "index of %q: %w", root.Dir, err).WithHint("openspace-skills index rebuild")
	}
	return wire.Errorf(wire.Corrupt, "index of %q: %w", root.Dir, err).WithHint("openspace-skills index rebuild, or just search: that builds it anew")
}

// indexRebuild builds the index of each root, and the catalogue of the store if there is one.
func (a *app) indexRebuild(ctx context.Context, env *cli.Env) error {
	where, bad := a.roots(env)
	if err := emitProblems(env, bad); err != nil {
		return err
	}
	for _, root := range where {
		rec, err := rebuildIndex(ctx, root, search.IndexDir(env.Settings.Home()))
		if err != nil {
			return fault.Of(err)
		}
		if err := env.Out.Emit(rec); err != nil {
			return err
		}
	}
	return rebuildCatalogue(ctx, env)
}

// rebuildIndex builds the index of one root below dir. A search does with an index in memory, but whoever asks for
// a new one wants it on disk.
func rebuildIndex(ctx context.Context, root roots.Root, dir string) (wire.Result, error) {
	x, err := index.Rebuild(ctx, root, index.Options{Dir: dir})
	if err != nil {
		return wire.Result{}, err
	}
	defer x.Close()
	if err := x.Unsaved(); err != nil {
		return wire.Result{}, fmt.Errorf("rebuild the index of %q: %w", root.Dir, err)
	}
	message := fmt.Sprintf("root: %s, skills: %d, generation: %d", root.Dir, x.Len(), x.Generation())
	return wire.Result{Status: "success", Action: "index", Path: root.Dir, Message: message, Count: x.Len()}, nil
}

func rebuildCatalogue(ctx context.Context, env *cli.Env) error {
	st, err := openStore(env)
	if err != nil {
		return err
	}
	defer st.Close()
	n, err := st.Stats()
	if err != nil || n.Events == 0 {
		return fault.Of(err)
	}
	if err := st.Rebuild(ctx); err != nil {
		return fault.Of(err)
	}
	return env.Out.Emit(wire.Result{Status: "success", Action: "catalogue", Path: st.Home(), Count: n.Records})
}
