package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (a *app) history() *cli.Command {
	var graph, dot bool
	return &cli.Command{
		Name: "history", Short: "list the versions of a skill, newest first", Args: "ID|NAME|DIR…", Stdin: "ids, names or folders, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&graph, "graph", false, "show what the skill descends from and what came from it, across folders")
			fs.BoolVar(&dot, "dot", false, "write that graph for Graphviz")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			switch {
			case graph && dot:
				return wire.Errorf(wire.Usage, "--graph and --dot exclude each other")
			case graph:
				return a.onTargets(showLineage)(ctx, env)
			case dot:
				return a.onTargets(writeDot(env.Out.Document()))(ctx, env)
			}
			return a.onTargets(history)(ctx, env)
		},
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
	rows, err := l.measured(versions)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(rows) {
		v.ID = in.ID
		if err := l.env.Out.Emit(v); err != nil {
			return err
		}
	}
	return nil
}

// version is a version with how it did.
type version struct {
	wire.Version
	figures
	Before *figures `json:"before,omitempty"` // of its first parent, when both were offered in runs
}

// figures is how a version did in the tasks that it was offered in. The means are of the latest runs whose figures are known.
type figures struct {
	Selections     int     `json:"selections,omitempty"`
	Applied        int     `json:"applied,omitempty"`
	Completions    int     `json:"completions,omitempty"`
	Fallbacks      int     `json:"fallbacks,omitempty"`
	EffectiveRate  float64 `json:"effective_rate,omitempty"` // completions / selections
	Runs           int     `json:"runs,omitempty"`           // that the means are of
	MeanTokens     int64   `json:"mean_tokens,omitempty"`
	MeanIterations float64 `json:"mean_iterations,omitempty"`
	MeanMS         int64   `json:"mean_ms,omitempty"`
}

// mostRuns is how many runs of a version are looked at for the means.
const mostRuns = 50

// measured returns versions, oldest first, with how they did.
func (l *lookup) measured(versions []store.Record) ([]version, error) {
	rows := make([]version, len(versions))
	at := map[string]int{}
	for i, rec := range versions {
		f, err := l.figures(rec.SkillID)
		if err != nil {
			return nil, err
		}
		rows[i] = version{Version: versionRecord(rec), figures: f}
		at[rec.SkillID] = i
		if files, err := l.st.TreeFiles(rec.Lineage.Tree); err == nil {
			rows[i].Files = len(files)
		}
	}
	for i, v := range rows {
		if len(v.ParentSkillIDs) == 0 || v.Selections == 0 {
			continue
		}
		if p, ok := at[v.ParentSkillIDs[0]]; ok && rows[p].Selections > 0 {
			rows[i].Before = &rows[p].figures
		}
	}
	return rows, nil
}

// figures sums up the analyses of a version.
func (l *lookup) figures(id string) (figures, error) {
	n, err := l.st.Counters(id)
	f := figures{Selections: n.Selections, Applied: n.Applied, Completions: n.Completions, Fallbacks: n.Fallbacks, EffectiveRate: rounded(n.EffectiveRate(), 4)}
	if err != nil || n.Selections == 0 {
		return f, err
	}
	analyses, err := l.st.Analyses(id, mostRuns)
	iterations := 0
	for _, a := range analyses {
		if a.Run != nil {
			f.Runs++
			f.MeanTokens += a.Run.Tokens
			f.MeanMS += a.Run.MS
			iterations += a.Run.Iterations
		}
	}
	if f.Runs > 0 {
		f.MeanTokens /= int64(f.Runs)
		f.MeanMS /= int64(f.Runs)
		f.MeanIterations = rounded(float64(iterations)/float64(f.Runs), 1)
	}
	return f, err
}

func rounded(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}

// Typed returns a copy with its type set.
func (v version) Typed() wire.Record {
	v.Version = v.Version.Typed().(wire.Version)
	return v
}

// Columns are those of a version, and how it did.
func (v version) Columns() []string {
	return append(v.Version.Columns(), "OFFERED", "APPLIED", "DONE", "TOKENS", "ITERATIONS")
}

// Cells are empty for what is not known.
func (v version) Cells() []string {
	cells := append(v.Version.Cells(), "", "", "", "", "")
	if v.Selections > 0 {
		copy(cells[len(cells)-5:], []string{strconv.Itoa(v.Selections), strconv.Itoa(v.Applied), strconv.Itoa(v.Completions)})
	}
	if v.Runs > 0 {
		copy(cells[len(cells)-2:], []string{strconv.FormatInt(v.MeanTokens, 10), strconv.FormatFloat(v.MeanIterations, 'f', 1, 64)})
	}
	return cells
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

func showLineage(_ context.Context, l *lookup, in cli.Input, t target) error {
	g, err := l.lineage(t)
	if err != nil {
		return err
	}
	g.ID = in.ID
	return l.env.Out.Emit(g)
}

// writeDot writes each graph once, whichever of its skills are named.
func writeDot(w io.Writer) func(context.Context, *lookup, cli.Input, target) error {
	written := map[string]bool{}
	return func(_ context.Context, l *lookup, _ cli.Input, t target) error {
		g, err := l.lineage(t)
		if err != nil || written[g.Nodes[0].SkillID] {
			return err
		}
		written[g.Nodes[0].SkillID] = true
		_, err = fmt.Fprint(w, g.dot())
		return err
	}
}
