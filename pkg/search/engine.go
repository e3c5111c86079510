package search

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Config says what an engine searches.
type Config struct {
	Home      string       // $OPENSPACE_HOME: the index, the safety cache and the store
	Roots     []roots.Root // earlier ones win over later ones
	NoRefresh bool         // do not compare the index with the disk
	Policy    safety.Policy
	Embedder  embed.Embedder // makes the vectors of skills; nil: search by words alone
	Queries   embed.Embedder // makes those of queries, with the same model; nil: Embedder does
}

// Engine answers requests about a set of roots. It is not safe for concurrent use.
type Engine struct {
	config Config
	set    index.Set
	store  *store.Store
	cache  *safety.Cache

	opened  time.Time     // when the indexes were last compared with the disk
	cost    time.Duration // and how long that took
	resting time.Time     // until when a failing endpoint is left alone
}

// Result is the answer to one request.
type Result struct {
	Hits     []wire.Hit
	Index    index.State
	Skipped  int      // candidates that were left out because they are shadowed, copies or blocked
	Warnings []string // what the user should know about this answer
}

// IndexDir returns the directory of the search indexes below home.
func IndexDir(home string) string { return filepath.Join(home, "index", "search") }

// SafetyDir returns the directory of remembered safety verdicts below home.
func SafetyDir(home string) string { return filepath.Join(home, "index", "safety") }

// Open opens, builds or refreshes the indexes of all roots.
func Open(ctx context.Context, c Config) (*Engine, error) {
	st, err := store.Open(c.Home, store.Options{})
	if err != nil {
		return nil, err
	}
	e := &Engine{config: c, store: st, cache: safety.NewCache(SafetyDir(c.Home))}
	if err := e.openIndexes(ctx, index.Open); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

type openFunc func(context.Context, roots.Root, index.Options) (*index.Index, error)

// openIndexes replaces the indexes; when one cannot be opened, those that were there stay.
func (e *Engine) openIndexes(ctx context.Context, open openFunc) error {
	start := time.Now()
	defer func() { e.opened, e.cost = time.Now(), time.Since(start) }()
	o := index.Options{Dir: IndexDir(e.config.Home), NoRefresh: e.config.NoRefresh, Wait: 10 * time.Second}
	if e.config.Embedder != nil {
		o.Embedder = documents{e.config.Embedder}
	}
	var set index.Set
	for _, r := range e.config.Roots {
		x, err := open(ctx, r, o)
		if err != nil {
			closeAll(set)
			return fmt.Errorf("open the index of %q: %w", r.Dir, err)
		}
		set = append(set, x)
	}
	e.closeIndexes()
	e.set = set
	return nil
}

func closeAll(set index.Set) {
	for _, x := range set {
		x.Close()
	}
}

func (e *Engine) closeIndexes() {
	closeAll(e.set)
	e.set = nil
}

// Close releases the index files.
func (e *Engine) Close() { e.closeIndexes() }

// Len returns the number of skills that are searched, shadowed ones too.
func (e *Engine) Len() int { return e.set.Len() }

// Problems are the folders that are not searched, with the reason.
func (e *Engine) Problems() (out []skill.Diagnostic) {
	for _, x := range e.set {
		out = append(out, x.Problems()...)
	}
	return out
}

// Warnings say how far the index can be trusted, in sentences for the user.
func (e *Engine) Warnings() (out []string) {
	for _, x := range e.set {
		out = append(out, x.Warnings()...)
	}
	return append(out, e.told()...)
}

// State is the worst state of all indexes.
func (e *Engine) State() index.State {
	worst := index.Checked
	for _, x := range e.set {
		switch s := x.State(); {
		case s == index.Stale, s == index.Unchecked && worst == index.Checked:
			worst = s
		}
	}
	return worst
}

// Search answers r. An index that turns out to be damaged is built anew, once.
//
// A program that lives long sees what changes on disk: when the last look is long ago beside what a look costs, the
// indexes are compared with the disk again.
func (e *Engine) Search(ctx context.Context, r Request) (Result, error) {
	var news []string
	if time.Since(e.opened) > max(time.Second, 20*e.cost) {
		if err := e.openIndexes(ctx, index.Open); err != nil {
			return Result{}, err
		}
		news = e.Warnings()
	}
	res, err := e.search(ctx, r)
	res.Warnings = append(news, res.Warnings...)
	if errors.Is(err, index.ErrDamaged) {
		if err := e.openIndexes(ctx, index.Rebuild); err != nil {
			return Result{}, err
		}
		res, err = e.search(ctx, r)
		res.Warnings = append(res.Warnings, "the search index was damaged and has been built again")
	}
	return res, err
}

// aheadLimit is how many candidates are scanned before the first of them is a hit.
const aheadLimit = 32

func (e *Engine) search(ctx context.Context, r Request) (Result, error) {
	res := Result{Index: e.State()}
	q := question{Query: lexical.ParseQuery(r.Query)}
	if strings.TrimSpace(r.Query) == "" {
		return res, nil
	}
	if !r.Exact && !r.Prefix {
		var warning string
		if q.vector, warning = e.vectorOf(ctx, r.Query); warning != "" {
			res.Warnings = append(res.Warnings, warning)
		}
		res.Warnings = append(res.Warnings, e.told()...)
	}
	found, unusable, err := e.candidates(r, q)
	if err != nil {
		return res, err
	}
	f := filter{engine: e, seen: map[content]bool{}, contents: map[string]bool{}, skipped: unusable}
	f.scanAhead(found[:min(len(found), r.Limit, aheadLimit)])
	for _, c := range found {
		if len(res.Hits) == r.Limit || ctx.Err() != nil {
			break
		}
		if c.score <= 0 || c.score < r.MinScore {
			continue
		}
		hit, keep, err := f.hit(c)
		if err != nil {
			return res, err
		}
		if !keep {
			continue
		}
		if r.Explain {
			if hit.Explain, err = e.explain(c, q.Query); err != nil {
				return res, err
			}
		}
		hit.Rank = len(res.Hits) + 1
		res.Hits = append(res.Hits, hit)
	}
	res.Skipped, res.Warnings = f.skipped, append(res.Warnings, f.warnings...)
	return res, ctx.Err()
}
