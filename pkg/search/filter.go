package search

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// content tells copies of one skill from different skills.
type content struct {
	key string
	sum [8]byte
}

// filter turns candidates into hits and drops what must not be shown.
type filter struct {
	engine   *Engine
	seen     map[content]bool
	contents map[string]bool // fingerprints of rows
	skipped  int
	warnings []string
	reports  map[string]scanned // by folder: what was scanned ahead
}

// scanned is the outcome of the safety scan of a folder.
type scanned struct {
	report safety.Report
	err    error
}

// scanAhead scans the folders of the first candidates on all cores: most of them will be hits, and a folder that was never
// seen costs more than all the rest of its hit.
func (f *filter) scanAhead(first []candidate) {
	var dirs []string
	for _, c := range first {
		if c.Index != nowhere {
			dirs = append(dirs, f.engine.set.Dir(c.Ref, c.doc))
		}
	}
	outcomes := make([]scanned, len(dirs))
	var group sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(dirs))
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(dirs); i += workers {
				outcomes[i].report, outcomes[i].err = f.engine.cache.ScanDir(dirs[i], f.engine.config.Policy)
			}
		})
	}
	group.Wait()
	f.reports = make(map[string]scanned, len(dirs))
	for i, dir := range dirs {
		f.reports[dir] = outcomes[i]
	}
}

// scan returns the report of a folder.
func (f *filter) scan(dir string) (safety.Report, error) {
	if s, ok := f.reports[dir]; ok {
		return s.report, s.err
	}
	return f.engine.cache.ScanDir(dir, f.engine.config.Policy)
}

// hit returns the record of c; keep is false for a skill that is shadowed by one of the same name in an
// earlier root, a copy of one that was shown, or blocked by the safety policy.
func (f *filter) hit(c candidate) (h wire.Hit, keep bool, err error) {
	if c.Index == nowhere {
		h, keep = f.remoteHit(c)
		return h, keep, nil
	}
	shadowed, err := f.engine.shadowed(c)
	same := content{c.doc.Key, c.doc.Sum}
	if err != nil || shadowed || f.seen[same] {
		f.skipped++
		return h, false, err
	}
	dir := f.engine.set.Dir(c.Ref, c.doc)
	report, err := f.scan(dir)
	if err != nil {
		f.skipped++
		f.warnings = append(f.warnings, fmt.Sprintf("left out %q: %v", dir, err))
		return h, false, nil
	}
	if report.Verdict == safety.Block {
		f.skipped++
		f.warnings = append(f.warnings, fmt.Sprintf("left out %q: blocked by the safety policy (%s); see openspace-skills scan",
			dir, strings.Join(report.Flags, ", ")))
		return h, false, nil
	}
	f.seen[same] = true
	h = wire.Hit{SkillDir: dir, Path: filepath.Join(dir, c.doc.File), Name: c.doc.Name, Description: c.doc.Description, Source: SourceLocal,
		Score: round4(c.score), Tags: c.doc.Tags, SafetyFlags: report.Flags}
	if c.vector > 0 {
		cosine := round4(c.vector)
		h.VectorScore = &cosine
	}
	if c.row != nil {
		c.row.complete(&h)
		h.LocalPath = dir
		f.contents[c.row.Fingerprint] = c.row.Fingerprint != ""
	}
	return h, true, f.engine.identify(&h)
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// shadowed reports whether an earlier root has a skill of the same name.
func (e *Engine) shadowed(c candidate) (bool, error) {
	if c.Index == 0 {
		return false, nil
	}
	earlier, err := e.set[:c.Index].Named(c.doc.Key)
	return len(earlier) > 0, err
}

// identify fills in the id of a hit and what earlier uses say about it.
func (e *Engine) identify(h *wire.Hit) error {
	id, err := e.store.Identify(h.SkillDir, h.Name)
	if err != nil {
		return err
	}
	h.SkillID = id.ID
	if !id.Known {
		return nil
	}
	h.Origin = string(id.Record.Lineage.Origin)
	n, err := e.store.Counters(id.ID)
	if err == nil && n.Selections > 0 {
		h.Quality = &wire.Quality{TotalSelections: n.Selections, CompletionRate: rate(n.Completions, n.Applied),
			EffectiveRate: rate(n.Completions, n.Selections)}
	}
	return err
}

// rate returns part/whole to three decimals, 0 for nothing.
func rate(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(1000*float64(part)/float64(whole)) / 1000
}

// withID returns the skills with the given id, looked for among those whose name is the part before the "__".
func (e *Engine) withID(id string) (refs []index.Ref, err error) {
	id = strings.TrimSpace(id)
	name, _, ok := strings.Cut(id, "__")
	if !ok || !skill.ValidID(id) {
		return nil, nil
	}
	return e.identified(lexical.Key(name), id)
}

// identified returns the skills with the given id among those with a name.
func (e *Engine) identified(key, id string) (refs []index.Ref, err error) {
	named, err := e.set.Named(key)
	for _, r := range named {
		doc, err := e.set.Doc(r)
		if err != nil {
			return nil, err
		}
		has, err := e.store.Identify(e.set.Dir(r, doc), doc.Name)
		if err != nil {
			return nil, err
		}
		if has.ID == id {
			refs = append(refs, r)
		}
	}
	return refs, err
}

// Explanation is how a score came about.
type Explanation struct {
	Fit     string       `json:"fit,omitempty"`    // exact or prefix when the name does it
	Lexical float64      `json:"lexical"`          // share of the query's words, 0 to 1
	Server  float64      `json:"server,omitempty"` // the same as a registry sees it; counts where the words say nothing
	Vector  float64      `json:"vector,omitempty"` // cosine of the vectors of query and skill
	Terms   []index.Part `json:"terms,omitempty"`
}

func (e *Engine) explain(c candidate, q lexical.Query) (Explanation, error) {
	res := Explanation{Fit: string(c.fit), Lexical: round4(max(c.lexical, 0)), Server: round4(max(c.server, 0)), Vector: round4(max(c.vector, 0))}
	if c.Index == nowhere {
		return res, nil
	}
	terms, err := e.set.Explain(q, c.Ref)
	for i := range terms {
		terms[i].IDF, terms[i].Weight, terms[i].Score = round4(terms[i].IDF), round4(terms[i].Weight), round4(terms[i].Score)
	}
	res.Terms = terms
	return res, err
}
