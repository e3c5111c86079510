package main

import (
	"context"
	"flag"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/account"
	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are the flags of the command.
type options struct {
	search.Request
	dirs      *[]string
	source    *string
	policy    string
	noRefresh bool
	imports   int // of each query
	embedding *string

	here, there *search.Engine // of this machine's skills; without any, for a registry's rows alone
	remote      remote
}

func (o *options) flags(fs *flag.FlagSet) {
	o.Request.Flags(fs)
	o.dirs = skilldirs.Flag(fs)
	o.source = cli.Choice(fs, "source", "where to look: `WHERE` is local (this machine), cloud (a registry) or all", local, registry, fromAll)
	account.Flag(fs)
	fs.IntVar(&o.imports, "import", 0, "import the best `N` hits of each query that are only in the registry")
	fs.StringVar(&o.policy, "policy", "", "what is left out as unsafe: `POLICY` is block, warn, allow, strict or a list such as block=critical,high;allow=rule-id")
	o.embedding = cli.Choice(fs, "embedding", "where vectors come from: `WHICH` is auto (an embedding endpoint when one is set up, else builtin), builtin, openai or none",
		autoEmbedding, builtinEmbedding, openaiEmbedding, noEmbedding)
	fs.BoolVar(&o.noRefresh, "no-refresh", false, "take the index as it stands, without comparing it with the skill folders")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-search", Short: "find skills", Args: "WORDS…", Stdin: "queries, one a line", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
	}
}

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if v, ok := env.Settings.Get("limit"); ok && v.Source == settings.Default && (o.Exact || o.Prefix) {
		o.Limit = search.MaxLimit
	}
	if err := o.Validate(); err != nil {
		return wire.Errorf(wire.Usage, "%w", err)
	}
	if o.imports < 0 || o.imports > maxImports {
		return wire.Errorf(wire.Usage, "--import: want a number from 0 to %d, got %d", maxImports, o.imports)
	}
	if o.imports > 0 && *o.source == local {
		return wire.Errorf(wire.Usage, "--import goes with --source cloud or all")
	}
	defer o.close()
	if *o.source != registry {
		if _, err := o.engine(ctx, env, *o.source); err != nil {
			return err
		}
	}
	return o.answer(ctx, env)
}

// maxImports bounds what one query brings along.
const maxImports = 100

// engine returns the engine that answers queries to a source.
func (o *options) engine(ctx context.Context, env *cli.Env, source string) (_ *search.Engine, err error) {
	e := &o.here
	if source == registry {
		e = &o.there
	}
	if *e != nil {
		return *e, nil
	}
	c := search.Config{Home: env.Settings.Home(), NoRefresh: o.noRefresh, Policy: safety.DefaultPolicy()}
	if o.policy != "" {
		if c.Policy, err = safety.ParsePolicy(o.policy); err != nil {
			return nil, wire.Errorf(wire.Usage, "policy %q: %w", o.policy, err)
		}
	}
	if source != registry {
		var problems []skill.Diagnostic
		c.Roots, problems = skilldirs.Roots(env, *o.dirs)
		warnRoots(env, problems)
		if err = o.embedders(env, &c); err != nil {
			return nil, err
		}
	}
	skilldirs.WarnHome(env)
	opened, err := search.Open(ctx, c)
	if err != nil {
		return nil, fault.Of(err)
	}
	*e = opened
	if source != registry {
		warnIndex(env, opened)
	}
	return opened, nil
}

func (o *options) close() {
	for _, e := range []*search.Engine{o.here, o.there} {
		if e != nil {
			e.Close()
		}
	}
}

func warnRoots(env *cli.Env, problems []skill.Diagnostic) {
	for _, p := range problems {
		if p.Code == skilldirs.HostConfig {
			env.Out.WarnOnce(settings.Problem{Path: p.Path, Line: p.Line, Column: p.Column, Message: p.Message}.String())
			continue
		}
		env.WarnOf(wire.NewProblem(p, ""))
	}
}

func warnIndex(env *cli.Env, e *search.Engine) {
	for _, w := range e.Warnings() {
		env.Warn("%s", w)
	}
	if n := unusable(e.Problems()); n > 0 {
		env.Warn("folders that cannot be used and are not searched: %d; openspace-skills list tells why", n)
	}
	env.Out.SetIndex(string(e.State()))
}

// unusable counts the problems that keep a folder out of the search.
func unusable(problems []skill.Diagnostic) (n int) {
	for _, p := range problems {
		if p.Severity != skill.Info {
			n++
		}
	}
	return n
}

// answer answers all queries.
func (o *options) answer(ctx context.Context, env *cli.Env) error {
	if len(env.Args) > 1 {
		env.Args = []string{strings.Join(env.Args, " ")}
	}
	any := false
	for in := range env.Inputs(wire.TypeQuery) {
		f, err := o.query(ctx, env, in)
		if err != nil {
			env.Out.Fail(in.About(fault.Of(err)))
			continue
		}
		if err := f.emit(env, in.ID); err != nil {
			return err
		}
		any = any || len(f.hits) > 0
	}
	if !any {
		return wire.ErrNone
	}
	return nil
}

// found is the answer to one query.
type found struct {
	hits     []wire.Hit
	warnings []string // what makes it less than it could be
	done     bool     // its end is to be marked
}

func (f found) emit(env *cli.Env, id string) error {
	for _, h := range f.hits {
		h.ID = id
		if err := env.Out.Emit(h); err != nil {
			return err
		}
	}
	if !f.done {
		return nil
	}
	return env.Out.Emit(wire.Result{ID: id, Status: "success", Action: "search", Count: len(f.hits), Warnings: f.warnings})
}

// query answers one input.
func (o *options) query(ctx context.Context, env *cli.Env, in cli.Input) (found, error) {
	q := wire.Query{Query: in.Value}
	if in.Data != nil {
		if err := in.Decode(&q); err != nil {
			return found{}, err
		}
	}
	f, err := o.find(ctx, env, q)
	f.done = q.Done
	return f, err
}

// find answers one query.
func (o *options) find(ctx context.Context, env *cli.Env, q wire.Query) (f found, err error) {
	r, source, err := o.request(q)
	if err != nil {
		return f, err
	}
	e, err := o.engine(ctx, env, source)
	if err != nil {
		return f, err
	}
	missing := ""
	if source != local {
		var skipped int
		r.Rows, skipped, err = o.remote.rows(ctx, env, r)
		env.Out.Skip(skipped)
		switch {
		case err != nil && (source == registry || ctx.Err() != nil):
			return f, err
		case err != nil:
			missing = notSearched(err)
			f.warnings = append(f.warnings, missing)
			env.Out.WarnOnce(missing)
		}
	}
	res, err := e.Search(ctx, r)
	if err != nil {
		return f, err
	}
	env.Out.Skip(res.Skipped)
	for _, w := range res.Warnings {
		env.Warn("%s", w)
	}
	f.hits, f.warnings = res.Hits, append(f.warnings, res.Warnings...)
	if o.imports > 0 {
		if err := o.importBest(ctx, env, res.Hits, o.imports); err != nil {
			if ctx.Err() != nil {
				return f, err
			}
			undone := "nothing was imported: " + err.Error()
			f.warnings = append(f.warnings, undone)
			env.Out.WarnOnce(undone)
		}
	}
	if missing != "" {
		for i := range res.Hits {
			res.Hits[i].Warnings = append(res.Hits[i].Warnings, missing)
		}
	}
	return f, nil
}

// request returns the request of a query and its source: the flags, and what a record says otherwise.
func (o *options) request(q wire.Query) (r search.Request, source string, err error) {
	r, source = o.Request, *o.source
	r.Query = q.Query
	if q.Limit != 0 {
		r.Limit = q.Limit
	}
	if q.Source != "" {
		source = q.Source
	}
	if source != local && source != registry && source != fromAll {
		return r, source, wire.Errorf(wire.Usage, "unknown source %q: want local, cloud or all", source)
	}
	if strings.TrimSpace(r.Query) == "" {
		return r, source, wire.Errorf(wire.Usage, "empty query")
	}
	if err := r.Validate(); err != nil {
		return r, source, wire.Errorf(wire.Usage, "%w", err)
	}
	return r, source, nil
}
