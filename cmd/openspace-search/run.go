package main

import (
	"context"
	"flag"
	"strings"

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
}

func (o *options) flags(fs *flag.FlagSet) {
	o.Request.Flags(fs)
	o.dirs = skilldirs.Flag(fs)
	o.source = cli.Choice(fs, "source", "where to look: `WHERE` is local", "local")
	fs.StringVar(&o.policy, "policy", "", "what is left out as unsafe: `POLICY` is block, warn, allow, strict or a list such as block=critical,high;allow=rule-id")
	fs.BoolVar(&o.noRefresh, "no-refresh", false, "take the index as it stands, without comparing it with the skill folders")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-search", Short: "find skills", Args: "WORDS…", Stdin: "queries, one a line", Manual: manual,
		Flags: o.flags, Run: o.run,
	}
}

func (o *options) run(ctx context.Context, env *cli.Env) error {
	if v, ok := env.Settings.Get("limit"); ok && v.Source == settings.Default && (o.Exact || o.Prefix) {
		o.Limit = search.MaxLimit
	}
	if err := o.Validate(); err != nil {
		return wire.Errorf(wire.Usage, "%w", err)
	}
	policy := safety.DefaultPolicy()
	if o.policy != "" {
		p, err := safety.ParsePolicy(o.policy)
		if err != nil {
			return wire.Errorf(wire.Usage, "policy %q: %w", o.policy, err)
		}
		policy = p
	}
	where, problems := skilldirs.Roots(env, *o.dirs)
	for _, p := range problems {
		env.WarnOf(wire.NewProblem(p, ""))
	}
	e, err := search.Open(ctx, search.Config{Home: env.Settings.Home(), Roots: where, NoRefresh: o.noRefresh, Policy: policy})
	if err != nil {
		return fault.Of(err)
	}
	defer e.Close()
	for _, w := range e.Warnings() {
		env.Warn("%s", w)
	}
	if n := unusable(e.Problems()); n > 0 {
		env.Warn("folders that cannot be used and are not searched: %d; openspace-skills list tells why", n)
	}
	env.Out.SetIndex(string(e.State()))
	return o.answer(ctx, env, e)
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

// answer runs all queries.
func (o *options) answer(ctx context.Context, env *cli.Env, e *search.Engine) error {
	if len(env.Args) > 1 {
		env.Args = []string{strings.Join(env.Args, " ")}
	}
	hits := 0
	for in := range env.Inputs(wire.TypeQuery) {
		r, err := o.request(in)
		if err != nil {
			env.Out.Fail(in.About(err))
			continue
		}
		res, err := e.Search(ctx, r)
		if err != nil {
			env.Out.Fail(in.About(fault.Of(err)))
			continue
		}
		env.Out.Skip(res.Skipped)
		for _, w := range res.Warnings {
			env.Warn("%s", w)
		}
		for _, h := range res.Hits {
			h.ID = in.ID
			if err := env.Out.Emit(h); err != nil {
				return err
			}
		}
		hits += len(res.Hits)
	}
	if hits == 0 {
		return wire.ErrNone
	}
	return nil
}

// request returns the request of one input: the flags, and what a record says otherwise.
func (o *options) request(in cli.Input) (search.Request, error) {
	r := o.Request
	r.Query = in.Value
	if in.Data != nil {
		var q wire.Query
		if err := in.Decode(&q); err != nil {
			return r, err
		}
		r.Query = q.Query
		if q.Limit != 0 {
			r.Limit = q.Limit
		}
		if q.Source != "" && q.Source != *o.source {
			return r, wire.Errorf(wire.Usage, "unknown source %q: use local", q.Source)
		}
	}
	if strings.TrimSpace(r.Query) == "" {
		return r, wire.Errorf(wire.Usage, "empty query")
	}
	if err := r.Validate(); err != nil {
		return r, wire.Errorf(wire.Usage, "%w", err)
	}
	return r, nil
}
